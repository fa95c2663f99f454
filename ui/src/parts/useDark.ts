// Whether the theme is dark: Airflow and this page both set a class of the document.
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
