// Invisible characters, and those that reverse text, are shown as marks, so that no text can look like another.

// Control and format characters, line and paragraph separators, lone surrogates, and blank letters.
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115F\u1160\u3164\uFFA0]|\u034F|\u17B4|\u17B5|\u180B|\u180C|\u180D|\u180F/u;
const EACH = new RegExp(HIDDEN.source, "gu");
// A zero-width joiner between two symbols is part of an emoji.
const JOINED = /\p{So}(?:[\u{1F3FB}-\u{1F3FF}]|\uFE0F)*$/u;
const NAMES: Record<string, string> = { "\n": "⏎", "\r": "␍", "\t": "⇥" };

export type Piece = { text: string } | { mark: string };

// Splits a text into plain pieces and marks. With `lines`, line breaks and tabs are kept.
export function pieces(text: string, lines = false): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  for (const { 0: c, index } of text.matchAll(EACH)) {
    if (lines && (c === "\n" || c === "\t")) continue;
    if (
      c === "\u200D" &&
      JOINED.test(text.slice(Math.max(0, index - 8), index)) &&
      /^\p{So}/u.test(text.slice(index + 1))
    )
      continue;
    if (index > from) found.push({ text: text.slice(from, index) });
    found.push({ mark: NAMES[c] ?? `U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}` });
    from = index + c.length;
  }
  if (from < text.length) found.push({ text: text.slice(from) });
  return found;
}

// The same as plain text, for places that can't contain elements.
export function visible(text: string, lines = false): string {
  if (!HIDDEN.test(text)) return text;
  return pieces(text, lines)
    .map((p) => ("text" in p ? p.text : p.mark.startsWith("U+") ? `[${p.mark}]` : p.mark))
    .join("");
}

// Escapes a text for a string literal of Python or JavaScript.
export function escaped(text: string): string {
  return text.replace(EACH, (c) => {
    const code = c.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

export function hidden(text: string): boolean {
  return HIDDEN.test(text);
}
