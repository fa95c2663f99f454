// The graph of a trace: datasets and steps from left to right. Hovering highlights a path, a click selects a box.
import { Box, HStack, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import {
  Background,
  BackgroundVariant,
  Controls,
  Handle,
  MiniMap,
  Panel,
  Position,
  ReactFlow,
  type Edge,
  type Node,
  type NodeProps,
} from "@xyflow/react";
import styles from "@xyflow/react/dist/style.css?inline";
import { memo, useState, type CSSProperties, type KeyboardEvent } from "react";

import { pageUrl } from "../api/client";
import { across, counted, type Drawn, type Graph, type Joined, type Part } from "../graph";
import type { Box as Size, Line, Spot } from "../layout";
import { visible } from "../marks";
import { number, share, task } from "../words";
import { Failed, Loading } from "./States";
import { useDark } from "./useDark";

type Layout = (boxes: Size[], lines: Line[], across: number) => Promise<Record<string, Spot>>;
type Shown = Node<{ part: Part; faded: boolean; chosen: boolean }>;

// Loads the layout engine once, in parallel with the first trace.
export async function engine(): Promise<Layout> {
  await import(/* @vite-ignore */ pageUrl("provspark/static/layout.js"));
  return (globalThis as unknown as { ProvSparkLayout: Layout }).ProvSparkLayout;
}

export function useLayout(graph: Graph | undefined, key: readonly unknown[]) {
  return useQuery({
    queryKey: ["layout", ...key],
    queryFn: async () =>
      graph
        ? (await engine())(
            graph.boxes.map(({ id, width, height }) => ({ id, width, height })),
            graph.lines.map(({ id, source, target }) => ({ id, source, target })),
            across(graph),
          )
        : {},
    enabled: Boolean(graph),
    staleTime: Infinity,
  });
}

type Props = {
  graph: Graph;
  spots: Record<string, Spot> | undefined;
  error: Error | null;
  chosen: string;
  // Boxes and lines to highlight; the others fade.
  lit: Set<string> | null;
  says: string;
  onChoose: (part: Part) => void;
  onHover: (box: string | null) => void;
};

export function TraceGraph({ graph, spots, error, chosen, lit, says, onChoose, onHover }: Props) {
  const dark = useDark();
  // Tab reaches one box only; the arrow keys move to the others.
  const [reached, reach] = useState<string | null>(null);
  const stop = graph.boxes.some((b) => b.id === reached)
    ? reached
    : graph.boxes.some((b) => b.id === chosen)
      ? chosen
      : graph.boxes[0]?.id;
  if (error) return <Failed error={error} title="Could not draw the graph" />;
  if (!spots) return <Loading label="Drawing the graph" lines={4} />;
  const nodes: Shown[] = graph.boxes.map((b) => ({
    id: b.id,
    type: b.part.kind,
    position: spots[b.id] ?? { x: 0, y: 0 },
    width: b.width,
    height: b.height,
    ariaLabel: visible(name(b.part)),
    domAttributes: {
      tabIndex: b.id === stop ? 0 : -1,
      "aria-current": b.id === chosen ? ("true" as const) : undefined,
    },
    data: { part: b.part, faded: lit !== null && !lit.has(b.id), chosen: b.id === chosen },
  }));
  const edges: Edge[] = graph.lines.map((l) => {
    const faded = lit !== null && !lit.has(l.id);
    const color =
      l.way === "data"
        ? "var(--chakra-colors-blue-solid)"
        : l.way === "context"
          ? "var(--chakra-colors-orange-solid)"
          : "var(--chakra-colors-fg-muted)";
    return {
      id: l.id,
      source: l.source,
      target: l.target,
      focusable: false,
      label: caption(l),
      style: {
        stroke: color,
        strokeWidth: l.way === "data" ? 2 : 1.5,
        strokeDasharray: l.way === "data" ? undefined : l.way === "possible" ? "2 4" : "5 4",
        opacity: faded ? 0.15 : 1,
        transition: "opacity 120ms",
      },
      labelStyle: {
        fill: "var(--chakra-colors-fg)",
        fontSize: 10,
        fontVariantNumeric: "tabular-nums",
        opacity: faded ? 0.15 : 1,
      },
      labelBgPadding: [3, 2] as [number, number],
      labelBgStyle: { fill: "var(--chakra-colors-bg)" },
    };
  });
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const id = boxOf(event.target);
    const box = graph.boxes.find((b) => b.id === id);
    if (!box) return;
    if (event.key === "Enter" || event.key === " ") onChoose(box.part);
    else {
      const next = neighbour(graph, spots, box, event.key);
      if (next === undefined) return;
      event.currentTarget.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(next.id)}"]`)?.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const look = (id: string | null) => {
    if (id !== null) reach(id);
    onHover(id);
  };
  return (
    <Box
      aria-label="Graph of the trace: move with the arrow keys, open a box with Enter"
      borderColor="border"
      borderRadius="md"
      borderWidth={1}
      h="full"
      onBlur={(event) => {
        if (!boxOf(event.relatedTarget)) onHover(null);
      }}
      onFocus={(event) => {
        if (event.target.matches(":focus-visible")) look(boxOf(event.target));
      }}
      onKeyDownCapture={move}
      overflow="hidden"
      role="group"
      css={{
        "& .react-flow__node:focus-visible": { outline: "none" },
        "& .react-flow__node:focus-visible > div": {
          outline: "3px solid",
          outlineColor: "var(--chakra-colors-blue-focus-ring)",
          outlineOffset: "2px",
        },
      }}
    >
      <style>{styles}</style>
      <ReactFlow
        // Without it, React Flow's class would switch Chakra's colours inside to light.
        colorMode={dark ? "dark" : "light"}
        edges={edges}
        fitView
        fitViewOptions={{ padding: AROUND, maxZoom: 1.1, nodes: near(graph, spots) }}
        key={graph.boxes.map((b) => b.id).join()}
        maxZoom={2}
        minZoom={0.05}
        nodeTypes={KINDS}
        nodes={nodes}
        nodesConnectable={false}
        nodesDraggable={false}
        onNodeClick={(_, node) => {
          onChoose(node.data.part);
        }}
        onNodeMouseEnter={(_, node) => {
          onHover(node.id);
        }}
        onNodeMouseLeave={() => {
          onHover(null);
        }}
        proOptions={{ hideAttribution: true }}
        style={COLOURS}
      >
        <Background
          bgColor="var(--chakra-colors-bg)"
          color="var(--chakra-colors-border)"
          gap={18}
          size={1}
          variant={BackgroundVariant.Dots}
        />
        <Controls showInteractive={false} />
        <Panel position="top-left">
          <Text
            aria-live="polite"
            bg="bg"
            borderRadius="sm"
            color="fg.muted"
            fontSize="xs"
            fontVariantNumeric="tabular-nums"
            maxW="60rem"
            px={1}
          >
            {says}
          </Text>
        </Panel>
        {graph.boxes.length > MANY ? (
          <MiniMap
            ariaLabel="Overview of the trace"
            bgColor="var(--chakra-colors-bg-subtle)"
            maskColor="var(--chakra-colors-bg-emphasized)"
            nodeColor="var(--chakra-colors-fg-muted)"
            pannable
            style={{ height: 60, width: 280 }}
            zoomable
          />
        ) : null}
      </ReactFlow>
    </Box>
  );
}

