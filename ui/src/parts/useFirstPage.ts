// A table's columns and, unless it is wide, its first page, in one request.
import { useQuery, useQueryClient } from "@tanstack/react-query";

import type { Rows } from "../api/client";

export const PAGE = 100;
// Tables with more columns load only the visible ones.
export const NARROW = 60;

export type Load = (
  cursor: number,
  limit: number,
  columns: string[] | null,
  signal: AbortSignal,
  name?: readonly unknown[],
) => Promise<Rows>;

export function pageKey(name: readonly unknown[], page: number, block: number): readonly unknown[] {
  return ["rows", ...name, page, block];
}

export function useFirstPage(name: readonly unknown[], load: Load, columns: number, enabled: boolean) {
  const client = useQueryClient();
  return useQuery({
    queryKey: ["columns", ...name],
    queryFn: async ({ signal }) => {
      const narrow = columns <= NARROW;
      const found = await load(0, narrow ? PAGE : 1, null, signal, ["columns", ...name]);
      if (narrow) client.setQueryData(pageKey(name, 0, -1), found);
      return found;
    },
    enabled,
    staleTime: Infinity,
  });
}
