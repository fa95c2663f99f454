// Whether the page around is dark: Airflow's theme, and this page's own, say so by a class of the document.
import { useSyncExternalStore } from "react";

function watch(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
  return () => {
    observer.disconnect();
  };
}

export function useDark(): boolean {
  return useSyncExternalStore(watch, () => document.documentElement.classList.contains("dark"));
}
