// Queries for rows used together with the selected rows, rows that share a source row with them, and their composition.
import { Box, Checkbox, Flex, SegmentGroup, Spacer } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";

import {
  exportBeside,
  get,
  type BesideQuery,
  type Choice,
  type Dataset,
  type DatasetDetail,
  type Related,
} from "../api/client";
import { AskedRows } from "../parts/AskedRows";
import { Bars, barItems } from "../parts/Bars";
import { FoundRows, useFound } from "../parts/FoundRows";
import { Pick } from "../parts/Pick";
import { Failed, Loading, Nothing } from "../parts/States";
import { copyItems, save, Take } from "../parts/Take";
import { useEscape } from "../parts/useEscape";
import { usePage, type Aside, type State } from "../state";
import { FORMATS } from "../take";

const TITLES: { value: Aside; label: string }[] = [
  { value: "co_contributory", label: "Used together (co-contributory)" },
  { value: "co_dependency", label: "Share a source row (co-dependency)" },
  { value: "composition", label: "Composition" },
];

const NONE: Record<Aside, { title: string; text: string }> = {
  co_contributory: {
    title: "No rows were used together with these rows",
    text: "No captured step combined rows derived from this dataset with rows of another dataset.",
  },
  co_dependency: {
    title: "No rows share a source row with these rows",
    text: "This dataset is a source. Rows are co-dependent if they were made from the same source row.",
  },
  composition: {
    title: "These rows have no captured source rows",
    text: "Composition counts the source rows of a result by the values of one of their columns.",
  },
};

export function AsideView({ way }: { way: Aside }) {
  const { state, go, leave } = usePage();
  const { dataset, version } = state;
  useEscape(leave);
  const { data, error, refetch } = useQuery({
    queryKey: ["related", dataset, version],
    queryFn: ({ signal }) => get<Related>(`/datasets/${dataset}/related`, { version }, signal),
  });
  if (error) return <Failed again={() => void refetch()} error={error} title="Could not load the related datasets" />;
  if (!data) return <Loading label="Loading related datasets" />;
  const choices: Choice[] =
    way === "composition" ? data.composition.map((source) => ({ dataset: source, via: [] })) : data[way];
  const choice = choices.find((c) => c.dataset.id === state.to) ?? choices[0];
  const through =
    choice?.via.find((v) => v.id === state.through) ?? (way === "co_dependency" ? choice?.via[0] : undefined);
  return (
    <Flex direction="column" gap={3} h="full" minH={0}>
      <Flex align="center" columnGap={3} rowGap={2} wrap="wrap">
        <SegmentGroup.Root
          aria-label="Query"
          onValueChange={({ value }) => {
            go({
              way: TITLES.find((t) => t.value === value)?.value ?? way,
              to: null,
              through: null,
              column: null,
              at: null,
            });
          }}
          size="xs"
          value={way}
        >
          <SegmentGroup.Indicator />
          <SegmentGroup.Items items={TITLES} />
        </SegmentGroup.Root>
        {choice ? <Controls choice={choice} choices={choices} through={through} way={way} /> : null}
        <Spacer />
        {choice ? <TakeAside choice={choice} state={state} through={through} way={way} /> : null}
      </Flex>
      {choice ? (
        <Flex direction={{ base: "column", lg: "row" }} flex={1} gap={4} minH={0}>
          <Box flex="0 1 42%" minH={0} minW={0}>
            <AskedRows />
          </Box>
          <Box flex={1} minH={0} minW={0}>
            {way !== "composition" ? (
              <FoundRows through={through} to={choice.dataset} way={way} />
            ) : state.column ? (
              <Bars column={state.column} source={choice.dataset} />
            ) : (
              <Nothing title="Select a column">{`Counts the source rows in ${choice.dataset.label} by the values of that column.`}</Nothing>
            )}
          </Box>
        </Flex>
      ) : (
        <Nothing title={NONE[way].title}>{NONE[way].text}</Nothing>
      )}
    </Flex>
  );
}

type ControlsProps = { way: Aside; choices: Choice[]; choice: Choice; through: Dataset | undefined };

function Controls({ way, choices, choice, through }: ControlsProps) {
  const { state, go } = usePage();
  const source = useQuery({
    queryKey: ["dataset", choice.dataset.id, null],
    queryFn: ({ signal }) => get<DatasetDetail>(`/datasets/${choice.dataset.id}`, {}, signal),
    enabled: way === "composition",
  });
  const datasets = choices.map((c) => ({ value: c.dataset.id, label: c.dataset.label, title: c.dataset.name }));
  const between = choice.via.map((v) => ({ value: v.id, label: v.label, title: v.name }));
  const columns =
    source.data?.columns.filter((c) => !c.masked).map((c) => ({ value: c.name, label: c.name, title: c.type })) ?? [];
  return (
    <>
      <Pick
        label={way === "composition" ? "of source rows in" : "rows of"}
        name={way === "composition" ? "Source" : "Other dataset"}
        onPick={(to) => {
          go({ to, through: null, column: null, at: null });
        }}
        options={datasets}
        value={choice.dataset.id}
      />
      {way === "co_contributory" && between.length > 1 ? (
        <Pick
          label="in derivations of"
          name="Derived dataset"
          onPick={(value) => {
            go({ through: value || null, at: null });
          }}
          options={[{ value: "", label: "any dataset", title: "" }, ...between]}
          value={through?.id ?? ""}
        />
      ) : null}
      {way === "co_dependency" ? (
        <Pick
          label="that share a row of"
          name="Shared source"
          onPick={(value) => {
            go({ through: value, at: null });
          }}
          options={between}
          value={through?.id ?? ""}
        />
      ) : null}
      {way === "composition" ? (
        <Pick
          label="by"
          name="Column"
          onPick={(column) => {
            go({ column: column || null });
          }}
          options={[...(state.column ? [] : [{ value: "", label: "Select a column", title: "" }]), ...columns]}
          value={state.column ?? ""}
        />
      ) : (
        <Checkbox.Root
          checked={state.context}
          onCheckedChange={({ checked }) => {
            go({ context: checked === true });
          }}
          size="sm"
        >
          <Checkbox.HiddenInput />
          <Checkbox.Control />
          <Checkbox.Label title="Rows that a value was computed from, such as other rows of a window">
            Include context rows
          </Checkbox.Label>
        </Checkbox.Root>
      )}
    </>
  );
}

function TakeAside({
  way,
  state,
  choice,
  through,
}: {
  way: Aside;
  state: State;
  choice: Choice;
  through: Dataset | undefined;
}) {
  const { data } = useQuery({
    queryKey: ["dataset", state.dataset, state.version],
    queryFn: ({ signal }) => get<DatasetDetail>(`/datasets/${state.dataset}`, { version: state.version }, signal),
  });
  const names = { dataset: data?.name ?? "", to: choice.dataset.name, through: through?.name };
  const bars = way === "composition" && state.column ? barItems(state, choice.dataset, state.column) : [];
  const beside = way === "co_dependency" ? way : "co_contributory";
  const { asked, found } = useFound({ way: beside, to: choice.dataset, through }, way !== "composition");
  const files =
    found && way !== "composition"
      ? FORMATS.map(({ format, text }) => ({
          label: `Result rows as ${text}`,
          act: async () => {
            save(
              await exportBeside(beside, asked as BesideQuery, found.version, format),
              `${choice.dataset.label}.${format}`,
            );
          },
        }))
      : [];
  return <Take items={[...files, ...bars, ...copyItems(state, names)]} />;
}
