// Conditions in the syntax of the API and the command line: column operator value.
export const OPERATORS = [
  "=",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "in",
  "is null",
  "is not null",
  "like",
  "startswith",
] as const;
export type Operator = (typeof OPERATORS)[number];

export function takesValue(operator: Operator): boolean {
  return !operator.startsWith("is ");
}

export function condition(column: string, operator: Operator, value: string): string {
  const name = /^[A-Za-z_]\w*$/.test(column) ? column : `\`${column.replaceAll("`", "``")}\``;
  if (!takesValue(operator)) return `${name} ${operator}`;
  if (operator !== "in") return `${name} ${operator} ${quoted(value)}`;
  const several = value.split(",").map((one) => quoted(one.trim()));
  return `${name} in (${several.join(", ")})`;
}

function quoted(value: string): string {
  return /^[\w.+-]+$/.test(value) ? value : `'${value.replaceAll("'", "''")}'`;
}
