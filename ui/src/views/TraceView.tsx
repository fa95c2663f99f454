// A trace: its graph, and the rows of its datasets.
import { Alert, Box, Button, Checkbox, Flex, HStack, SegmentGroup, Spacer, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";

import { post, type Node, type Stop, type Trace } from "../api/client";
import { draw, path, summary, type Part } from "../graph";
import { Endings } from "../parts/Endings";
import { Example } from "../parts/Example";
import { NodeRows } from "../parts/NodeRows";
import { BrokenSteps, Nothing } from "../parts/States";
import { StepPanel } from "../parts/StepPanel";
import { Take } from "../parts/Take";
import { engine, TraceGraph, useLayout } from "../parts/TraceGraph";
import { useEscape } from "../parts/useEscape";
import { useLook } from "../parts/useLook";
import { Waiting } from "../parts/Waiting";
import { place, query, usePage, type Way } from "../state";
import { traceItems } from "../take";
import { count, task, when } from "../words";

export function TraceView() {
  const { state, go, on, leave } = usePage();
  const asked = useMemo(() => query(state), [state]);
  const key = useMemo(() => ["trace", JSON.stringify(asked)], [asked]);
  const answer = useQuery({ queryKey: key, queryFn: ({ signal }) => post<Trace>("/trace", asked, signal, key) });
  useEffect(() => void engine().catch(() => undefined), []);
  const { data } = answer;
  const graph = useMemo(() => (data ? draw(data) : undefined), [data]);
  const layout = useLayout(graph, key);
  const [hovered, hover] = useState<string | null>(null);
  const node = data?.nodes.find((n) => state.at === at(n, data)) ?? first(data);
  const looking = useLook(asked, data, graph, node);
  useEscape(leave);
  const opened = useRef<string | null>(null);
  useEffect(() => {
    // When a step's panel that had the focus closes, move the focus to the step's box.
    if (!state.step && opened.current && document.activeElement === document.body) {
      document.querySelector<HTMLElement>(`.react-flow__node[data-id^="s${CSS.escape(opened.current)}:"]`)?.focus();
    }
    opened.current = state.step;
  }, [state.step]);

  const start = data?.nodes[0];
  if (!data || !graph || !node || !start)
    return <Waiting failed="The trace failed" label="Tracing" query={answer} queryKey={key} />;
  const back = data.direction === "backward";
  const nothing = data.nodes.length === 1 && !data.stops.length && !start.hidden;
  const endings = data.endings.length ? <Endings onOperation={on} trace={data} /> : null;
  const choose = (part: Part) => {
    if (part.kind === "dataset") go({ at: at(part.node, data), step: null });
    if (part.kind === "step") go({ step: part.step, tab: null });
  };
  const chosen = state.step
    ? graph.boxes.find((b) => b.part.kind === "step" && b.part.step === state.step)?.id
    : `d${node.id}`;
  const lit = hovered ? path(graph, hovered) : looking.boxes;
  const says = summary(data, graph.boxes.find((b) => b.id === (hovered ?? chosen))?.part);
  const shown = back ? state.example : null;
  const row = shown ?? data.example ?? null;
  const narrows = start.rows > 1 || (node.one.length > 0 && node.one.length < node.rows);
  const table = (which: Node) => ({
    asked,
    node: which,
    faded: lit !== null && !lit.has(`d${which.id}`),
    lit: looking.rows(which),
    onColumn:
      which.id > 0 && back
        ? (column: string) => {
            on({ ...place(state), way: "composition", to: which.dataset.id, column });
          }
        : undefined,
    onLook: (row: number | null) => {
      looking.look(row === null ? null : { node: which.id, row });
    },
    onTrace: (row: number, way: Way) => {
      on({ dataset: which.dataset.id, version: which.version, rows: [row], way });
    },
  });

  return (
    <Flex direction="column" gap={3} h="full" minH={0}>
      <Flex align="center" columnGap={4} rowGap={2} wrap="wrap">
        <SegmentGroup.Root
          aria-label="Direction"
          onValueChange={({ value }) => {
            go({ way: value === "forward" ? "forward" : "backward", at: null, step: null, example: null });
          }}
          size="xs"
          value={data.direction}
        >
          <SegmentGroup.Indicator />
          <SegmentGroup.Items
            items={[
              { value: "backward", label: "← Backward" },
              { value: "forward", label: "Forward →" },
            ]}
          />
        </SegmentGroup.Root>
        <Checkbox.Root
          checked={state.context}
          onCheckedChange={({ checked }) => {
            go({ context: checked === true, at: null, step: null });
          }}
          size="sm"
        >
          <Checkbox.HiddenInput />
          <Checkbox.Control />
          <Checkbox.Label title="Rows that a value was computed from, such as other rows of a window">
            Include context rows
          </Checkbox.Label>
        </Checkbox.Root>
        {back ? null : (
          <Checkbox.Root
            checked={state.gone}
            onCheckedChange={({ checked }) => {
              go({ gone: checked === true, at: null, step: null });
            }}
            size="sm"
          >
            <Checkbox.HiddenInput />
            <Checkbox.Control />
            <Checkbox.Label>Include rows no longer in the current version</Checkbox.Label>
          </Checkbox.Root>
        )}
        <Spacer />
        <Legend />
        <Take items={traceItems({ state, asked, trace: data, node, graph, spots: layout.data })} />
      </Flex>
      <Stops trace={data} />
      <Gone trace={data} />
      <BrokenSteps broken={data.broken} />
      {nothing ? null : endings}
      <Box flex="0 1 38%" minH="11rem">
        <TraceGraph
          chosen={chosen ?? ""}
          error={layout.error}
          graph={graph}
          lit={lit}
          onChoose={choose}
          onHover={hover}
          says={says}
          spots={layout.data}
        />
      </Box>
      <Flex direction={{ base: "column", lg: "row" }} flex={1} gap={4} minH={0}>
        <Box flex={node.id === 0 || state.step ? 1 : "0 1 42%"} minH={0} minW={0}>
          <NodeRows {...table(start)} title="selected" />
        </Box>
        {state.step ? (
          <Box flex={{ base: "1", lg: "0 0 32rem" }} minH={0} minW={0}>
            <StepPanel
              onHappened={
                start.rows > 20
                  ? undefined
                  : () => {
                      on({ ...place(state), way: "happened", at: "all" });
                    }
              }
              onClose={() => {
                go({ step: null, tab: null });
              }}
              step={state.step}
            />
          </Box>
        ) : node.id === 0 ? null : (
          <Box flex={1} minH={0} minW={0}>
            <NodeRows
              {...table(node)}
              choice={
                row !== null && (shown !== null || (node.rows > 1 && narrows)) ? (
                  <Example
                    asked={asked}
                    on={shown !== null}
                    onChange={(row) => {
                      go({ example: row }, true);
                    }}
                    row={row}
                    rows={start.rows}
                  />
                ) : null
              }
              example={shown}
              title={`${back ? "contributed to" : "derived from"} ${start.rows === 1 ? "it" : "them"}`}
            />
          </Box>
        )}
      </Flex>
      {nothing ? (
        <Nothing
          title={
            back
              ? "No captured step wrote these rows, so they are source rows"
              : "No captured rows derive from these rows"
          }
        >
          {back ? "Trace forward to see the rows derived from them." : (endings ?? "No captured step read them.")}
          {back || start.rows > 20 ? null : (
            <Button
              mt={2}
              onClick={() => {
                on({ ...place(state), way: "happened" });
              }}
              size="xs"
              variant="outline"
            >
              What happened to {start.rows === 1 ? "it" : "them"}
            </Button>
          )}
        </Nothing>
      ) : null}
    </Flex>
  );
}

function Stops({ trace }: { trace: Trace }) {
  return trace.stops.map((s) => (
    <Alert.Root
      flexShrink={0}
      key={`${s.step} ${s.dataset.id} ${s.what} ${s.why}`}
      size="sm"
      status={ENDS.has(s.what) ? "error" : "warning"}
    >
      <Alert.Indicator />
      <Alert.Title overflowWrap="anywhere">
        {saying(s)}
        {s.why}
      </Alert.Title>
    </Alert.Root>
  ));
}

const MOST_GONE = 3;

// Rows derived from the selected rows that are no longer in the current version of their dataset.
function Gone({ trace }: { trace: Trace }) {
  const more = trace.gone.slice(MOST_GONE).reduce((sum, g) => sum + g.rows, 0);
  const by = (step: string | null) => trace.steps.find((s) => s.step === step);
  const said = trace.gone.slice(0, MOST_GONE).map((g) => {
    const step = by(g.step);
    const [are, their] = g.rows === 1 ? ["is", "its"] : ["are", "their"];
    const why = step
      ? `${their} files were missing after ${task(step)} (${when(step.ended)})`
      : `no captured step is known to have removed ${their} files`;
    return `${count(g.rows)} of ${g.dataset.label} ${are} no longer in the current version: ${why}.`;
  });
  if (!said.length) return null;
  return (
    <Text color="fg.muted" flexShrink={0} fontSize="sm">
      {[
        ...said,
        more
          ? `${count(more, "more row")} ${more === 1 ? "is" : "are"} no longer in the current version of ${more === 1 ? "its" : "their"} dataset.`
          : "",
      ].join(" ")}
    </Text>
  );
}

const ENDS = new Set<Stop["what"]>(["untracked", "unlinked", "returned", "task", "outside"]);

function saying(s: Stop): string {
  const { label } = s.dataset;
  if (s.what === "coarse")
    return `${label} was captured as a whole, so each of its rows counts as made from all rows read: `;
  if (s.what === "untracked") return `The path ends: ${label} was written without capture: `;
  if (s.what === "driver-reads-off")
    return `The step that wrote ${label} ran without capture of what its driver read: `;
  if (s.what === "before-format-3")
    return `The step that wrote ${label} was stored before driver reads were recorded: `;
  if (s.what === "task") return `A task next to the step of ${label} ran without capture: `;
  if (s.what === "declared") return `${label} was not captured, and is linked as declared: `;
  if (s.what === "files") return "A dataset doesn't match its captured versions: ";
  if (s.what === "outside") return `A source of ${label} was written without capture: `;
  return `The path ends at ${label}: `;
}

function Legend() {
  return (
    <HStack color="fg.muted" fontSize="xs" gap={3} hideBelow="md">
      <HStack gap={1}>
        <Box borderColor="blue.solid" borderTopWidth={2} w={5} /> data
      </HStack>
      <HStack gap={1}>
        <Box borderColor="orange.solid" borderStyle="dashed" borderTopWidth={2} w={5} /> context
      </HStack>
      <HStack gap={1}>
        <Box borderColor="gray.solid" borderStyle="dotted" borderTopWidth={2} w={5} /> possible
      </HStack>
      <Text>numbers: rows on the path</Text>
    </HStack>
  );
}

// The name of a node in the URL. Several nodes of one version have numbers.
function at(node: Node, { nodes }: Trace): string {
  const alike = nodes.filter((n) => n.dataset.id === node.dataset.id && n.version === node.version);
  const which = alike.indexOf(node);
  return `${node.dataset.id}.${node.version.slice(0, 12)}${which > 0 ? `.${which}` : ""}`;
}

// The node that is shown first: the end of a path with the most rows.
function first(trace: Trace | undefined): Node | undefined {
  const others = trace?.nodes.slice(1) ?? [];
  const ends = others.filter((n) => n.role === "end");
  return [...(ends.length ? ends : others)].sort((a, b) => b.rows - a.rows)[0] ?? trace?.nodes[0];
}
