// The source rows of the selected rows, counted by the values of a column: one bar per value, most frequent first.
import { Box, Flex, Grid, Heading, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Fragment, useMemo } from "react";

import { post, type Composition, type Dataset } from "../api/client";
import { selection, usePage, type Place } from "../state";
import { cell, count, number } from "../words";
import { Nothing } from "./States";
import { save, type Item } from "./Take";
import { Waiting } from "./Waiting";

const MOST = 50;
const ALL = 1000;

function ask(
  place: Place,
  source: Dataset,
  column: string,
  limit: number,
  signal?: AbortSignal,
  key?: readonly unknown[],
) {
  return post<Composition>("/composition", { ...selection(place), source: source.id, column, limit }, signal, key);
}

export function Bars({ source, column }: { source: Dataset; column: string }) {
  const { state } = usePage();
  const key = useMemo(
    () => ["composition", JSON.stringify(selection(state)), source.id, column],
    [column, source.id, state],
  );
  const answer = useQuery({ queryKey: key, queryFn: ({ signal }) => ask(state, source, column, MOST, signal, key) });
  const { data } = answer;
  if (!data) return <Waiting failed="Could not count the rows" label="Counting" query={answer} queryKey={key} />;
  if (!data.total_witnesses)
    return <Nothing title={`No row of ${source.label} contributes`}>There is nothing to count.</Nothing>;
  const most = data.values[0]?.witnesses ?? 1;
  const rest = data.total_witnesses - data.values.reduce((sum, v) => sum + v.witnesses, 0);
  return (
    <Flex direction="column" gap={2} h="full" minH={0}>
      <Flex align="center" columnGap={2} minH={6} wrap="wrap">
        <Heading as="h2" maxW="20rem" size="sm" truncate>
          {column}
        </Heading>
        <Text
          color="fg.muted"
          flex={1}
          fontSize="sm"
        >{`${count(data.total_witnesses)} of ${source.label}, ${count(data.total_values, "value")}`}</Text>
      </Flex>
      <Box
        borderColor="border"
        borderRadius="md"
        borderWidth={1}
        flex={1}
        minH="7rem"
        overflow="auto"
        p={3}
        tabIndex={0}
        role="group"
        aria-label={`Rows of ${source.label} by ${column}`}
        _focusVisible={{ outline: "2px solid", outlineColor: "blue.focusRing" }}
      >
        <Grid
          alignItems="center"
          as="dl"
          columnGap={3}
          fontSize="sm"
          m={0}
          rowGap={1.5}
          templateColumns="minmax(4rem, 14rem) 1fr"
        >
          {data.values.map(({ value, witnesses }) => (
            <Bar
              key={cell(value)}
              label={cell(value)}
              none={value === null}
              share={witnesses / most}
              text={`${number(witnesses)} · ${percent(witnesses, data.total_witnesses)}`}
            />
          ))}
          {rest > 0 ? (
            <Bar
              label={`${number(data.total_values - data.values.length)} more values`}
              none
              share={0}
              text={`${number(rest)} · ${percent(rest, data.total_witnesses)}`}
            />
          ) : null}
        </Grid>
      </Box>
    </Flex>
  );
}

function Bar({ label, none, share, text }: { label: string; none: boolean; share: number; text: string }) {
  return (
    <Fragment>
      <Text
        as="dt"
        color={none ? "fg.muted" : "fg"}
        fontStyle={none ? "italic" : undefined}
        textAlign="end"
        title={label.slice(0, 2000)}
        truncate
      >
        {label.slice(0, 500)}
      </Text>
      <Flex align="center" as="dd" gap={2} m={0} minW={0}>
        <Box bg="blue.solid" borderRadius="sm" flexShrink={1} h={4} w={`${(share * 78).toFixed(2)}%`} minW="2px" />
        <Text color="fg.muted" flexShrink={0} fontSize="xs" fontVariantNumeric="tabular-nums">
          {text}
        </Text>
      </Flex>
    </Fragment>
  );
}

function percent(part: number, whole: number): string {
  const share = (100 * part) / whole;
  return share < 1 ? "< 1 %" : `${Math.round(share)} %`;
}

export function barItems(place: Place, source: Dataset, column: string): Item[] {
  const quote = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const fetched = () => ask(place, source, column, ALL);
  return [
    {
      label: "Composition as CSV",
      act: async () => {
        const { values } = await fetched();
        const lines = values.map((v) => `${v.value === null ? "" : quote(cell(v.value))},${v.witnesses}`);
        save(new Blob([[`${quote(column)},rows`, ...lines, ""].join("\n")], { type: "text/csv" }), "composition.csv");
      },
    },
    {
      label: "Composition as JSON",
      act: async () => {
        save(new Blob([JSON.stringify(await fetched(), null, 1)], { type: "application/json" }), "composition.json");
      },
    },
  ];
}
