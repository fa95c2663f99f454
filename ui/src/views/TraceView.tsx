// A trace: the graph is the map, the tables are the truth.
import { Alert, Box, Checkbox, Flex, Heading, HStack, SegmentGroup, Spacer, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo } from "react";

import { exportGraph, exportTrace, post, type Node, type Rows, type Trace, type TraceQuery } from "../api/client";
import { asCommand, asPython } from "../copy";
import { draw, type Part } from "../graph";
import { RowsTable, type Load } from "../parts/RowsTable";
import { Failed, Loading, Nothing } from "../parts/States";
import { StepPanel } from "../parts/StepPanel";
import { copyText, save, Take, type Item } from "../parts/Take";
import { TraceGraph, useLayout } from "../parts/TraceGraph";
import { query, usePage, type Direction } from "../state";
import { toSvg } from "../svg";
import { number, share } from "../words";

export function TraceView() {
  const { state, go, on } = usePage();
  const asked = useMemo(() => query(state), [state]);
  const key = useMemo(() => ["trace", JSON.stringify(asked)], [asked]);
  const { data, error, refetch } = useQuery({ queryKey: key, queryFn: ({ signal }) => post<Trace>("/trace", asked, signal) });
  const graph = useMemo(() => (data ? draw(data) : undefined), [data]);
  const layout = useLayout(graph, key);
  const node = data?.nodes.find((n) => state.at === at(n)) ?? first(data);

  const leave = useCallback(() => {
    const last = state.via.at(-1);
    if (state.step) go({ step: null });
    else if (last) go({ ...last, via: state.via.slice(0, -1), at: null });
    else go({ direction: null, at: null });
  }, [go, state.step, state.via]);
  useEffect(() => {
    const escape = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented && !document.querySelector("[role=menu]:not([hidden])")) leave();
    };
    window.addEventListener("keydown", escape);
    return () => { window.removeEventListener("keydown", escape); };
  }, [leave]);

  if (error) return <Failed again={() => void refetch()} error={error} title="The trace failed" />;
  if (!data || !graph || !node) return <Loading label="Tracing" />;
  const start = data.nodes[0];
  if (!start) return <Nothing title="Nothing to trace" />;
  const back = data.direction === "backward";
  const choose = (part: Part) => {
    if (part.kind === "dataset") go({ at: at(part.node), step: null });
    if (part.kind === "step") go({ step: part.step });
  };
  const chosen = state.step ? (graph.boxes.find((b) => b.part.kind === "step" && b.part.step === state.step)?.id ?? "") : `d${node.id}`;
  const items: Item[] = [
    ...(["csv", "json", "jsonl", "arrow"] as const).map((format) => ({
      label: `Rows of ${node.dataset.label} as ${format === "jsonl" ? "JSON lines" : format === "arrow" ? "Arrow stream" : format.toUpperCase()}`,
      act: async () => { save(await exportTrace(asked, node.id, format), `${node.dataset.label}.${format}`); },
    })),
    { label: "Rows and edges as PROV-JSON", act: async () => { save(await exportGraph(asked, "prov_json"), "trace.prov.json"); } },
    { label: "Rows and edges as GraphML", act: async () => { save(await exportGraph(asked, "graphml"), "trace.graphml"); } },
    { label: "Trace as JSON", act: () => { save(new Blob([JSON.stringify(data, null, 1)], { type: "application/json" }), "trace.json"); } },
    { label: "Graph as SVG", act: () => { if (layout.data) save(new Blob([toSvg(graph, layout.data)], { type: "image/svg+xml" }), "trace.svg"); } },
    { label: "Copy as Python", act: () => copyText(asPython(state, start.dataset.name)) },
    { label: "Copy as command", act: () => copyText(asCommand(state, start.dataset.name)) },
  ];
  const onward = (from: Node) => (row: number, direction: Direction) => {
    on({ dataset: from.dataset.id, version: from.version, rows: [row], direction });
  };

  return (
    <Flex direction="column" gap={3} h="full" minH={0}>
      <Flex align="center" gap={4} wrap="wrap">
        <SegmentGroup.Root aria-label="Direction" onValueChange={({ value }) => { go({ direction: value === "forward" ? "forward" : "backward", at: null, step: null }); }} size="xs" value={data.direction}>
          <SegmentGroup.Indicator />
          <SegmentGroup.Items items={[{ value: "backward", label: "← Backward" }, { value: "forward", label: "Forward →" }]} />
        </SegmentGroup.Root>
        <Checkbox.Root checked={state.context} onCheckedChange={({ checked }) => { go({ context: checked === true, at: null, step: null }); }} size="sm">
          <Checkbox.HiddenInput />
          <Checkbox.Control />
          <Checkbox.Label>Also rows that values were computed from</Checkbox.Label>
        </Checkbox.Root>
        <Spacer />
        <Legend />
        <Take items={items} />
      </Flex>
      {data.stops.map((s) => (
        <Alert.Root key={`${s.step} ${s.dataset.id} ${s.what} ${s.why}`} size="sm" status={s.what === "coarse" ? "warning" : "error"}>
          <Alert.Indicator />
          <Alert.Title overflowWrap="anywhere">
            {s.what === "coarse" ? `${s.dataset.label} was captured as a whole, so all its rows stand for all input rows: ` : s.what === "untracked" ? `The path ends: ${s.dataset.label} was written without capture: ` : `The path ends at ${s.dataset.label}: `}
            {s.why}
          </Alert.Title>
        </Alert.Root>
      ))}
      <Box flex="0 1 38%" minH="11rem">
        <TraceGraph chosen={chosen} error={layout.error} graph={graph} onChoose={choose} spots={layout.data} />
      </Box>
      <Flex direction={{ base: "column", lg: "row" }} flex={1} gap={4} minH={0}>
        <Box flex={node.id === 0 || state.step ? 1 : "0 1 42%"} minH={0} minW={0}>
          <NodeRows asked={asked} node={start} onTrace={onward(start)} title="asked about" />
        </Box>
        {state.step ? (
          <Box flex="0 0 24rem" minH={0}>
            <StepPanel onClose={() => { go({ step: null }); }} step={state.step} />
          </Box>
        ) : node.id === 0 ? null : (
          <Box flex={1} minH={0} minW={0}>
            <NodeRows asked={asked} node={node} onTrace={onward(node)} title={`${back ? "made" : "were made of"} ${start.rows === 1 ? "it" : "them"}`} />
          </Box>
        )}
      </Flex>
      {data.nodes.length === 1 && !data.stops.length && !start.hidden ? (
        <Text color="fg.muted" fontSize="sm">
          {back ? "No captured step wrote these rows: they are a source." : "No captured step read these rows: they are a result."}
        </Text>
      ) : null}
    </Flex>
  );
}

