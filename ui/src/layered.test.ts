import { expect, it } from "vitest";

import { layered } from "./layered";
import type { Box, Line } from "./layout";

function tangle(steps: number): { boxes: Box[]; lines: Line[] } {
  let seed = 7;
  const random = (most: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % most;
  const boxes: Box[] = [{ id: "d0", width: 150, height: 62 }];
  const lines: Line[] = [];
  for (let n = 0; n < steps; n += 1) {
    boxes.push({ id: `s${n}`, width: 110, height: 34 }, { id: `d${n + 1}`, width: 150, height: 62 });
    for (const from of new Set([n, Math.max(0, n - random(8))]))
      lines.push({ id: `${from} ${n}`, source: `d${from}`, target: `s${n}` });
    lines.push({ id: `s${n}`, source: `s${n}`, target: `d${n + 1}` });
  }
  return { boxes, lines };
}

it("puts each box right of what leads to it, and none on another", () => {
  const { boxes, lines } = tangle(120);
  const spots = layered(boxes, lines);
  const at = new Map(boxes.map((b) => [b.id, { ...b, ...(spots[b.id] ?? { x: NaN, y: NaN }) }]));
  for (const { source, target } of lines) {
    const [a, b] = [at.get(source), at.get(target)];
    expect((a?.x ?? 0) + (a?.width ?? 0)).toBeLessThan(b?.x ?? 0);
  }
  const all = [...at.values()];
  expect(all.every((a) => Number.isFinite(a.x) && a.y >= 0)).toBe(true);
  const apart = (a: (typeof all)[0], b: (typeof all)[0]) =>
    a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
  expect(all.filter((a) => all.some((b) => a !== b && !apart(a, b)))).toEqual([]);
});

it("keeps a chain in a row, and lookups beside it", () => {
  const boxes = ["a", "s", "b", "t", "c", "look"].map((id) => ({ id, width: 100, height: 40 }));
  const lines = [
    ["a", "s"],
    ["s", "b"],
    ["b", "t"],
    ["look", "t"],
    ["t", "c"],
  ].map(([source = "", target = ""]) => ({ id: source + target, source, target }));
  const spots = layered(boxes, lines);
  expect(spots.look?.x).toBe(spots.b?.x);
  expect(Math.abs((spots.a?.y ?? 0) - (spots.s?.y ?? 0))).toBeLessThan(1);
});
