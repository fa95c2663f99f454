// Questions about rows beside rows: those used together with them, those that share a source row, what they are made of.
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
  { value: "co_contributory", label: "Used together" },
  { value: "co_dependency", label: "Co-dependency (share a source row)" },
  { value: "composition", label: "Composition" },
];

const NONE: Record<Aside, { title: string; text: string }> = {
  co_contributory: {
    title: "Nothing was used together with these rows",
    text: "No captured step joined what came of this data set with another one.",
  },
  co_dependency: {
    title: "No rows share a source row with these",
    text: "They are a source: co-dependent rows share a row that both came from.",
  },
  composition: {
    title: "These rows are a source",
    text: "A composition tells how the source rows of a result divide over one of their columns.",
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
  if (error) return <Failed again={() => void refetch()} error={error} title="The related data sets can't be listed" />;
  if (!data) return <Loading label="Loading the related data sets" />;
  const choices: Choice[] =
    way === "composition" ? data.composition.map((source) => ({ dataset: source, via: [] })) : data[way];
  const choice = choices.find((c) => c.dataset.id === state.to) ?? choices[0];
  const through =
    choice?.via.find((v) => v.id === state.through) ?? (way === "co_dependency" ? choice?.via[0] : undefined);
  return (
    <Flex direction="column" gap={3} h="full" minH={0}>
      <Flex align="center" columnGap={3} rowGap={2} wrap="wrap">
        <SegmentGroup.Root
          aria-label="Question"
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
              <Nothing title="Choose a column">{`The rows of ${choice.dataset.label} that these rows came from are counted by its values.`}</Nothing>
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
        label={way === "composition" ? "of rows of" : "with rows of"}
        name={way === "composition" ? "Source" : "Other data set"}
        onPick={(to) => {
          go({ to, through: null, column: null, at: null });
        }}
        options={datasets}
        value={choice.dataset.id}
      />
      {way === "co_contributory" && between.length > 1 ? (
        <Pick
          label="in derivations of"
          name="Between"
          onPick={(value) => {
            go({ through: value || null, at: null });
          }}
          options={[{ value: "", label: "any data set", title: "" }, ...between]}
          value={through?.id ?? ""}
        />
      ) : null}
      {way === "co_dependency" ? (
        <Pick
          label="that share a row of"
          name="Between"
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
          options={[...(state.column ? [] : [{ value: "", label: "column …", title: "" }]), ...columns]}
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
          <Checkbox.Label>context too</Checkbox.Label>
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
          label: `Rows found as ${text}`,
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
