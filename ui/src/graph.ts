// A trace as boxes and lines: datasets, the steps between them, and markers where a path ends early.
import type { Edge, Ending, Node, Step, Stop, Trace } from "./api/client";
import type { Box, Line } from "./layout";
import { ACROSS } from "./layered";
import { number, share, task } from "./words";

export type Part =
  | { kind: "dataset"; node: Node }
  | { kind: "step"; step: string; about: Step | undefined; coverage: string; why: string; says: string }
  | { kind: "hidden"; side: "before" | "after" };

export type Drawn = Box & { part: Part };
// `rows` of the dataset's `total` rows are on a line. A step that did not keep all of them kept `kept`.
export type Joined = Line & {
  way: "data" | "context" | "possible" | "files" | "cut";
  rows?: number;
  total?: number;
  kept?: number;
};
const SURENESS: Joined["way"][] = ["data", "context", "possible"];
export type Graph = { boxes: Drawn[]; lines: Joined[] };

export function draw(trace: Trace): Graph {
  const boxes = new Map<string, Drawn>();
  const lines = new Map<string, Joined>();
  const steps = new Map(trace.steps.map((s) => [s.step, s]));
  const whys = new Map(trace.stops.map((s: Stop) => [s.step, s.why]));
  const join = (source: string, target: string, way: Joined["way"], rows?: number, total?: number) => {
    const id = `${source} ${target}`;
    const known = lines.get(id);
    // Of several edges, draw the most certain one.
    if (!known || SURENESS.indexOf(way) < SURENESS.indexOf(known.way))
      lines.set(id, { id, source, target, way, rows, total });
  };
  const step = (id: string, name: string, coverage: string, edges: Edge[], says = sentence(trace, edges)) => {
    const about = steps.get(name);
    const text = about ? task(about) : name;
    const part: Part = { kind: "step", step: name, about, coverage, why: whys.get(name) ?? "", says };
    boxes.set(id, { id, width: Math.min(190, 46 + text.length * 6.8), height: 34, part });
  };
  for (const node of trace.nodes) {
    const width = Math.min(240, Math.max(132, 62 + node.dataset.label.length * 7.5));
    boxes.set(`d${node.id}`, { id: `d${node.id}`, width, height: 62, part: { kind: "dataset", node } });
  }
  const back = trace.direction === "backward";
  const writes = new Map<string, Edge[]>();
  for (const edge of trace.edges) {
    const { source, target, rows } = edge;
    if (!edge.step) join(`d${source}`, `d${target}`, "files", rows, trace.nodes[back ? source : target]?.total);
    else {
      const id = `s${edge.step}:${edge.read ? "read " : ""}${edge.write ?? 0}`;
      writes.set(id, [...(writes.get(id) ?? []), edge]);
    }
  }
  for (const [id, edges] of writes) {
    const [edge] = edges;
    if (!edge?.step) continue;
    step(id, edge.step, edge.coverage, edges);
    // The number of rows made by several readings together is known only if nothing else made rows of the output.
    const alone = trace.edges.every((e) => e.target !== edge.target || edges.includes(e));
    const made = edges.length === 1 ? edge.rows : alone ? trace.nodes[edge.target]?.rows : undefined;
    for (const { source, target, kind, rows } of edges) {
      const [from, into] = [trace.nodes[source], trace.nodes[target]];
      if (!from || !into) continue;
      join(`d${source}`, id, kind, back ? rows : from.rows, from.total);
      join(id, `d${target}`, kind, back ? into.rows : made, into.total);
    }
  }
  for (const ending of trace.endings) {
    const [id, from] = [`s${ending.step}:${ending.write}`, `d${ending.node}`];
    if (!boxes.has(id)) step(id, ending.step, ending.coverage, [], lost(trace, ending));
    if (!lines.has(`${from} ${id}`)) join(from, id, "cut", ending.read, trace.nodes[ending.node]?.total);
    const line = lines.get(`${from} ${id}`);
    if (line) [line.rows, line.kept] = [ending.read, ending.kept];
  }
  for (const node of trace.nodes) {
    if (node.hidden) {
      const id = `h${node.id}`;
      boxes.set(id, { id, width: 116, height: 34, part: { kind: "hidden", side: node.hidden } });
      if (node.hidden === "before") join(id, `d${node.id}`, "cut");
      else join(`d${node.id}`, id, "cut");
    }
  }
  if (back) {
    for (const stop of trace.stops.filter((s) => s.what === "untracked")) {
      const made = trace.nodes.filter((n) => n.dataset.id === stop.dataset.id);
      const id = `s${stop.step}:stop`;
      if (!made.length) continue;
      step(id, stop.step, "untracked", []);
      made.forEach((n) => {
        join(id, `d${n.id}`, "cut");
      });
    }
  }
  return { boxes: [...boxes.values()], lines: [...lines.values()] };
}

