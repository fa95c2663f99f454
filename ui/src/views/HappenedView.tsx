// Replay of a few rows: what each operation of the steps that wrote or read them did to them.
import { Alert, Box, Checkbox, Flex, Spacer, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { get, post, type DatasetDetail, type Replay, type Step } from "../api/client";
import { Passages } from "../parts/Passages";
import { Pick } from "../parts/Pick";
import { Failed, Loading, Nothing } from "../parts/States";
import { copyItems, save, Take } from "../parts/Take";
import { useEscape } from "../parts/useEscape";
import { Waiting } from "../parts/Waiting";
import { selection, usePage } from "../state";
import { task, when } from "../words";

const EVERY = "all";

export function HappenedView() {
  const { state, go, leave } = usePage();
  useEscape(leave);
  const detail = useQuery({
    queryKey: ["dataset", state.dataset, state.version],
    queryFn: ({ signal }) => get<DatasetDetail>(`/datasets/${state.dataset}`, { version: state.version }, signal),
  });
  if (detail.error)
    return <Failed again={() => void detail.refetch()} error={detail.error} title="Could not load the dataset" />;
  if (!detail.data) return <Loading label="Loading the dataset" />;
  const steps = choices(detail.data);
  const chosen = state.at === EVERY ? undefined : (steps.find((s) => s.step.step === state.at) ?? steps[0]);
  const options = [
    ...steps.map(({ step, made }) => ({
      value: step.step,
      label: `${made ? "written by" : "read by"} ${task(step)}`,
      title: when(step.ended),
    })),
    { value: EVERY, label: "all steps before and after", title: "" },
  ];
  return (
    <Flex direction="column" gap={3} h="full" minH={0}>
      <Flex align="center" columnGap={4} rowGap={2} wrap="wrap">
        <Pick
          label="Step"
          name="Step"
          onPick={(at) => {
            go({ at });
          }}
          options={options}
          value={chosen?.step.step ?? EVERY}
        />
        <Checkbox.Root
          checked={state.all}
          onCheckedChange={({ checked }) => {
            go({ all: checked === true }, true);
          }}
          size="sm"
        >
          <Checkbox.HiddenInput />
          <Checkbox.Control />
          <Checkbox.Label>Include unchanged columns</Checkbox.Label>
        </Checkbox.Root>
        <Spacer />
        <Legend />
        {steps.length ? <TakeReplay name={detail.data.name} step={chosen?.step.step ?? null} /> : null}
      </Flex>
      {steps.length ? (
        <Replayed label={detail.data.label} step={chosen?.step.step ?? null} />
      ) : (
        <Nothing title="No step that you may see wrote or read these rows">There is nothing to replay.</Nothing>
      )}
    </Flex>
  );
}

function useReplay(step: string | null) {
  const { state } = usePage();
  const asked = useMemo(() => ({ ...selection(state), step, direction: "both" }), [state, step]);
  const key = useMemo(() => ["replay", JSON.stringify(asked)], [asked]);
  const answer = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => post<Replay>("/replay", asked, signal, key),
    staleTime: Infinity,
    retry: false,
  });
  return { key, answer };
}

function Replayed({ label, step }: { label: string; step: string | null }) {
  const { state } = usePage();
  const { key, answer } = useReplay(step);
  const { data } = answer;
  if (!data)
    return (
      <Waiting
        failed="The replay failed"
        label="Replaying the stored operations for these rows"
        query={answer}
        queryKey={key}
      />
    );
  if (!data.passages.length)
    return (
      <Nothing title={`No captured step wrote or read these rows of ${label}`}>There is nothing to replay.</Nothing>
    );
  return (
    <Box
      aria-label="What happened"
      flex={1}
      minH={0}
      overflow="auto"
      role="group"
      tabIndex={0}
      _focusVisible={{ outline: "2px solid", outlineColor: "blue.focusRing" }}
    >
      {data.passages.some((p) => p.verified === false) ? (
        <Alert.Root mb={3} size="sm" status="warning">
          <Alert.Indicator />
          <Alert.Title>
            The replayed rows differ from the stored rows, so the stored operations do not include everything that the
            step did.
          </Alert.Title>
        </Alert.Root>
      ) : null}
      <Passages every={state.all} passages={data.passages} />
    </Box>
  );
}

function TakeReplay({ name, step }: { name: string; step: string | null }) {
  const { state } = usePage();
  const { data } = useReplay(step).answer;
  const items = copyItems({ ...state, step }, { dataset: name });
  const file = {
    label: "Replay as JSON",
    act: () => {
      save(new Blob([JSON.stringify(data, null, 1)], { type: "application/json" }), "happened.json");
    },
  };
  return <Take items={data ? [file, ...items] : items} />;
}

function Legend() {
  return (
    <Flex fontSize="xs" gap={3} hideBelow="md">
      <Text>
        <Box as="span" bg="orange.subtle" borderRadius="sm" px={1}>
          changed
        </Box>
      </Text>
      <Text>
        <Box as="span" bg="green.subtle" borderRadius="sm" px={1}>
          new
        </Box>
      </Text>
      <Text>
        <Box as="span" bg="red.subtle" borderRadius="sm" px={1}>
          dropped
        </Box>
      </Text>
    </Flex>
  );
}

// The step that wrote the version, then those that read it, with each try and run on its own.
function choices(detail: DatasetDetail): { step: Step; made: boolean }[] {
  const maker = detail.versions.find((v) => v.version === detail.version && v.written)?.step;
  const readers = detail.read_by.filter((s) => s.step !== maker?.step);
  return [...(maker ? [{ step: maker, made: true }] : []), ...readers.map((step) => ({ step, made: false }))];
}
