// The current view as a command and as Python, for a terminal or a notebook.
import type { Place, State } from "./state";

// Full names of the data sets that a view is about.
export type Names = { dataset: string; to?: string; through?: string };

export function asCommand(state: State, names: Names): string {
  const { to, through } = names;
  const parts = [shell(names.dataset)];
  state.rows.forEach((row) => parts.push(`--row ${row}`));
  if (!state.rows.length) state.where.forEach((text) => parts.push(`--where ${shell(text)}`));
  if (state.version) parts.push(`--version ${state.version}`);
  if (state.way === "forward") parts.push("--forward");
  if (to) parts.push(`${state.way === "composition" ? "--source" : "--to"} ${shell(to)}`);
  if (through) parts.push(`--via ${shell(through)}`);
  if (state.way === "composition") parts.push(`--column ${shell(state.column ?? "")} --together`);
  if (state.context) parts.push("--context");
  return `provspark ${COMMANDS[state.way ?? "backward"]} ${parts.join(" ")}`;
}

const COMMANDS = { backward: "trace", forward: "trace", together: "co-contributory", siblings: "co-dependency", composition: "composition" };
const METHODS = { backward: "backward", forward: "forward", together: "co_contributory", siblings: "co_dependency", composition: "composition" };

export function asPython(state: State, names: Names): string {
  const { to, through } = names;
  const parts = [text(names.dataset), ...selected(state)];
  if (state.version) parts.push(`version=${text(state.version)}`);
  if (to) parts.push(`${state.way === "composition" ? "source" : "to"}=${text(to)}`);
  if (through) parts.push(`via=${text(through)}`);
  if (state.way === "composition") parts.push(`column=${text(state.column ?? "")}`, "each=False");
  if (state.context) parts.push('kinds=("data", "context")');
  const head = !state.rows.length && state.where.length ? "from provspark.index_store.select import parse_condition\n" : "";
  return `import provspark\n${head}\nprov = provspark.open(STORE)  # the store's or catalogue's URL\nprov.${METHODS[state.way ?? "backward"]}(${parts.join(", ")})\n`;
}

function selected({ rows, where }: Place): string[] {
  if (rows.length) return [`rows=[${rows.join(", ")}]`];
  return where.length ? [`where=[${where.map((w) => `parse_condition(${text(w)})`).join(", ")}]`] : [];
}

const text = (value: string) => JSON.stringify(value);

function shell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
