// The visible rows of a long table. Browsers limit the scroll height to about 30 million pixels, so in longer tables the
// scroll position is scaled; keys still move row by row.
import { useCallback, useEffect, useState, type RefObject } from "react";

export const ROW = 30;
const MOST = 12_000_000;

export type RowWindow = {
  first: number;
  last: number;
  height: number;
  offset: number;
  width: number;
  reveal: (row: number) => void;
};

export function place(
  count: number,
  scrollTop: number,
  viewport: number,
): { first: number; height: number; offset: number } {
  const whole = count * ROW;
  const height = Math.min(whole, MOST);
  if (whole <= MOST) {
    const first = Math.max(0, Math.floor(scrollTop / ROW) - 4);
    return { first, height, offset: first * ROW };
  }
  const part = scrollTop / Math.max(1, height - viewport);
  const first = Math.round(Math.min(1, part) * Math.max(0, count - Math.floor(viewport / ROW)));
  return { first, height, offset: Math.min(scrollTop, height - viewport) };
}

export function scrollFor(count: number, row: number, viewport: number): number {
  const whole = count * ROW;
  if (whole <= MOST) return row * ROW;
  return (row / Math.max(1, count - Math.floor(viewport / ROW))) * (MOST - viewport);
}

export function useRowWindow(count: number, scroller: RefObject<HTMLElement | null>, header: number): RowWindow {
  const [{ top, viewport, width }, set] = useState({ top: 0, viewport: 400, width: 0 });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = () => {
      set({
        top: element.scrollTop,
        viewport: Math.max(ROW, element.clientHeight - header),
        width: element.clientWidth,
      });
    };
    look();
    element.addEventListener("scroll", look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", look);
      observer.disconnect();
    };
  }, [scroller, header]);
  const { first, height, offset } = place(count, top, viewport);
  const last = Math.min(count - 1, first + Math.ceil(viewport / ROW) + 8);
  const reveal = useCallback(
    (row: number) => {
      const element = scroller.current;
      if (!element) return;
      const seen = Math.floor(viewport / ROW);
      const now = place(count, element.scrollTop, viewport);
      const top = count * ROW <= MOST ? Math.ceil(element.scrollTop / ROW) : now.first;
      if (row < top) element.scrollTop = scrollFor(count, row, viewport);
      else if (row >= top + seen) element.scrollTop = scrollFor(count, row - seen + 1, viewport);
    },
    [count, scroller, viewport],
  );
  return { first, last, height, offset, width, reveal };
}
