// Distributions of values in an input and an output of a step: small histograms side by side.
import { Box, Flex, Grid, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";

import { get, type ProfilePair, type Profiles, type Write } from "../api/client";
import { usePage } from "../state";
import { count, number } from "../words";
import { Pick } from "./Pick";
import { Nothing } from "./States";
import { Waiting } from "./Waiting";

type Column = NonNullable<ProfilePair["before"]>;
type Bar = { text: string; count: number };

const BARS = 10;

export function ProfilePanel({ step, writes }: { step: string; writes: Write[] }) {
  const { state, go } = usePage();
  const pairs = writes.flatMap((write) => write.inputs.map((input) => ({ input, output: write.output })));
  const shown = [...new Map(pairs.map((p) => [`${p.input.id}.${p.output.id}`, p])).entries()];
  const [key, pair] = shown.find(([key]) => key === state.column) ?? shown[0] ?? [];
  const name = ["profiles", step, key];
  const answer = useQuery({
    queryKey: name,
    queryFn: ({ signal }) =>
      get<Profiles>(
        `/steps/${encodeURIComponent(step)}/profiles`,
        { source: pair?.input.id, output: pair?.output.id },
        signal,
        name,
      ),
    enabled: Boolean(pair),
    retry: false,
    staleTime: Infinity,
  });
  if (!pair) return <Nothing title="This step has no captured input to compare with" />;
  const { data } = answer;
  return (
    <Flex direction="column" gap={3}>
      {shown.length > 1 ? (
        <Pick
          label="Values of"
          name="Datasets"
          onPick={(column) => {
            go({ column }, true);
          }}
          options={shown.map(([value, p]) => ({
            value,
            label: `${p.input.label} → ${p.output.label}`,
            title: p.input.name,
          }))}
          value={key ?? ""}
        />
      ) : null}
      {!data ? (
        <Waiting failed="Could not count the values" label="Counting values" lines={4} query={answer} queryKey={name} />
      ) : (
        <>
          <Text
            color="fg.muted"
            fontSize="sm"
          >{`${count(data.before_rows)} of ${data.before.label} before, ${count(data.after_rows)} of ${data.after.label} after`}</Text>
          {data.columns.map((one) => (
            <Pair key={one.name} pair={one} />
          ))}
          {data.total > data.columns.length ? (
            <Text
              color="fg.muted"
              fontSize="xs"
            >{`The first ${number(data.columns.length)} of ${number(data.total)} columns are shown.`}</Text>
          ) : null}
        </>
      )}
    </Flex>
  );
}

function Pair({ pair }: { pair: ProfilePair }) {
  const { before, after } = pair;
  const values = [...new Set([...(before?.top ?? []), ...(after?.top ?? [])].map(([text]) => text))].slice(0, BARS);
  return (
    <Box as="section" aria-label={`Values of ${pair.name}`} borderColor="border.muted" borderTopWidth={1} pt={2}>
      <Text fontSize="sm" fontWeight="semibold" overflowWrap="anywhere">
        {pair.name}
      </Text>
      {pair.masked ? (
        <Text color="fg.muted" fontSize="xs">
          masked
        </Text>
      ) : (
        <Grid gap={4} templateColumns="1fr 1fr">
          <Side column={before} none="made by this step" title="before" values={values} />
          <Side column={after} none="dropped by this step" title="after" values={values} />
        </Grid>
      )}
    </Box>
  );
}

function Side({
  column,
  none,
  title,
  values,
}: {
  column: Column | null;
  none: string;
  title: string;
  values: string[];
}) {
  if (!column)
    return (
      <Text color="fg.muted" fontSize="xs">
        {none}
      </Text>
    );
  const bars = bins(column, values);
  const told = [
    `${number(column.nulls)} null`,
    column.distinct === null ? "" : `${number(column.distinct)} distinct`,
    column.mean === null ? "" : `mean ${short(column.mean)}`,
  ]
    .filter(Boolean)
    .join(" · ");
  const most = Math.max(1, ...bars.map((b) => b.count));
  const said = bars.map((b) => `${b.text}: ${number(b.count)}`).join(", ");
  return (
    <Box minW={0}>
      <Text color="fg.muted" fontSize="2xs" truncate title={`${title}: ${told}`}>
        {told}
      </Text>
      <Flex
        align="end"
        aria-label={`${title}: ${said || "no values"}`}
        borderBottomWidth={1}
        borderColor="border"
        gap="1px"
        h={12}
        mt={1}
        role="img"
      >
        {bars.map((b, i) => (
          <Box
            bg={title === "after" ? "blue.solid" : "fg.subtle"}
            flex={1}
            h={`${Math.max(b.count ? 3 : 0, (100 * b.count) / most)}%`}
            key={i}
            maxW={6}
            title={`${b.text}: ${number(b.count)}`}
          />
        ))}
      </Flex>
      <Flex color="fg.muted" fontSize="2xs" gap={2} justify="space-between">
        <Text truncate>{bars[0]?.text}</Text>
        {bars.length > 1 ? <Text truncate>{bars.at(-1)?.text}</Text> : null}
      </Flex>
    </Box>
  );
}

// Numeric columns have a histogram; for others, both sides show the same values.
function bins(column: Column, values: string[]): Bar[] {
  if (column.histogram.length)
    return column.histogram.map((b) => ({ text: `${short(b.low)} to ${short(b.high)}`, count: b.count }));
  const known = new Map(column.top);
  return values.map((text) => ({ text: text.slice(0, 200), count: known.get(text) ?? 0 }));
}

function short(n: number): string {
  return Math.abs(n) >= 1e7 || (n !== 0 && Math.abs(n) < 1e-3) ? n.toExponential(2) : number(Math.round(n * 100) / 100);
}
