// Export of the graph as an SVG file.
import { counted, type Graph } from "./graph";
import type { Spot } from "./layout";
import { visible } from "./marks";
import { share } from "./words";

export function toSvg(graph: Graph, spots: Record<string, Spot>): string {
  const at = (id: string) => spots[id] ?? { x: 0, y: 0 };
  const width = Math.max(...graph.boxes.map((b) => at(b.id).x + b.width)) + 20;
  const height = Math.max(...graph.boxes.map((b) => at(b.id).y + b.height)) + 20;
  const boxes = new Map(graph.boxes.map((b) => [b.id, b]));
  const lines = graph.lines.map((line) => {
    const a = boxes.get(line.source);
    const b = boxes.get(line.target);
    if (!a || !b) return "";
    const [x1, y1] = [at(a.id).x + a.width, at(a.id).y + a.height / 2];
    const [x2, y2] = [at(b.id).x, at(b.id).y + b.height / 2];
    const bend = Math.max(20, (x2 - x1) / 2);
    const dash = line.way === "data" ? "" : ' stroke-dasharray="5 4"';
    const said = counted(line);
    const count = !said
      ? ""
      : `<text x="${(x1 + x2) / 2}" y="${(y1 + y2) / 2 - 5}" fill="#475569" font-size="10" text-anchor="middle">${said}</text>`;
    return `<path d="M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}" fill="none" stroke="#64748b" stroke-width="1.5"${dash}/>${count}`;
  });
  const drawn = graph.boxes.map((b) => {
    const { x, y } = at(b.id);
    const round = b.part.kind === "dataset" ? 6 : b.height / 2;
    const dash =
      b.part.kind === "hidden" || (b.part.kind === "step" && b.part.coverage === "untracked")
        ? ' stroke-dasharray="4 3"'
        : "";
    const head =
      b.part.kind === "dataset"
        ? b.part.node.dataset.label
        : b.part.kind === "step"
          ? (b.part.about?.task_id ?? b.part.step)
          : "hidden step";
    const below =
      b.part.kind === "dataset"
        ? `<text x="${x + 12}" y="${y + 44}" fill="#475569">${safe(share(b.part.node.rows, b.part.node.total))}</text>`
        : "";
    return `<rect x="${x}" y="${y}" width="${b.width}" height="${b.height}" rx="${round}" fill="#fff" stroke="#94a3b8"${dash}/><text x="${x + 12}" y="${y + (below ? 25 : 22)}" font-weight="600">${safe(head)}</text>${below}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="-10 -10 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13">${lines.join("")}${drawn.join("")}</svg>\n`;
}

function safe(text: string): string {
  return visible(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
