// The rows and datasets to highlight for the row under the pointer or with the focus in one of a trace's tables.
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import { post, type Node, type Rows, type Trace, type TraceQuery } from "../api/client";
import { among, type Graph } from "../graph";

const PAUSE = 120;
const MOST = 1000;

export type Looked = { node: number; row: number };

export function useLook(
  asked: TraceQuery,
  trace: Trace | undefined,
  graph: Graph | undefined,
  other: Node | undefined,
) {
  const [looked, set] = useState<Looked | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const look = useCallback((next: Looked | null) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      set(next);
    }, PAUSE);
  }, []);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
    },
    [],
  );

  const from = looked ? trace?.nodes[looked.node] : undefined;
  const to = looked?.node === 0 ? other : trace?.nodes[0];
  const question = useMemo<TraceQuery | undefined>(() => {
    if (!trace || !from || !looked || !to || from.id === to.id) return undefined;
    const onward = trace.direction;
    const direction = from.id === 0 ? onward : onward === "backward" ? "forward" : "backward";
    return {
      dataset: from.dataset.id,
      version: from.version,
      rows: [looked.row],
      where: null,
      direction,
      context: asked.context,
      to: to.dataset.id,
      versions: "all",
    };
  }, [asked.context, from, looked, to, trace]);
  const same = (a: Node, b: Node) => a.dataset.id === b.dataset.id && a.version === b.version;
  const { data } = useQuery({
    queryKey: ["look", question, to?.version],
    queryFn: async ({ signal }) => {
      const way = await post<Trace>("/trace", question, signal);
      const there = way.nodes.find((n) => to && same(n, to));
      const rows = there
        ? await post<Rows>("/trace/rows", { ...question, node: there.id, limit: MOST, columns: [] }, signal)
        : undefined;
      return { nodes: way.nodes, rows: new Set(rows?.rows), all: !rows?.next };
    },
    enabled: Boolean(question),
    staleTime: Infinity,
  });
  return useMemo(() => {
    if (!trace || !graph || !looked || !from || !to || !data) return { look, boxes: null, rows: () => null };
    const met = trace.nodes.filter((n) => data.nodes.some((m) => same(m, n)));
    const boxes = among(graph, new Set([`d${from.id}`, ...met.map((n) => `d${n.id}`)]));
    const own = new Set([looked.row]);
    return {
      look,
      boxes,
      rows: (node: Node) => (node.id === from.id ? own : node.id === to.id && data.all ? data.rows : null),
    };
  }, [data, from, graph, look, looked, to, trace]);
}
