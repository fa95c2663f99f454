// Escape goes back, unless it closes an open menu.
import { useEffect } from "react";

export function useEscape(leave: () => void): void {
  useEffect(() => {
    const escape = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented && !document.querySelector("[role=menu]:not([hidden])"))
        leave();
    };
    window.addEventListener("keydown", escape);
    return () => {
      window.removeEventListener("keydown", escape);
    };
  }, [leave]);
}