// "report: 1 of 15 rows ← clean: 3 of 30,139": the trace's rows on both sides of a step.
function sentence(trace: Trace, edges: Edge[]): string {
  const back = trace.direction === "backward";
  const near = trace.nodes[(back ? edges[0]?.target : edges[0]?.source) ?? -1];
  if (!near) return "";
  const far = edges.map((e) => {
    const node = trace.nodes[back ? e.source : e.target];
    return node ? `${node.dataset.label}: ${share(e.rows, node.total)}${e.kind === "data" ? "" : ` (${e.kind})`}` : "";
  });
  return `${between(near)} ${back ? "←" : "→"} ${[...new Set(far)].join(", ")}`;
}

// "people: 1 of 32,561 rows → none": for a step that kept no row of the trace.
function lost(trace: Trace, { node }: Ending): string {
  const from = trace.nodes[node];
  return from ? `${between(from)} → none` : "";
}

function between(node: Node): string {
  return `${node.dataset.label}: ${share(node.rows, node.total)} rows`;
}

// The same for a box: a step, or a dataset and the selected rows.
export function summary(trace: Trace, part: Part | undefined): string {
  const start = trace.nodes[0];
  if (part?.kind === "step") return part.says;
  if (part?.kind !== "dataset" || !start || part.node.id === 0) return start ? between(start) : "";
  const { node } = part;
  const context =
    (node.context_only ? `, ${number(node.context_only)} of them context` : "") +
    (node.possible_only ? `, ${number(node.possible_only)} of them possible` : "");
  return `${between(start)} ${trace.direction === "backward" ? "←" : "→"} ${node.dataset.label}: ${share(node.rows, node.total)}${context}`;
}

// All boxes and lines before or after a box, and the box itself.
export function path(graph: Graph, from: string): Set<string> {
  const found = new Set([from]);
  for (const [here, there] of [
    ["source", "target"],
    ["target", "source"],
  ] as const) {
    const waiting = [from];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      for (const line of graph.lines) {
        if (line[here] === at && !(found.has(line[there]) && found.has(line.id))) {
          found.add(line.id);
          found.add(line[there]);
          waiting.push(line[there]);
        }
      }
    }
  }
  return found;
}

// These datasets, and the steps and lines between them.
export function among(graph: Graph, datasets: Set<string>): Set<string> {
  const found = new Set(datasets);
  const steps = graph.boxes.filter((b) => !b.id.startsWith("d")).map((b) => b.id);
  for (const id of steps) {
    const before = graph.lines.some((l) => l.target === id && datasets.has(l.source));
    const after = graph.lines.some((l) => l.source === id && datasets.has(l.target));
    if (before && after) found.add(id);
  }
  for (const line of graph.lines) if (found.has(line.source) && found.has(line.target)) found.add(line.id);
  return found;
}

// The label of a line: its number of rows.
export function counted({ rows, kept }: Joined): string {
  if (rows === undefined) return "";
  return kept === undefined ? number(rows) : `kept ${number(kept)} of ${number(rows)}`;
}

// Space between boxes, wide enough for the labels "kept … of …" on the lines.
export function across(graph: Graph): number {
  const said = graph.lines.filter((line) => line.kept !== undefined).map((line) => counted(line).length);
  return Math.max(ACROSS, ...said.map((letters) => 28 + letters * 5.5));
}
