// Progress of slow requests by name: the client publishes it, and the waiting view shows it.
import { useSyncExternalStore } from "react";

export type Progress = { what: string; done: number; total: number };

const told = new Map<string, Progress>();
const watchers = new Set<() => void>();

export function tell(name: readonly unknown[], progress: Progress | undefined): void {
  if (progress) told.set(JSON.stringify(name), progress);
  else told.delete(JSON.stringify(name));
  watchers.forEach((look) => {
    look();
  });
}

function watch(look: () => void): () => void {
  watchers.add(look);
  return () => {
    watchers.delete(look);
  };
}

export function useProgress(name: readonly unknown[]): Progress | undefined {
  const key = JSON.stringify(name);
  return useSyncExternalStore(watch, () => told.get(key));
}
