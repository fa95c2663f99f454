// The current view as a command and as Python, for a terminal or a notebook.
import type { State } from "./state";

export function asCommand(state: State, name: string): string {
  const rows = state.rows.map((row) => ` --row ${row}`).join("");
  const where = state.rows.length ? "" : state.where.map((text) => ` --where ${shell(text)}`).join("");
  const version = state.version ? ` --version ${state.version}` : "";
  const way = state.direction === "forward" ? " --forward" : "";
  return `provspark trace ${shell(name)}${rows}${where}${version}${way}${state.context ? " --context" : ""}`;
}

export function asPython(state: State, name: string): string {
  const ask = state.direction === "forward" ? "forward" : "backward";
  const parts = [JSON.stringify(name)];
  if (state.rows.length) parts.push(`rows=[${state.rows.join(", ")}]`);
  else if (state.where.length) parts.push(`where=[${state.where.map((w) => `parse_condition(${JSON.stringify(w)})`).join(", ")}]`);
  if (state.version) parts.push(`version=${JSON.stringify(state.version)}`);
  if (state.context) parts.push('kinds=("data", "context")');
  const needs = !state.rows.length && state.where.length;
  const head = `import provspark\n${needs ? "from provspark.index_store.select import parse_condition\n" : ""}`;
  return `${head}\nprov = provspark.open(STORE)  # the store's or catalogue's URL\nprov.${ask}(${parts.join(", ")})\n`;
}

function shell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
