// Formats of numbers, counts, times and values.
import type { Step } from "./api/client";

const NUMBER = new Intl.NumberFormat("en-US");

export function number(n: number): string {
  return NUMBER.format(n);
}

export function count(n: number, noun = "row"): string {
  return n === 0 ? `no ${noun}` : `${number(n)} ${noun}${n === 1 ? "" : "s"}`;
}

// "38 of 32,561", the same everywhere; zero in words.
export function share(rows: number, total: number): string {
  return rows === 0 ? `no row of ${number(total)}` : `${number(rows)} of ${number(total)}`;
}

// The number of rows that a write wrote, and of all rows in its output if they differ or the former is unknown.
export function made(rows: number, written: number | null | undefined): string {
  if (written === null || written === undefined) return `${count(rows)} in the dataset`;
  return `${written === 0 ? "0 rows" : count(written)} written${written === rows ? "" : ` · ${number(rows)} in the dataset`}`;
}

export function task(step: Step): string {
  const mapped = step.map_index >= 0 ? ` [${step.map_index}]` : "";
  return `${step.task_id || step.step}${mapped}`;
}

export function when(iso: string): string {
  return iso ? `${iso.slice(0, 16).replace("T", " ")} UTC` : "";
}

export function cell(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return JSON.stringify(value);
}
