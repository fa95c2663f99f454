// Row ids as text, in URLs and labels: 1,5-9.
const MOST = 10_000;

export function readRows(text: string): number[] {
  const out = new Set<number>();
  for (const part of text.split(",")) {
    const found = /^\s*(\d{1,15})(?:-(\d{1,15}))?\s*$/.exec(part);
    if (!found) continue;
    const first = Number(found[1]);
    const last = Number(found[2] ?? found[1]);
    for (let row = first; row <= last && out.size < MOST; row += 1) out.add(row);
  }
  return [...out].sort((a, b) => a - b);
}

export function writeRows(rows: number[]): string {
  const out: string[] = [];
  const sorted = [...rows].sort((a, b) => a - b);
  for (let i = 0; i < sorted.length;) {
    let j = i;
    while (sorted[j + 1] === (sorted[j] ?? 0) + 1) j += 1;
    out.push(i === j ? `${sorted[i]}` : `${sorted[i]}-${sorted[j]}`);
    i = j + 1;
  }
  return out.join(",");
}
