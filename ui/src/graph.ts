// A trace as boxes and lines: data sets, the steps between them, and what stands where a path ends early.
import type { Node, Step, Stop, Trace } from "./api/client";
import type { Box, Line } from "./layout";

export type Part =
  | { kind: "dataset"; node: Node }
  | { kind: "step"; step: string; about: Step | undefined; coverage: string; why: string }
  | { kind: "hidden"; side: "before" | "after" };

export type Drawn = Box & { part: Part };
export type Joined = Line & { way: "data" | "context" | "files" | "cut" };
export type Graph = { boxes: Drawn[]; lines: Joined[] };

export function draw(trace: Trace): Graph {
  const boxes = new Map<string, Drawn>();
  const lines = new Map<string, Joined>();
  const steps = new Map(trace.steps.map((s) => [s.step, s]));
  const whys = new Map(trace.stops.map((s: Stop) => [s.step, s.why]));
  const join = (source: string, target: string, way: Joined["way"]) => {
    const id = `${source} ${target}`;
    const known = lines.get(id);
    // Rows that came by data edges too are drawn as such: context is what is left.
    if (!known || (known.way === "context" && way === "data")) lines.set(id, { id, source, target, way });
  };
  const step = (id: string, name: string, coverage: string) => {
    const about = steps.get(name);
    const text = about?.task_id ?? name;
    boxes.set(id, { id, width: Math.min(170, 46 + text.length * 6.8), height: 34, part: { kind: "step", step: name, about, coverage, why: whys.get(name) ?? "" } });
  };
  for (const node of trace.nodes) {
    const width = Math.min(240, Math.max(132, 62 + node.dataset.label.length * 7.5));
    boxes.set(`d${node.id}`, { id: `d${node.id}`, width, height: 62, part: { kind: "dataset", node } });
  }
  for (const edge of trace.edges) {
    if (!edge.step) {
      join(`d${edge.source}`, `d${edge.target}`, "files");
      continue;
    }
    const id = `s${edge.step}:${edge.write ?? 0}`;
    step(id, edge.step, edge.coverage);
    join(`d${edge.source}`, id, edge.kind);
    join(id, `d${edge.target}`, edge.kind);
  }
  for (const node of trace.nodes) {
    if (node.hidden) {
      const id = `h${node.id}`;
      boxes.set(id, { id, width: 116, height: 34, part: { kind: "hidden", side: node.hidden } });
      if (node.hidden === "before") join(id, `d${node.id}`, "cut");
      else join(`d${node.id}`, id, "cut");
    }
  }
  if (trace.direction === "backward") {
    for (const stop of trace.stops.filter((s) => s.what === "untracked")) {
      const made = trace.nodes.filter((n) => n.dataset.id === stop.dataset.id);
      const id = `s${stop.step}:stop`;
      if (!made.length) continue;
      step(id, stop.step, "untracked");
      made.forEach((n) => { join(id, `d${n.id}`, "cut"); });
    }
  }
  return { boxes: [...boxes.values()], lines: [...lines.values()] };
}

// All that lies before or after a box, itself included.
export function path(graph: Graph, from: string): Set<string> {
  const found = new Set([from]);
  for (const [here, there] of [["source", "target"], ["target", "source"]] as const) {
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
