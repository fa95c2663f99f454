import { createElement, isValidElement, type ReactElement } from "react";
import { describe, expect, it } from "vitest";

import { jsx, jsxs } from "./jsx-runtime";
import { escaped, pieces, visible } from "./marks";

const SEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

function all(): string[] {
  const found: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    const c = String.fromCodePoint(code);
    if (SEEN.test(c)) found.push(c);
  }
  return found;
}

describe("marks", () => {
  it("show every control, format, separator and lone surrogate", () => {
    const every = all();
    expect(every.length).toBeGreaterThan(2200);
    for (const c of every) {
      const told = visible(`a${c}b`);
      expect(SEEN.test(told)).toBe(false);
      expect(told).not.toBe("ab");
      expect(SEEN.test(escaped(`a${c}b`))).toBe(false);
    }
  });

  it.each([
    ["\u202Eevil", "[U+202E]evil"],
    ["a\u200Bb", "a[U+200B]b"],
    ["\uFEFFx", "[U+FEFF]x"],
    ["\u2066x\u2069", "[U+2066]x[U+2069]"],
    ["a\nb\tc\rd", "a⏎b⇥c␍d"],
    ["\u001B[31mred", "[U+001B][31mred"],
    ["\u{E0041}", "[U+E0041]"],
    ["\uD800", "[U+D800]"],
    ["\u3164", "[U+3164]"],
    ["Ærøskøbing 東京 שלום é", "Ærøskøbing 東京 שלום é"],
    ["👩‍🚀 👨🏽‍🚒 ❤️‍🔥", "👩‍🚀 👨🏽‍🚒 ❤️‍🔥"],
    ["a\u200Db", "a[U+200D]b"],
    ["👩\u200D", "👩[U+200D]"],
  ])("%j reads %s", (text, told) => {
    expect(visible(text)).toBe(told);
    expect(
      pieces(text)
        .map((p) => ("text" in p ? p.text : p.mark.startsWith("U+") ? `[${p.mark}]` : p.mark))
        .join(""),
    ).toBe(told);
  });

  it("keep line breaks where lines are shown as lines", () => {
    expect(visible("a\nb\tc\u202E", true)).toBe("a\nb\tc[U+202E]");
  });

  it("are escapes in copied code", () => {
    expect(escaped("a\u202E\u{E0041}")).toBe("a\\u202e\\U000e0041");
  });
});

function text(node: unknown): string {
  if (typeof node === "string") return node;
  if (Array.isArray(node)) return node.map(text).join("");
  return isValidElement(node) ? text((node as ReactElement<{ children?: unknown }>).props.children) : "";
}

describe("JSX", () => {
  it("boxes what can't be seen, in a text alone and among others", () => {
    for (const made of [jsx("p", { children: "x\u202Ey" }), jsxs("p", { children: ["x", "\u202Ey", 1] })]) {
      expect(text(made)).toBe("xU+202Ey");
      expect(JSON.stringify(made)).toContain("data-mark");
    }
  });

  it("keeps what can be seen as it is", () => {
    const props = { children: ["x", createElement("b"), "y"], title: "z" };
    expect(jsxs("p", props).props).toEqual(props);
    expect(jsx("pre", { children: "a\nb" }).props).toEqual({ children: "a\nb" });
  });

  it("marks attributes, and texts that take no elements, as text", () => {
    expect(jsx("text", { children: "x\u202E", title: "y\u200B" }).props).toEqual({
      children: "x[U+202E]",
      title: "y[U+200B]",
    });
  });
});
