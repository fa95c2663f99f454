// The layout engine, in its own file, which loads with the first graph.
import ELK from "elkjs/lib/elk.bundled.js";

import { layered } from "./layered";

export type Box = { id: string; width: number; height: number };
export type Line = { id: string; source: string; target: string };
export type Spot = { x: number; y: number };

const elk = new ELK();
// The engine takes seconds for large graphs.
const LARGE = 60;

export default async function layout(boxes: Box[], lines: Line[], across: number): Promise<Record<string, Spot>> {
  if (boxes.length > LARGE) return layered(boxes, lines, across);
  const graph = await elk.layout({
    id: "root",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": "RIGHT",
      "elk.layered.spacing.nodeNodeBetweenLayers": String(across),
      "elk.spacing.nodeNode": "22",
      "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
    },
    children: boxes,
    edges: lines.map(({ id, source, target }) => ({ id, sources: [source], targets: [target] })),
  });
  return Object.fromEntries((graph.children ?? []).map((c) => [c.id, { x: c.x ?? 0, y: c.y ?? 0 }]));
}
