// Export menu of a trace.
import { exportGraph, exportTrace, type Format, type Node, type Trace, type TraceQuery } from "./api/client";
import type { Graph } from "./graph";
import type { Spot } from "./layout";
import { copyItems, save, type Item } from "./parts/Take";
import { toPng } from "./png";
import type { State } from "./state";
import { toSvg } from "./svg";

export const FORMATS: { format: Format; text: string }[] = [
  { format: "csv", text: "CSV" },
  { format: "json", text: "JSON" },
  { format: "jsonl", text: "JSON lines" },
  { format: "arrow", text: "Arrow stream" },
];

type Shown = {
  state: State;
  asked: TraceQuery;
  trace: Trace;
  node: Node;
  graph: Graph;
  spots: Record<string, Spot> | undefined;
};

export function traceItems({ state, asked, trace, node, graph, spots }: Shown): Item[] {
  const { label } = node.dataset;
  const names = { dataset: trace.nodes[0]?.dataset.name ?? "" };
  const drawn = spots
    ? [
        {
          label: "Graph as SVG",
          act: () => {
            save(new Blob([toSvg(graph, spots)], { type: "image/svg+xml" }), "trace.svg");
          },
        },
        {
          label: "Graph as PNG",
          act: async () => {
            save(await toPng(toSvg(graph, spots)), "trace.png");
          },
        },
      ]
    : [];
  return [
    ...FORMATS.map(({ format, text }) => ({
      label: `Rows of ${label} as ${text}`,
      act: async () => {
        save(await exportTrace(asked, node, format), `${label}.${format}`);
      },
    })),
    {
      label: "Rows and edges as PROV-JSON",
      act: async () => {
        save(await exportGraph(asked, "prov_json"), "trace.prov.json");
      },
    },
    {
      label: "Rows and edges as GraphML",
      act: async () => {
        save(await exportGraph(asked, "graphml"), "trace.graphml");
      },
    },
    {
      label: "Trace as JSON",
      act: () => {
        save(new Blob([JSON.stringify(trace, null, 1)], { type: "application/json" }), "trace.json");
      },
    },
    ...drawn,
    ...copyItems(state, names),
  ];
}
