// Client of the API, with types from its OpenAPI description.
import { tell, type Progress } from "../progress";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type About = Schemas["About"];
export type Broken = Schemas["Broken"];
export type Related = Schemas["Related"];
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
export type Ending = Schemas["Ending"];
export type Found = Schemas["Found"];
export type Gone = Schemas["Gone"];
export type Located = Schemas["Located"];
export type Node = Schemas["Node"];
export type Operation = Schemas["Operation"];
export type Passage = Schemas["Passage"];
export type ProfilePair = Schemas["ProfilePair"];
export type Profiles = Schemas["Profiles"];
export type Replay = Schemas["Replay"];
export type ReplayLine = Schemas["ReplayLine"];
export type ReplayStage = Schemas["ReplayStage"];
export type Rows = Schemas["Rows"];
export type Step = Schemas["Step"];
export type StepDetail = Schemas["StepDetail"];
export type StepPage = Schemas["StepPage"];
export type Stop = Schemas["Stop"];
export type Usage = Schemas["Usage"];
export type Trace = Schemas["Trace"];
export type TraceQuery = Schemas["TraceQuery"];
export type VersionUsed = Schemas["VersionUsed"];
export type Write = Schemas["Write"];
export type BesideQuery = Schemas["CoContributoryQuery"] | Schemas["CoDependencyQuery"];
export type Format = "csv" | "json" | "jsonl" | "arrow";

type Parameter = string | number | string[] | null | undefined;

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly type = "about:blank",
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
    let problem: unknown;
    try {
      problem = await answer.json();
    } catch {
      // Not a problem document: use the status text.
    }
    throw refused(answer.status, problem, answer.statusText);
  }
  return answer;
}

function refused(status: number, problem: unknown, otherwise: string): ApiError {
  const { detail, type } = (problem ?? {}) as { detail?: unknown; type?: unknown };
  return new ApiError(
    status,
    typeof detail === "string" ? detail : otherwise,
    typeof type === "string" ? type : undefined,
  );
}

// Requests with a name publish their progress under it (see progress.ts).
async function asked<T>(target: string, init: RequestInit, name: readonly unknown[] | undefined): Promise<T> {
  if (!name) return (await (await ask(target, init)).json()) as T;
  const answer = await ask(target, {
    ...init,
    headers: { ...init.headers, Accept: "application/json, text/event-stream" },
  });
  if (!answer.headers.get("Content-Type")?.startsWith("text/event-stream") || !answer.body)
    return (await answer.json()) as T;
  try {
    const { status, body } = await followed(answer.body, (progress) => {
      tell(name, progress);
    });
    if (status >= 400) throw refused(status, body, "The query failed.");
    return body as T;
  } finally {
    tell(name, undefined);
  }
}

async function followed(
  stream: ReadableStream<Uint8Array>,
  told: (progress: Progress) => void,
): Promise<{ status: number; body: unknown }> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let answer: { status: number; body: unknown } | undefined;
  // Read to the end: an unread stream keeps its connection open.
  for (;;) {
    const { value, done } = await reader.read();
    if (done && answer) return answer;
    if (done) throw new Error("The connection closed before the answer arrived. Try again.");
    const events = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const data = JSON.parse(event.slice(event.indexOf("data: ") + 6)) as unknown;
      if (event.startsWith("event: answer")) answer = data as { status: number; body: unknown };
      else told(data as Progress);
    }
  }
}

export async function get<T>(
  path: string,
  parameters: Record<string, Parameter> = {},
  signal?: AbortSignal,
  name?: readonly unknown[],
): Promise<T> {
  return asked<T>(url(path, parameters), { signal }, name);
}

export async function post<T>(
  path: string,
  body: unknown,
  signal?: AbortSignal,
  name?: readonly unknown[],
): Promise<T> {
  return asked<T>(url(path, {}), json(body, signal), name);
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

export async function exportBeside(
  way: "co_contributory" | "co_dependency",
  query: BesideQuery,
  version: string,
  format: Format,
): Promise<Blob> {
  return (await ask(url(`/${way}/export`, { answer_version: version, format }), json(query))).blob();
}

export async function exportTrace(query: TraceQuery, { id, version }: Node, format: Format): Promise<Blob> {
  return (await ask(url("/trace/export", { node: id, node_version: version, format }), json(query))).blob();
}
