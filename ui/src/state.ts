// The page's state, which is in the URL: reading, writing and going back.
import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router-dom";

import type { TraceQuery } from "./api/client";
import { readRows, writeRows } from "./rowset";

export const WAYS = ["backward", "forward", "co_contributory", "co_dependency", "composition", "happened"] as const;
export type Way = (typeof WAYS)[number];
export type Direction = "backward" | "forward";
export type Aside = "co_contributory" | "co_dependency" | "composition";

// Names in URLs of the last release.
const FORMER = new Map<unknown, Way>([
  ["together", "co_contributory"],
  ["siblings", "co_dependency"],
]);

// Selected rows and the query about them: its other dataset, the dataset between and the column; then the view: the table
// that is open, whether it includes unchanged columns, and the example row.
export type Place = {
  dataset: string;
  version: string | null;
  rows: number[];
  where: string[];
  way: Way | null;
  to: string | null;
  through: string | null;
  column: string | null;
  at: string | null;
  all: boolean;
  example: number | null;
};

export type State = Place & {
  search: string;
  context: boolean;
  // In a forward trace, include rows that are in no current version.
  gone: boolean;
  step: string | null;
  // The open tab of a step's panel.
  tab: string | null;
  via: Place[];
};

const ASKED = { way: null, to: null, through: null, column: null } as const;
const SEEN = { at: null, all: false, example: null, step: null, tab: null } as const;
const NOWHERE: Place = {
  dataset: "",
  version: null,
  rows: [],
  where: [],
  ...ASKED,
  at: null,
  all: false,
  example: null,
};

export function read(params: URLSearchParams): State {
  return {
    search: params.get("q") ?? "",
    dataset: params.get("ds") ?? "",
    version: params.get("v"),
    rows: readRows(params.get("rows") ?? ""),
    where: params.getAll("where"),
    way: known(params.get("trace")),
    to: params.get("to"),
    through: params.get("through"),
    column: params.get("column"),
    context: params.get("context") === "1",
    gone: params.get("gone") === "1",
    all: params.get("all") === "1",
    example: row(params.get("example")),
    at: params.get("at"),
    step: params.get("step"),
    tab: params.get("tab"),
    via: params.getAll("via").flatMap((text) => unpack(text)),
  };
}

export function write(state: State): URLSearchParams {
  const out = new URLSearchParams();
  const put = (name: string, value: string | null) => value && out.append(name, value);
  put("q", state.search);
  put("ds", state.dataset);
  put("v", state.version);
  put("rows", writeRows(state.rows));
  state.where.forEach((text) => put("where", text));
  put("trace", state.way);
  put("to", state.to);
  put("through", state.through);
  put("column", state.column);
  put("context", state.context ? "1" : "");
  put("gone", state.gone ? "1" : "");
  put("all", state.all ? "1" : "");
  put("example", state.example === null ? null : String(state.example));
  put("at", state.at);
  put("step", state.step);
  put("tab", state.tab);
  state.via.forEach((place) => put("via", pack(place)));
  return out;
}

function known(way: unknown): Way | null {
  return WAYS.find((one) => one === way) ?? FORMER.get(way) ?? null;
}

function row(given: unknown): number | null {
  const id = typeof given === "string" && given ? Number(given) : given;
  return Number.isSafeInteger(id) && Number(id) >= 0 ? Number(id) : null;
}

// A breadcrumb as a short text, which `unpack` validates.
function pack(place: Place): string {
  const { dataset, version, rows, where, way, to, through, column, at, all, example } = place;
  return JSON.stringify([dataset, version, writeRows(rows), where, way, to, through, column, at, all ? 1 : 0, example]);
}

function unpack(text: string): Place[] {
  const string = (value: unknown) => (typeof value === "string" ? value : null);
  try {
    const [dataset, version, rows, where, way, to, through, column, at, all, example] = JSON.parse(text) as unknown[];
    if (typeof dataset !== "string" || typeof rows !== "string" || !Array.isArray(where)) return [];
    return [
      {
        dataset,
        version: string(version),
        rows: readRows(rows),
        where: where.filter((w) => typeof w === "string"),
        way: known(way),
        to: string(to),
        through: string(through),
        column: string(column),
        at: string(at),
        all: all === 1,
        example: row(example),
      },
    ];
  } catch {
    return [];
  }
}

// Only the selected rows of a state, for another query about them.
export function place({ dataset, version, rows, where }: Place): Partial<Place> {
  return { dataset, version, rows, where };
}

export function selection({ dataset, version, rows, where }: Place) {
  const picked = rows.length > 0;
  return { dataset, version, rows: picked ? rows : null, where: !picked && where.length ? where : null };
}

export function query(state: State): TraceQuery {
  return {
    ...selection(state),
    direction: state.way === "forward" ? "forward" : "backward",
    context: state.context,
    to: null,
    versions: state.gone ? "all" : "current",
  };
}

// The current URL, not the one of the last render: keystrokes can be faster than rendering.
function now(): URLSearchParams {
  return new URLSearchParams(window.location.search);
}

export function usePage() {
  const [params, setParams] = useSearchParams();
  const state = useMemo(() => read(params), [params]);
  const go = useCallback(
    (change: Partial<State>, replace = false) => {
      setParams(write({ ...read(now()), ...change }), { replace });
    },
    [setParams],
  );
  const open = useCallback(
    (place: Partial<Place>) => {
      setParams(write({ ...NOWHERE, ...SEEN, search: "", context: false, gone: false, via: [], ...place }));
    },
    [setParams],
  );
  // Opens a place; the current one becomes a breadcrumb.
  const on = useCallback(
    (place: Partial<Place>) => {
      const { context, gone, via, ...here } = read(now());
      const path: Place[] = [...via, here].slice(-12);
      setParams(write({ ...NOWHERE, ...SEEN, search: "", context, gone, ...place, via: path }));
    },
    [setParams],
  );
  // Goes back: from a step to its trace, to the last breadcrumb, or from a query to the rows.
  const leave = useCallback(() => {
    const here = read(now());
    const last = here.via.at(-1);
    if (here.step) setParams(write({ ...here, step: null, tab: null }));
    else if (last) setParams(write({ ...here, ...last, via: here.via.slice(0, -1) }));
    else setParams(write({ ...here, ...ASKED, ...SEEN }));
  }, [setParams]);
  const quit = useCallback(() => {
    go({ ...ASKED, ...SEEN });
  }, [go]);
  return { state, go, open, on, leave, quit };
}
