import { describe, expect, it } from "vitest";

import type { Edge, Ending, Node, Step, Trace } from "./api/client";
import { across, counted, draw } from "./graph";
import { toSvg } from "./svg";

function dataset(label: string) {
  return { id: label, name: `file:///${label}`, label };
}

function node(id: number, label: string, rows: number): Node {
  return {
    id,
    dataset: dataset(label),
    version: label,
    role: id ? "between" : "asked",
    total: 9,
    rows,
    context_only: 0,
    possible_only: 0,
    columns: 1,
    one: [],
    gone: false,
    hidden: null,
  };
}

function edge(source: number, target: number, step: string, rows: number): Edge {
  return { source, target, step, write: 0, kind: "data", occurrences: [0], coverage: "exact", rows, read: false };
}

function ending(step: string, from: number, read: number, kept: number): Ending {
  return { step, write: 0, dataset: dataset(step), node: from, read, kept, context: 0, coverage: "exact", ended: [0] };
}

function step(name: string): Step {
  return {
    step: name,
    dag_id: "",
    run_id: "",
    task_id: name,
    map_index: -1,
    try_number: 1,
    status: "succeeded",
    started: "",
    ended: "",
    coverage: "exact",
  };
}

const NODES = [node(0, "raw", 5), node(1, "people", 5), node(2, "clean", 3)];
const EDGES = [edge(0, 1, "load", 5), edge(1, 2, "clean", 3)];

function trace(endings: Ending[]): Trace {
  return {
    direction: "forward",
    nodes: NODES,
    edges: EDGES,
    stops: [],
    endings,
    steps: ["load", "clean", "other"].map(step),
    gone: [],
    versions: [],
    broken: [],
  };
}

describe("the graph of a trace forward", () => {
  it("has a step that kept none, joined by a dashed line with nothing behind it", () => {
    const { boxes, lines } = draw(trace([ending("other", 1, 5, 0)]));
    const box = boxes.find((b) => b.id === "sother:0");
    expect(box?.part).toMatchObject({
      kind: "step",
      step: "other",
      coverage: "exact",
      says: "people: 5 of 9 rows → none",
    });
    const line = lines.find((l) => l.target === "sother:0");
    expect(line).toMatchObject({ source: "d1", way: "cut" });
    expect(line && counted(line)).toBe("kept 0 of 5");
    expect(lines.some((l) => l.source === "sother:0")).toBe(false);
    expect(across({ boxes, lines })).toBeGreaterThan(across(draw(trace([]))));
  });

  it("says on the line into a step how many rows it kept, and keeps its box", () => {
    const { boxes, lines } = draw(trace([ending("clean", 1, 5, 3)]));
    expect(boxes.filter((b) => b.id === "sclean:0")).toHaveLength(1);
    const into = lines.find((l) => l.source === "d1" && l.target === "sclean:0");
    expect(into?.way).toBe("data");
    expect(into && counted(into)).toBe("kept 3 of 5");
    const out = lines.find((l) => l.source === "sclean:0");
    expect(out && counted(out)).toBe("3");
  });

  it("joins rows of which a step kept none to its box, where it kept others", () => {
    const { boxes, lines } = draw(trace([ending("clean", 0, 5, 0)]));
    expect(boxes.filter((b) => b.id === "sclean:0")).toHaveLength(1);
    expect(lines.find((l) => l.source === "d0" && l.target === "sclean:0")).toMatchObject({
      way: "cut",
      rows: 5,
      kept: 0,
    });
  });

  it("is drawn with it as SVG", () => {
    const graph = draw(trace([ending("other", 1, 5, 0)]));
    const spots = Object.fromEntries(graph.boxes.map((b, i) => [b.id, { x: i * 200, y: 0 }]));
    expect(toSvg(graph, spots)).toContain(">kept 0 of 5</text>");
  });
});
