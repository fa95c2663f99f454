// Numbers and names as the page says them.
import type { Step } from "./api/client";

const NUMBER = new Intl.NumberFormat("en-US");

export function number(n: number): string {
  return NUMBER.format(n);
}

export function count(n: number, noun = "row"): string {
  return n === 0 ? `no ${noun}` : `${number(n)} ${noun}${n === 1 ? "" : "s"}`;
}

// "this many of that many", the same everywhere.
export function share(rows: number, total: number): string {
  return rows === 0 ? `no row of ${number(total)}` : `${number(rows)} of ${number(total)}`;
}

// The rows that a write made, and those that its output then had where they are more, or it is not known which are its own.
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
