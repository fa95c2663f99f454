// Asks the API; every answer is typed by the API's own description.
import type { components } from "./schema";

type Schemas = components["schemas"];
export type About = Schemas["About"];
export type Beside = Schemas["Beside"];
export type Choice = Schemas["Choice"];
export type Column = Schemas["Column"];
export type CellPage = Schemas["CellPage"];
export type ColumnLine = Schemas["ColumnLine"];
export type ColumnLines = Schemas["ColumnLines"];
export type Composition = Schemas["Composition"];
export type Dataset = Schemas["Dataset"];
export type DatasetDetail = Schemas["DatasetDetail"];
export type DatasetPage = Schemas["DatasetPage"];
export type Edge = Schemas["Edge"];
export type Found = Schemas["Found"];
export type Node = Schemas["Node"];
export type Operation = Schemas["Operation"];
export type Rows = Schemas["Rows"];
export type Step = Schemas["Step"];
export type StepDetail = Schemas["StepDetail"];
export type StepPage = Schemas["StepPage"];
export type Stop = Schemas["Stop"];
export type Usage = Schemas["Usage"];
export type Trace = Schemas["Trace"];
export type TraceQuery = Schemas["TraceQuery"];
export type Write = Schemas["Write"];
export type Format = "csv" | "json" | "jsonl" | "arrow";

type Parameter = string | number | string[] | null | undefined;

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export function pageUrl(path: string): string {
  return new URL(path, document.baseURI).href;
}

function url(path: string, parameters: Record<string, Parameter>): string {
  const made = new URL(pageUrl(`provspark/api/v1${path}`));
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") made.searchParams.append(name, String(one));
    }
  }
  return made.href;
}

async function ask(target: string, init: RequestInit): Promise<Response> {
  const answer = await fetch(target, { credentials: "same-origin", ...init });
  if (!answer.ok) {
    let detail = answer.statusText;
    try {
      const problem = (await answer.json()) as { detail?: unknown };
      if (typeof problem.detail === "string") detail = problem.detail;
    } catch {
      // Not a problem document: the status line has to do.
    }
    throw new ApiError(answer.status, detail);
  }
  return answer;
}

export async function get<T>(path: string, parameters: Record<string, Parameter> = {}, signal?: AbortSignal): Promise<T> {
  return (await (await ask(url(path, parameters), { signal })).json()) as T;
}

export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return (await (await ask(url(path, {}), json(body, signal))).json()) as T;
}

function json(body: unknown, signal?: AbortSignal): RequestInit {
  return { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, signal };
}

export function exportUrl(dataset: string, version: string, where: string[], format: Format): string {
  return url(`/datasets/${dataset}/export`, { version, where, format });
}

export async function exportGraph(query: TraceQuery, format: "prov_json" | "graphml"): Promise<Blob> {
  return (await ask(url("/trace/graph", { format }), json({ ...query, to: null }))).blob();
}

export async function exportTrace(query: TraceQuery, node: number, format: Format): Promise<Blob> {
  return (await ask(url("/trace/export", { node, format }), json(query))).blob();
}
