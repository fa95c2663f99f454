// A few rows after an operation; changed cells also show the value before it.
import { Box, Text } from "@chakra-ui/react";

import type { ReplayLine, ReplayStage } from "../api/client";
import { cell, number } from "../words";

const MOST = 8;
const WIDE = 120;

type Stages = Map<number, ReplayStage>;
type Change = "changed" | "new" | "gone";

// The columns that an operation changed, made or dropped, in their order in the table.
export function touched(stage: ReplayStage, stages: Stages): Map<string, Change> {
  const out = new Map<string, Change>();
  const before = new Set(
    stage.lines.flatMap((line) => line.parents.flatMap(([op]) => stages.get(op)?.columns.map((c) => c.name) ?? [])),
  );
  const now = new Set(stage.columns.map((c) => c.name));
  const changed = new Set(stage.lines.flatMap((line) => line.changed));
  const added = new Set(stage.lines.flatMap((line) => line.added));
  for (const { name } of stage.columns) {
    if (added.has(name)) out.set(name, "new");
    else if (changed.has(name)) out.set(name, "changed");
  }
  for (const name of before) if (!now.has(name)) out.set(name, "gone");
  return out;
}

// The value of a column before the operation, if exactly one row before it has the column.
function was(line: ReplayLine, name: string, stages: Stages): unknown {
  const found = line.parents.flatMap(([op, at]) => {
    const stage = stages.get(op);
    const place = stage?.columns.findIndex((c) => c.name === name) ?? -1;
    const value = place < 0 ? undefined : stage?.lines[at]?.values?.[place];
    return value === undefined ? [] : [value];
  });
  return found.length === 1 ? found[0] : undefined;
}

const SHADES: Record<Change, string> = { changed: "orange.subtle", new: "green.subtle", gone: "red.subtle" };

type Props = { stage: ReplayStage; stages: Stages; names: Map<string, Change>; every: boolean };

export function StageTable({ stage, stages, names, every }: Props) {
  const kept = stage.columns.map((c, place) => ({ ...c, place })).filter((c) => every || names.has(c.name));
  const gone = [...names].filter(([, change]) => change === "gone").map(([name]) => name);
  const columns = kept.slice(0, WIDE);
  const source = stage.lines.some((line) => !line.parents.length && line.sources.length);
  if (!columns.length && !gone.length) return null;
  if (stage.lines[0]?.values === null)
    return (
      <Text color="fg.muted" fontSize="xs">
        {[...names].map(([name, change]) => `${name} ${change}`).join(", ") || "values are hidden"}
      </Text>
    );
  return (
    <Box
      aria-label={`Rows after ${stage.text?.slice(0, 80) ?? stage.name}`}
      maxW="full"
      mt={1}
      overflowX="auto"
      role="group"
      tabIndex={0}
      _focusVisible={{ outline: "2px solid", outlineColor: "blue.focusRing" }}
      css={{
        "& td, & th": {
          borderWidth: 1,
          borderColor: "var(--chakra-colors-border-muted)",
          maxWidth: "15rem",
          overflow: "hidden",
          paddingInline: "0.5rem",
          paddingBlock: "0.15rem",
          textOverflow: "ellipsis",
          whiteSpace: "nowrap",
        },
      }}
    >
      <Box as="table" fontSize="xs" fontVariantNumeric="tabular-nums" css={{ borderCollapse: "collapse" }}>
        <thead>
          <tr>
            {source ? (
              <Box as="th" color="fg.muted" fontWeight="normal" textAlign="end">
                row
              </Box>
            ) : null}
            {columns.map((c) => (
              <Box as="th" fontWeight="semibold" key={c.place} textAlign="start" title={`${c.name}: ${c.type}`}>
                {c.name}
                {names.has(c.name) ? (
                  <Text
                    as="span"
                    color="fg.muted"
                    fontFamily="mono"
                    fontSize="2xs"
                    fontWeight="normal"
                  >{` ${c.type}`}</Text>
                ) : null}
              </Box>
            ))}
            {gone.map((name) => (
              <Box
                as="th"
                color="red.fg"
                fontWeight="semibold"
                key={`gone ${name}`}
                textAlign="start"
                textDecoration="line-through"
                title="dropped here"
              >
                {name}
              </Box>
            ))}
          </tr>
        </thead>
        <tbody>
          {stage.lines.slice(0, MOST).map((line, i) => (
            <tr key={i}>
              {source ? (
                <Box as="td" color="fg.muted" textAlign="end">
                  {line.sources.map((s) => number(s.row)).join(", ")}
                </Box>
              ) : null}
              {columns.map((c) => {
                const how = line.added.includes(c.name) ? "new" : line.changed.includes(c.name) ? "changed" : undefined;
                const old = how === "changed" ? was(line, c.name, stages) : undefined;
                return <Cell how={how} key={c.place} masked={c.masked} now={line.values?.[c.place]} old={old} />;
              })}
              {gone.map((name) => (
                <Cell
                  how="gone"
                  key={`gone ${name}`}
                  masked={was(line, name, stages) === undefined}
                  now={undefined}
                  old={was(line, name, stages)}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </Box>
      {stage.lines.length > MOST || kept.length > WIDE ? (
        <Text color="fg.muted" fontSize="xs">
          {[
            stage.lines.length > MOST ? `${number(stage.lines.length - MOST)} more rows` : "",
            kept.length > WIDE ? `${number(kept.length - WIDE)} more columns` : "",
          ]
            .filter(Boolean)
            .join(", ")}
        </Text>
      ) : null}
    </Box>
  );
}

function Cell({ how, masked, now, old }: { how: Change | undefined; masked: boolean; now: unknown; old: unknown }) {
  const shown = masked ? "•••" : how === "gone" ? "" : quoted(now).slice(0, 200);
  const before = old === undefined || masked ? "" : quoted(old).slice(0, 200);
  return (
    <Box as="td" bg={how ? SHADES[how] : undefined} title={before && shown ? `${before} → ${shown}` : before || shown}>
      {before ? (
        <Text as="del" opacity={0.85} me={shown ? 1.5 : 0}>
          {before}
        </Text>
      ) : null}
      {how && shown ? (
        <Box as="ins" textDecoration="none">
          {shown}
        </Box>
      ) : (
        shown
      )}
    </Box>
  );
}

// Quotes a text that is empty or has blanks at its ends, to show what trimming changes.
function quoted(value: unknown): string {
  return typeof value === "string" && (value !== value.trim() || !value) ? `“${value}”` : cell(value);
}