function boxOf(target: EventTarget | null): string | null {
  return (target instanceof Element && target.closest<HTMLElement>(".react-flow__node")?.dataset.id) || null;
}

const ARROWS: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

// The next box in the direction of an arrow key: preferably one that a line leads to, else the nearest.
function neighbour(graph: Graph, spots: Record<string, Spot>, from: Drawn, key: string): Drawn | undefined {
  const way = ARROWS[key];
  if (!way) return undefined;
  const middle = (b: Drawn) => ({ x: (spots[b.id]?.x ?? 0) + b.width / 2, y: (spots[b.id]?.y ?? 0) + b.height / 2 });
  const here = middle(from);
  const joined = new Set(
    graph.lines.flatMap((l) => (l.source === from.id ? [l.target] : l.target === from.id ? [l.source] : [])),
  );
  const near = graph.boxes.flatMap((box) => {
    const there = middle(box);
    const ahead = (there.x - here.x) * way[0] + (there.y - here.y) * way[1];
    const aside = Math.abs((there.x - here.x) * way[1]) + Math.abs((there.y - here.y) * way[0]);
    return box.id !== from.id && ahead > 1
      ? [{ box, far: ahead + 2 * aside + (way[0] && !joined.has(box.id) ? 10_000 : 0) }]
      : [];
  });
  return near.sort((a, b) => a.far - b.far)[0]?.box;
}

function caption(line: Joined): string | undefined {
  const { way } = line;
  const said = way === "context" || way === "possible" ? way : way === "files" ? "shared files" : "";
  return [said, counted(line)].filter(Boolean).join(" · ") || undefined;
}

// Space for the buttons at the left and the text at the top.
const AROUND = { left: "76px", right: "24px", top: "36px", bottom: "16px" } as const;
const MANY = 24;
const REACH = 1700;

// The boxes that are visible at first: those near the selected rows, so that a long trace stays readable.
function near(graph: Graph, spots: Record<string, Spot>): { id: string }[] {
  const asked = spots.d0;
  if (!asked) return graph.boxes;
  return graph.boxes.filter((b) => Math.abs((spots[b.id]?.x ?? 0) - asked.x) < REACH);
}

