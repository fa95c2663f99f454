// The current view as a command and as Python, for a terminal or a notebook.
import { escaped, hidden } from "./marks";
import type { Place, State } from "./state";

// Full names of the datasets in a view.
export type Names = { dataset: string; to?: string; through?: string };

export function asCommand(state: State, names: Names): string {
  const { to, through } = names;
  if (!state.way && state.column) return columnCommand(state, names);
  const parts = [shell(names.dataset)];
  state.rows.forEach((row) => parts.push(`--row ${row}`));
  if (!state.rows.length) state.where.forEach((text) => parts.push(`--where ${shell(text)}`));
  if (state.version) parts.push(`--version ${state.version}`);
  if (state.way === "forward") parts.push("--forward");
  if (to) parts.push(`${state.way === "composition" ? "--source" : "--to"} ${shell(to)}`);
  if (through) parts.push(`--via ${shell(through)}`);
  if (state.way === "composition") parts.push(`--column ${shell(state.column ?? "")} --together`);
  if (state.context) parts.push("--context");
  if (state.way === "happened" && state.step) parts.push(`--step ${shell(state.step)}`);
  const name = state.way === "happened" && !state.step ? "history" : COMMANDS[state.way ?? "backward"];
  return `provspark ${name} ${parts.join(" ")}`;
}

function columnCommand(state: State, names: Names): string {
  const version = state.version ? ` --version ${state.version}` : "";
  return `provspark columns ${shell(names.dataset)} --column ${shell(state.column ?? "")}${version}`;
}

export function stepPython(step: string): string {
  return `${OPEN}prov.operations(${text(step)})\n`;
}

const COMMANDS = {
  backward: "trace",
  forward: "trace",
  co_contributory: "co-contributory",
  co_dependency: "co-dependency",
  composition: "composition",
  happened: "replay",
};
const METHODS = {
  backward: "backward",
  forward: "forward",
  co_contributory: "co_contributory",
  co_dependency: "co_dependency",
  composition: "composition",
  happened: "replay",
};

export function asPython(state: State, names: Names): string {
  const { to, through } = names;
  const parts = [text(names.dataset), ...selected(state)];
  if (state.version) parts.push(`version=${text(state.version)}`);
  if (!state.way && state.column) parts.splice(1, parts.length, ...cells(state));
  if (state.way === "happened" && state.step) parts.push(`step=${text(state.step)}`);
  if (to) parts.push(`${state.way === "composition" ? "source" : "to"}=${text(to)}`);
  if (through) parts.push(`via=${text(through)}`);
  if (state.way === "composition") parts.push(`column=${text(state.column ?? "")}`, "each=False");
  if (state.context) parts.push('kinds=("data", "context")');
  const head =
    !state.rows.length && state.where.length
      ? "from provspark.index_store.values.selection import parse_condition\n"
      : "";
  return `${OPEN.replace("\n", `\n${head}`)}prov.${method(state)}(${parts.join(", ")})\n`;
}

const OPEN = "import provspark\n\nprov = provspark.open(STORE)  # the store's or catalogue's URL\n";

function method({ way, step, column, rows }: State): string {
  if (way === "happened" && !step) return "history";
  if (way) return METHODS[way];
  return column ? (rows.length === 1 ? "cells" : "columns") : "values";
}

// The cell of a column if one row is selected, else the whole column.
function cells(state: State): string[] {
  const version = state.version ? [`version=${text(state.version)}`] : [];
  return [
    ...(state.rows.length === 1
      ? [`rows=[${state.rows[0]}]`, `columns=[${text(state.column ?? "")}]`]
      : [`[${text(state.column ?? "")}]`]),
    ...version,
  ];
}

function selected({ rows, where }: Place): string[] {
  if (rows.length) return [`rows=[${rows.join(", ")}]`];
  return where.length ? [`where=[${where.map((w) => `parse_condition(${text(w)})`).join(", ")}]`] : [];
}

const text = (value: string) => escaped(JSON.stringify(value));

function shell(text: string): string {
  // Bash's $'…' takes escapes, so that no invisible character is pasted into a terminal.
  if (hidden(text)) return `$'${escaped(text.replaceAll("\\", "\\\\").replaceAll("'", "\\'"))}'`;
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
