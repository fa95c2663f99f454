// All of the page's state is in the URL: reading it, writing it, and the way back.
import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router-dom";

import type { TraceQuery } from "./api/client";
import { readRows, writeRows } from "./rowset";

export type Direction = "backward" | "forward";

export type Place = {
  dataset: string;
  version: string | null;
  rows: number[];
  where: string[];
  direction: Direction | null;
};

export type State = Place & {
  search: string;
  context: boolean;
  at: string | null;
  step: string | null;
  via: Place[];
};

const NOWHERE: Place = { dataset: "", version: null, rows: [], where: [], direction: null };

export function read(params: URLSearchParams): State {
  const way = params.get("trace");
  return {
    search: params.get("q") ?? "",
    dataset: params.get("ds") ?? "",
    version: params.get("v"),
    rows: readRows(params.get("rows") ?? ""),
    where: params.getAll("where"),
    direction: way === "backward" || way === "forward" ? way : null,
    context: params.get("context") === "1",
    at: params.get("at"),
    step: params.get("step"),
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
  put("trace", state.direction);
  put("context", state.context ? "1" : "");
  put("at", state.at);
  put("step", state.step);
  state.via.forEach((place) => put("via", pack(place)));
  return out;
}

// A place in the path so far: short, and safe to read back from any hands.
function pack(place: Place): string {
  const { dataset, version, rows, where, direction } = place;
  return JSON.stringify([dataset, version, writeRows(rows), where, direction]);
}

function unpack(text: string): Place[] {
  try {
    const [dataset, version, rows, where, direction] = JSON.parse(text) as unknown[];
    if (typeof dataset !== "string" || typeof rows !== "string" || !Array.isArray(where)) return [];
    return [
      {
        dataset,
        version: typeof version === "string" ? version : null,
        rows: readRows(rows),
        where: where.filter((w) => typeof w === "string"),
        direction: direction === "backward" || direction === "forward" ? direction : null,
      },
    ];
  } catch {
    return [];
  }
}

export function query(state: State): TraceQuery {
  const picked = state.rows.length > 0;
  return {
    dataset: state.dataset,
    version: state.version,
    rows: picked ? state.rows : null,
    where: !picked && state.where.length ? state.where : null,
    direction: state.direction ?? "backward",
    context: state.context,
    to: null,
  };
}

export function usePage() {
  const [params, setParams] = useSearchParams();
  const state = useMemo(() => read(params), [params]);
  const go = useCallback(
    (change: Partial<State>, replace = false) => {
      setParams((now) => write({ ...read(now), ...change }), { replace });
    },
    [setParams],
  );
  const open = useCallback(
    (place: Partial<Place>) => {
      setParams(() => write({ ...NOWHERE, search: "", context: false, at: null, step: null, via: [], ...place }));
    },
    [setParams],
  );
  // Goes on from here: what is left becomes a breadcrumb.
  const on = useCallback(
    (place: Partial<Place>) => {
      setParams((now) => {
        const { dataset, version, rows, where, direction, via, context } = read(now);
        const path = [...via, { dataset, version, rows, where, direction }].slice(-12);
        return write({ ...NOWHERE, search: "", context, at: null, step: null, ...place, via: path });
      });
    },
    [setParams],
  );
  return { state, go, open, on };
}