function name(part: Part): string {
  if (part.kind === "dataset")
    return `Dataset ${part.node.dataset.label}: ${share(part.node.rows, part.node.total)} rows${part.node.gone ? ", no longer in the current version" : ""}`;
  if (part.kind === "hidden") return "Hidden step: no access";
  return [`Step ${part.about?.task_id ?? part.step}, ${part.coverage}`, part.says, part.why].filter(Boolean).join(". ");
}

const Ends = () => (
  <>
    <Handle isConnectable={false} position={Position.Left} style={{ opacity: 0 }} type="target" />
    <Handle isConnectable={false} position={Position.Right} style={{ opacity: 0 }} type="source" />
  </>
);

const DatasetBox = memo(function DatasetBox({ data }: NodeProps<Shown>) {
  if (data.part.kind !== "dataset") return null;
  const { node } = data.part;
  return (
    <Box
      bg={node.role === "asked" ? "blue.subtle" : "bg"}
      borderColor={data.chosen ? "blue.solid" : "border.emphasized"}
      borderStyle={node.gone ? "dashed" : "solid"}
      borderRadius="md"
      borderWidth={data.chosen ? 2 : 1}
      cursor="pointer"
      h="full"
      opacity={data.faded ? 0.25 : 1}
      px={3}
      py={2}
      shadow="xs"
      title={
        node.gone
          ? `${node.dataset.name}: these rows are no longer in the current version of this dataset.`
          : node.dataset.name
      }
      transition="opacity 120ms"
    >
      <Ends />
      <HStack gap={1}>
        <Text flex={1} fontSize="sm" fontWeight="semibold" truncate>
          {node.dataset.label}
        </Text>
        {node.gone || node.role !== "between" ? (
          <Text color="fg.muted" fontSize="2xs">
            {node.gone ? "not current" : node.role === "asked" ? "selected" : node.role}
          </Text>
        ) : null}
      </HStack>
      <Text color="fg.muted" fontSize="xs" fontVariantNumeric="tabular-nums" truncate>
        <Text as="span" color="fg" fontWeight="medium">
          {node.rows ? number(node.rows) : "no row"}
        </Text>
        {` of ${number(node.total)}${node.context_only ? ` · ${number(node.context_only)} context` : ""}`}
      </Text>
    </Box>
  );
});

const HATCH =
  "repeating-linear-gradient(45deg, var(--chakra-colors-orange-subtle) 0 6px, var(--chakra-colors-bg) 6px 12px)";

const StepBox = memo(function StepBox({ data }: NodeProps<Shown>) {
  if (data.part.kind !== "step") return null;
  const { about, coverage, says, step, why } = data.part;
  const untracked = coverage === "untracked";
  return (
    <Box
      alignItems="center"
      bg={coverage === "coarse" ? undefined : "bg.muted"}
      bgImage={coverage === "coarse" ? HATCH : undefined}
      borderColor={
        untracked ? "red.solid" : coverage === "coarse" ? "orange.solid" : data.chosen ? "blue.solid" : "border"
      }
      borderRadius="full"
      borderStyle={untracked ? "dashed" : "solid"}
      borderWidth={data.chosen ? 2 : 1}
      cursor="pointer"
      display="flex"
      gap={2}
      h="full"
      justifyContent="center"
      opacity={data.faded ? 0.25 : 1}
      px={3}
      title={[about?.dag_id && `DAG ${about.dag_id}`, step, says, coverage === "exact" ? "" : `${coverage}: ${why}`]
        .filter(Boolean)
        .join("\n")}
      transition="opacity 120ms"
    >
      <Ends />
      <Text fontSize="xs" truncate>
        {untracked ? "⚠ " : "⚙ "}
        {about ? task(about) : step}
      </Text>
    </Box>
  );
});

const HiddenBox = memo(function HiddenBox({ data }: NodeProps<Shown>) {
  return (
    <Box
      alignItems="center"
      bg="bg"
      borderColor="border.emphasized"
      borderRadius="full"
      borderStyle="dashed"
      borderWidth={1}
      color="fg.muted"
      display="flex"
      h="full"
      justifyContent="center"
      opacity={data.faded ? 0.25 : 1}
      title="You have no access to this step's DAG, so the path ends here."
    >
      <Ends />
      <Text fontSize="xs">hidden step</Text>
    </Box>
  );
});

const COLOURS = {
  background: "var(--chakra-colors-bg)",
  "--xy-controls-button-background-color": "var(--chakra-colors-bg)",
  "--xy-controls-button-background-color-hover": "var(--chakra-colors-bg-muted)",
  "--xy-controls-button-color": "var(--chakra-colors-fg)",
  "--xy-controls-button-color-hover": "var(--chakra-colors-fg)",
  "--xy-controls-button-border-color": "var(--chakra-colors-border)",
} as CSSProperties;

const KINDS = { dataset: DatasetBox, step: StepBox, hidden: HiddenBox };
