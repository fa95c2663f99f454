// A simple layered layout for large graphs, for which the engine would take seconds. Each box is right of all boxes that
// lead to it, and near its neighbours. A line that crosses a layer takes space there like a thin box.
import type { Box, Line, Spot } from "./layout";

export const ACROSS = 48;
const DOWN = 22;
const THIN = 8;
const SWEEPS = 8;

type Item = { id: string; width: number; height: number; layer: number; middle: number; before: Item[]; after: Item[] };

export function layered(boxes: Box[], lines: Line[], across = ACROSS): Record<string, Spot> {
  const items = new Map(boxes.map((b) => [b.id, { ...b, layer: 0, middle: 0, before: [], after: [] } as Item]));
  const ends = lines.flatMap((l) => {
    const [a, b] = [items.get(l.source), items.get(l.target)];
    return a && b && a !== b ? [[a, b] as const] : [];
  });
  rank([...items.values()], ends);
  for (const [a, b] of ends) thread(a, b);
  const layers = gather(items.values());
  for (const layer of layers) place(layer, (item) => item.middle);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const right = sweep % 2 === 0;
    for (const layer of right ? layers : [...layers].reverse())
      place(layer, (item) => mean(right ? item.before : item.after) ?? item.middle);
  }
  for (const layer of layers) place(layer, (item) => mean([...item.before, ...item.after]) ?? item.middle);
  const top = Math.min(0, ...layers.flat().map((item) => item.middle - item.height / 2));
  const out: Record<string, Spot> = {};
  let x = 0;
  for (const layer of layers) {
    const width = Math.max(...layer.map((item) => item.width));
    for (const item of layer)
      if (item.id) out[item.id] = { x: x + (width - item.width) / 2, y: item.middle - item.height / 2 - top };
    x += width + across;
  }
  return out;
}

// A box's layer is the length of the longest path to it; boxes without predecessors go right before their successors.
function rank(items: Item[], ends: (readonly [Item, Item])[]): void {
  const into = new Map(items.map((item) => [item, 0]));
  const next = new Map<Item, Item[]>(items.map((item) => [item, []]));
  for (const [a, b] of ends) {
    into.set(b, (into.get(b) ?? 0) + 1);
    next.get(a)?.push(b);
  }
  const first = items.filter((item) => !into.get(item));
  const ready = [...first];
  for (let at = ready.pop(); at; at = ready.pop()) {
    for (const b of next.get(at) ?? []) {
      b.layer = Math.max(b.layer, at.layer + 1);
      const left = (into.get(b) ?? 0) - 1;
      into.set(b, left);
      if (!left) ready.push(b);
    }
  }
  for (const item of first) {
    const after = next.get(item) ?? [];
    if (after.length) item.layer = Math.max(0, Math.min(...after.map((b) => b.layer)) - 1);
  }
}

function thread(a: Item, b: Item): void {
  let last = a;
  for (let layer = a.layer + 1; layer < b.layer; layer += 1) {
    const thin: Item = { id: "", width: 0, height: THIN, layer, middle: 0, before: [last], after: [] };
    last.after.push(thin);
    last = thin;
  }
  last.after.push(b);
  b.before.push(last);
}

function gather(items: Iterable<Item>): Item[][] {
  const layers: Item[][] = [];
  const seen = new Set<Item>();
  const waiting = [...items];
  for (const item of waiting) {
    if (seen.has(item)) continue;
    seen.add(item);
    (layers[item.layer] ??= []).push(item);
    waiting.push(...item.after.filter((b) => !b.id));
  }
  return layers.filter((layer) => layer.length);
}

function mean(items: Item[]): number | undefined {
  return items.length ? items.reduce((sum, item) => sum + item.middle, 0) / items.length : undefined;
}

// Sorts a layer by the positions that its boxes want, and places each as near to its own as the others allow.
function place(layer: Item[], wish: (item: Item) => number): void {
  const wanted = layer.map((item) => ({ item, at: wish(item) })).sort((a, b) => a.at - b.at);
  layer.splice(0, layer.length, ...wanted.map((w) => w.item));
  // Isotonic regression: boxes that would overlap are moved as a block.
  const blocks: { from: number; sum: number; count: number }[] = [];
  const offsets: number[] = [];
  wanted.forEach(({ item, at }, i) => {
    const before = wanted[i - 1]?.item;
    offsets.push(before ? (offsets[i - 1] ?? 0) + before.height / 2 + DOWN + item.height / 2 : 0);
    blocks.push({ from: i, sum: at - (offsets[i] ?? 0), count: 1 });
    for (;;) {
      const [low, high] = [blocks.at(-2), blocks.at(-1)];
      if (!low || !high || low.sum / low.count <= high.sum / high.count) break;
      blocks.splice(-2, 2, { from: low.from, sum: low.sum + high.sum, count: low.count + high.count });
    }
  });
  for (const { from, sum, count } of blocks) {
    for (let i = from; i < from + count; i += 1) {
      const item = layer[i];
      if (item) item.middle = sum / count + (offsets[i] ?? 0);
    }
  }
}
