// A table of rows and values that loads what is visible: rows by pages, and wide tables also by blocks of columns.
import { Box, Flex, Text } from "@chakra-ui/react";
import { keepPreviousData, useQueries } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useId, useRef, useState, type KeyboardEvent } from "react";

import type { Column } from "../api/client";
import type { Way } from "../state";
import { RowMenu, type Anchor } from "./Asks";
import { Failed } from "./States";
import { FIRST, Head, numeric, RowHead, Value, width } from "./TableCells";
import { NARROW, PAGE, pageKey, type Load } from "./useFirstPage";
import { ROW, useRowWindow } from "./useRowWindow";

const BLOCK = 40;
const HEADER = 44;

type Props = {
  label: string;
  name: readonly unknown[];
  load: Load;
  columns: Column[];
  count: number;
  picked?: ReadonlySet<number>;
  onPick?: (row: number) => void;
  onTrace: (row: number, way: Way) => void;
  // Rows to highlight; the others fade.
  lit?: ReadonlySet<number> | null;
  onLook?: (row: number | null) => void;
  // Called on a click on a column's header, whose tooltip is `columnTitle`.
  onColumn?: (column: string) => void;
  columnTitle?: string;
};

export function RowsTable({
  label,
  name,
  load,
  columns,
  count,
  picked,
  onPick,
  onTrace,
  lit = null,
  onLook,
  onColumn,
  columnTitle = "Show source and derived columns",
}: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const [active, setActive] = useState(0);
  const [focused, setFocused] = useState(false);
  const [menu, setMenu] = useState<Anchor | null>(null);
  const rows = useRowWindow(count, scroller, HEADER);
  const needed = FIRST + columns.reduce((sum, c) => sum + width(c), 0) + 20;
  const spare = columns.length ? Math.min(80, Math.max(0, Math.floor((rows.width - needed) / columns.length))) : 0;
  const across = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => scroller.current,
    estimateSize: useCallback((i: number) => width(columns[i]) + spare, [columns, spare]),
    overscan: 3,
    paddingStart: FIRST,
  });
  useEffect(() => {
    across.measure();
  }, [across, spare]);
  const shown = across.getVirtualItems();
  const blocks = columns.length <= NARROW ? [-1] : [...new Set(shown.map((c) => Math.floor(c.index / BLOCK)))];
  const pages: number[] = [];
  for (let p = Math.floor(rows.first / PAGE); count > 0 && p <= Math.floor(rows.last / PAGE); p += 1) pages.push(p);
  const wanted = pages.flatMap((page) => blocks.map((block) => ({ page, block })));
  const answers = useQueries({
    queries: wanted.map(({ page, block }) => ({
      queryKey: pageKey(name, page, block),
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        load(
          page * PAGE,
          PAGE,
          block < 0 ? null : columns.slice(block * BLOCK, (block + 1) * BLOCK).map((c) => c.name),
          signal,
        ),
      staleTime: Infinity,
      placeholderData: keepPreviousData,
    })),
  });
  useEffect(() => {
    if (active >= count) setActive(0);
  }, [active, count]);

  const find = (page: number, block: number) => {
    const at = wanted.findIndex((w) => w.page === page && w.block === block);
    const answer = answers[at];
    return answer?.isPlaceholderData ? undefined : answer?.data;
  };
  const idOf = (place: number) => find(Math.floor(place / PAGE), blocks[0] ?? -1)?.rows[place % PAGE];
  const valueOf = (place: number, column: number): unknown => {
    const block = columns.length <= NARROW ? -1 : Math.floor(column / BLOCK);
    const values = find(Math.floor(place / PAGE), block)?.values;
    if (values === undefined) return undefined;
    return values === null ? "" : (values[place % PAGE]?.[block < 0 ? column : column % BLOCK] ?? null);
  };

  const ask = (row: number, { x, y, height }: { x: number; y: number; height: number }) => {
    setMenu({ row, rect: { x: x + 8, y, width: 1, height } });
  };
  const move = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const seen = Math.max(1, Math.floor(((scroller.current?.clientHeight ?? 300) - HEADER) / ROW) - 1);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: seen,
      PageUp: -seen,
      Home: -count,
      End: count,
    };
    const step = steps[event.key];
    if (step !== undefined) {
      const next = Math.min(count - 1, Math.max(0, active + step));
      setActive(next);
      rows.reveal(next);
      onLook?.(idOf(next) ?? null);
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      scroller.current?.scrollBy({ left: event.key === "ArrowLeft" ? -160 : 160 });
    } else if (event.key === " " && onPick) {
      const row = idOf(active);
      if (row !== undefined) onPick(row);
    } else if (event.key === "Enter") {
      const row = idOf(active);
      if (row !== undefined) onTrace(row, event.shiftKey ? "forward" : "backward");
    } else if (event.key === "m" || event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) {
      const row = idOf(active);
      const element = document.getElementById(`${id}-${active}`);
      if (row !== undefined && element) ask(row, element.getBoundingClientRect());
    } else return;
    event.preventDefault();
  };

  const failed = answers.find((a) => a.error);
  const why = answers.find((a) => a.data?.values === null)?.data?.why;
  const places = Array.from({ length: Math.max(0, rows.last - rows.first + 1) }, (_, i) => rows.first + i);
  return (
    <Flex direction="column" gap={2} h="full" minH={0}>
      {failed?.error ? (
        <Failed again={() => void failed.refetch()} error={failed.error} title="Could not load the rows" />
      ) : null}
      {why ? (
        <Text color="orange.fg" fontSize="sm" overflowWrap="anywhere">
          {why}
        </Text>
      ) : null}
      <Box
        aria-activedescendant={count ? `${id}-${active}` : undefined}
        aria-colcount={columns.length + 1}
        aria-label={label}
        aria-multiselectable={onPick ? true : undefined}
        aria-rowcount={count + 1}
        borderColor="border"
        borderRadius="md"
        borderWidth={1}
        flex={1}
        fontSize="sm"
        minH="7rem"
        onBlur={() => {
          setFocused(false);
          onLook?.(null);
        }}
        onFocus={() => {
          setFocused(true);
        }}
        onKeyDown={move}
        onMouseLeave={() => onLook?.(null)}
        outlineOffset="-2px"
        overflow="auto"
        position="relative"
        ref={scroller}
        role="grid"
        tabIndex={0}
        _focusVisible={{ outline: "2px solid", outlineColor: "blue.focusRing" }}
      >
        <Box
          bg="bg.subtle"
          borderBottomWidth={1}
          borderColor="border"
          h={`${HEADER}px`}
          position="sticky"
          role="row"
          aria-rowindex={1}
          top={0}
          w={`max(100%, ${across.getTotalSize()}px)`}
          zIndex={2}
        >
          <Head at={0} name="row" pinned size={FIRST} />
          {shown.map((c) => {
            const column = columns[c.index];
            return column ? (
              <Head
                at={c.start}
                index={c.index + 2}
                key={c.key}
                masked={column.masked}
                name={column.name}
                openTitle={columnTitle}
                onOpen={
                  onColumn && !column.masked
                    ? () => {
                        onColumn(column.name);
                      }
                    : undefined
                }
                right={numeric(column)}
                size={c.size}
                type={column.type}
              />
            ) : null;
          })}
        </Box>
        <Box h={`${rows.height}px`} position="relative" role="rowgroup" w={`max(100%, ${across.getTotalSize()}px)`}>
          <Box left={0} position="absolute" right={0} role="presentation" top={`${rows.offset}px`}>
            {places.map((place) => {
              const row = idOf(place);
              const chosen = row !== undefined && Boolean(picked?.has(row));
              return (
                <Box
                  aria-rowindex={place + 2}
                  aria-selected={onPick ? chosen : undefined}
                  bg={chosen ? "blue.subtle" : focused && place === active ? "bg.muted" : "bg"}
                  borderBottomWidth={1}
                  borderColor="border.muted"
                  className="group"
                  cursor={onPick ? "pointer" : "default"}
                  data-row={row}
                  h={`${ROW}px`}
                  id={`${id}-${place}`}
                  key={place}
                  onClick={() => {
                    setActive(place);
                    if (row !== undefined) onPick?.(row);
                  }}
                  onContextMenu={(event) => {
                    if (row === undefined) return;
                    event.preventDefault();
                    ask(row, { x: event.clientX, y: event.clientY, height: 1 });
                  }}
                  onMouseEnter={() => onLook?.(row ?? null)}
                  opacity={lit && row !== undefined && !lit.has(row) ? 0.35 : 1}
                  transition="opacity 120ms"
                  onDoubleClick={() => {
                    if (row !== undefined) onTrace(row, "backward");
                  }}
                  position="relative"
                  role="row"
                  _hover={{ bg: chosen ? "blue.subtle" : "bg.muted" }}
                >
                  <RowHead
                    active={focused && place === active}
                    bg={chosen ? "blue.subtle" : "bg.subtle"}
                    chosen={chosen}
                    onAsk={ask}
                    onTrace={onTrace}
                    pickable={Boolean(onPick)}
                    row={row}
                  />
                  {shown.map((c) => (
                    <Value
                      at={c.start}
                      index={c.index + 2}
                      key={c.key}
                      masked={Boolean(columns[c.index]?.masked)}
                      right={numeric(columns[c.index])}
                      size={c.size}
                      value={valueOf(place, c.index)}
                    />
                  ))}
                </Box>
              );
            })}
          </Box>
        </Box>
      </Box>
      <RowMenu
        at={menu}
        onAsk={onTrace}
        onClose={() => {
          setMenu(null);
          scroller.current?.focus({ preventScroll: true });
        }}
      />
    </Flex>
  );
}