function NodeRows({ asked, node, title, onTrace }: { asked: TraceQuery; node: Node; title: string; onTrace: (row: number, direction: Direction) => void }) {
  const load = useCallback<Load>(
    (cursor, limit, columns, signal) => post<Rows>("/trace/rows", { ...asked, node: node.id, cursor, limit, columns }, signal),
    [asked, node.id],
  );
  const name = ["trace", JSON.stringify(asked), node.id];
  const first = useQuery({ queryKey: ["columns", ...name], queryFn: ({ signal }) => load(0, 1, null, signal), enabled: node.rows > 0 });
  return (
    <Flex direction="column" gap={2} h="full" minH={0}>
      <HStack gap={2}>
        <Heading as="h2" size="sm" truncate title={node.dataset.name}>{node.dataset.label}</Heading>
        <Text color="fg.muted" fontSize="sm" truncate>
          {node.rows ? `${share(node.rows, node.total)} rows ${title}` : `no row of ${number(node.total)} ${title}`}
        </Text>
      </HStack>
      {first.error ? <Failed error={first.error} title="The rows can't be read" /> : null}
      {node.rows === 0 ? <Nothing title={`No row of ${node.dataset.label} contributes`}>An empty group, or an outer join without a partner, has none.</Nothing> : null}
      {first.data ? (
        <RowsTable columns={first.data.columns} count={node.rows} key={name.join(" ")} label={`${node.dataset.label}: rows of the trace`} load={load} name={name} onTrace={onTrace} />
      ) : node.rows && !first.error ? (
        <Loading label="Loading rows" lines={4} />
      ) : null}
    </Flex>
  );
}

function Legend() {
  return (
    <HStack color="fg.muted" fontSize="xs" gap={3} hideBelow="md">
      <HStack gap={1}><Box borderColor="blue.solid" borderTopWidth={2} w={5} /> data</HStack>
      <HStack gap={1}><Box borderColor="orange.solid" borderStyle="dashed" borderTopWidth={2} w={5} /> context</HStack>
    </HStack>
  );
}

function at(node: Node): string {
  return `${node.dataset.id}.${node.version.slice(0, 12)}`;
}

// What one most likely wants to see: where the paths end, the data set with most rows of the trace first.
function first(trace: Trace | undefined): Node | undefined {
  const others = trace?.nodes.slice(1) ?? [];
  const ends = others.filter((n) => n.role === "end");
  return [...(ends.length ? ends : others)].sort((a, b) => b.rows - a.rows)[0] ?? trace?.nodes[0];
}
