// The JSX runtime (see tsconfig.json and build.mjs): React's own, except that it replaces invisible characters in each
// text by marks, so that no component has to remember to.
import { createElement, type ElementType, type Key, type ReactElement, type ReactNode } from "react";
import { Fragment, jsx as plain, jsxs as plains } from "react/jsx-runtime";

import { hidden, pieces, visible } from "./marks";

export type { JSX } from "react/jsx-runtime";
export { Fragment };

type Props = Record<string, unknown> & { children?: ReactNode };

const ATTRIBUTES = ["title", "aria-label", "aria-description", "placeholder", "alt"];
// Elements that can contain only text.
const TEXT_ONLY = new Set<unknown>(["text", "tspan", "title", "desc", "option", "textarea"]);

const BOX = {
  border: "1px solid currentColor",
  borderRadius: "3px",
  fontFamily: "monospace",
  fontSize: "0.75em",
  margin: "0 1px",
  padding: "0 2px",
  unicodeBidi: "isolate",
} as const;

export function jsx(type: ElementType, props: Props, key?: Key): ReactElement {
  return plain(type, shown(type, props), key);
}

export function jsxs(type: ElementType, props: Props, key?: Key): ReactElement {
  return plains(type, shown(type, props), key);
}

function shown(type: ElementType, props: Props): Props {
  let out = props;
  for (const name of ATTRIBUTES) {
    const value = props[name];
    if (typeof value === "string" && hidden(value)) out = { ...out, [name]: visible(value, true) };
  }
  const lines =
    type === "pre" ||
    props.as === "pre" ||
    (typeof props.whiteSpace === "string" && props.whiteSpace.startsWith("pre"));
  const { children } = props;
  if (typeof children === "string") {
    if (hidden(children)) out = { ...out, children: marked(type, children, lines) };
  } else if (Array.isArray(children) && children.some((c) => typeof c === "string" && hidden(c))) {
    out = { ...out, children: children.map((c: ReactNode) => (typeof c === "string" ? marked(type, c, lines) : c)) };
  }
  return out;
}

function marked(type: ElementType, text: string, lines: boolean): ReactNode {
  if (!hidden(text)) return text;
  if (TEXT_ONLY.has(type)) return visible(text, lines);
  const found = pieces(text, lines);
  if (found.every((p) => "text" in p)) return text;
  const parts = found.map((p) =>
    "text" in p ? p.text : createElement("span", { "data-mark": p.mark, style: BOX }, p.mark),
  );
  return createElement(Fragment, null, ...parts);
}
