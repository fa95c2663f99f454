import { expect, it } from "vitest";

import { place, ROW, scrollFor } from "./useRowWindow";

it("places rows one by one while they fit", () => {
  expect(place(100, 0, 300)).toEqual({ first: 0, height: 100 * ROW, offset: 0 });
  expect(place(1000, 20 * ROW, 300).first).toBe(16);
});

it("reaches both ends of ten million rows, and what lies between", () => {
  const count = 10_000_000;
  const viewport = 600;
  const { height } = place(count, 0, viewport);
  expect(height).toBeLessThan(16_000_000);
  expect(place(count, 0, viewport).first).toBe(0);
  expect(place(count, height - viewport, viewport).first).toBe(count - viewport / ROW);
  for (const row of [1, 77, 5_000_000, 9_999_000]) {
    expect(Math.abs(place(count, scrollFor(count, row, viewport), viewport).first - row)).toBeLessThan(1);
  }
});
