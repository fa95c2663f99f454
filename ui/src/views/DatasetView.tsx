// One dataset: its versions, and its rows with filters. Traces start from here.
import { Box, Button, Flex, Heading, HStack, NativeSelect, Spacer, Text } from "@chakra-ui/react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo } from "react";

import { exportUrl, get, type DatasetDetail, type Rows, type Step } from "../api/client";
import { MoreAsks } from "../parts/Asks";
import { ColumnPanel } from "../parts/ColumnPanel";
import { Filters } from "../parts/Filters";
import { Coverage } from "../parts/Marks";
import { RowsTable } from "../parts/RowsTable";
import { Failed, Loading, Nothing } from "../parts/States";
import { copyItems, save, Take } from "../parts/Take";
import { useFirstPage, type Load } from "../parts/useFirstPage";
import { VersionNote } from "../parts/VersionNote";
import { Waiting } from "../parts/Waiting";
import { usePage, type Way } from "../state";
import { FORMATS } from "../take";
import { count, number, share, task, when } from "../words";

export function DatasetView() {
  const { state, go } = usePage();
  const { dataset, version, where, rows } = state;
  const detail = useQuery({
    queryKey: ["dataset", dataset, version],
    queryFn: ({ signal }) => get<DatasetDetail>(`/datasets/${dataset}`, { version }, signal),
  });
  const client = useQueryClient();
  useEffect(() => {
    // Selecting rows puts the version into the URL. It is the one that is shown, so don't load it again.
    if (detail.data) client.setQueryData(["dataset", dataset, detail.data.version], detail.data);
  }, [client, dataset, detail.data]);
  const load = useCallback<Load>(
    (cursor, limit, columns, signal, asked) =>
      get<Rows>(
        `/datasets/${dataset}/rows`,
        { version: detail.data?.version, where, cursor, limit, columns },
        signal,
        asked,
      ),
    [dataset, detail.data?.version, where],
  );
  const name = [dataset, detail.data?.version, where];
  const first = useFirstPage(name, load, detail.data?.columns.length ?? 0, Boolean(detail.data));
  const picked = useMemo(() => new Set(rows), [rows]);
  const trace = (chosen: number[], way: Way) => {
    go({ version: detail.data?.version ?? null, rows: chosen, where: chosen.length ? [] : where, way, column: null });
  };

  if (detail.error)
    return <Failed again={() => void detail.refetch()} error={detail.error} title="Could not load the dataset" />;
  if (!detail.data) return <Loading label="Loading the dataset" />;
  const { label, columns, versions, current } = detail.data;
  const shown = versions.find((v) => v.version === detail.data.version);
  const selected = first.data?.selected;
  return (
    <Flex direction="column" gap={3} h="full" minH={0}>
      <Flex align="start" gap={4} wrap="wrap">
        <div>
          <HStack gap={2}>
            <Heading as="h2" size="lg">
              {label}
            </Heading>
            <Coverage value={shown?.coverage ?? null} />
          </HStack>
          <Text color="fg.muted" fontSize="xs" overflowWrap="anywhere">
            {detail.data.name}
          </Text>
          {shown?.coverage === "untracked" || shown?.coverage === "coarse" ? (
            <Button
              color="orange.fg"
              h="auto"
              onClick={() => {
                trace([], "backward");
              }}
              p={0}
              size="xs"
              variant="plain"
            >
              See why it was not captured row by row
            </Button>
          ) : null}
        </div>
        <Spacer />
        <NativeSelect.Root size="xs" w="auto">
          <NativeSelect.Field
            aria-label="Version"
            onChange={(event) => {
              go({ version: event.target.value, rows: [] });
            }}
            value={detail.data.version}
          >
            {versions.map((v) => (
              <option
                key={v.version}
                value={v.version}
              >{`${v.version === current.version ? "current · " : ""}${number(v.rows)} rows · ${v.written ? "written" : "read"} by ${task(v.step)} · ${when(v.step.ended)}`}</option>
            ))}
          </NativeSelect.Field>
          <NativeSelect.Indicator />
        </NativeSelect.Root>
        <Take
          items={[
            ...FORMATS.map(({ format, text }) => ({
              label: `Rows as ${text}`,
              act: () => {
                save(exportUrl(dataset, detail.data.version, where, format), `${label}.${format}`);
              },
            })),
            ...copyItems({ ...state, version: detail.data.version }, { dataset: detail.data.name }),
          ]}
        />
      </Flex>
      <VersionNote
        current={current}
        dataset={dataset}
        key={`${detail.data.version} ${rows.join()}`}
        onShow={(to, chosen) => {
          go({ version: to, rows: chosen });
        }}
        rows={rows}
        unnamed={!version && rows.length > 0}
        version={detail.data.version}
      />
      <Flex align="center" gap={3} wrap="wrap">
        <Filters
          columns={columns}
          onChange={(next) => {
            go({ where: next, rows: [] });
          }}
          where={where}
        />
        <Spacer />
        <Text aria-live="polite" color="fg.muted" fontSize="sm">
          {rows.length
            ? `${count(rows.length)} selected`
            : selected === undefined
              ? ""
              : where.length
                ? `${share(selected, detail.data.rows)} rows`
                : count(detail.data.rows)}
        </Text>
        {rows.length ? (
          <Button
            onClick={() => {
              go({ rows: [] });
            }}
            size="xs"
            variant="ghost"
          >
            Clear selection
          </Button>
        ) : null}
        <Button
          colorPalette="blue"
          disabled={!rows.length && !selected}
          onClick={() => {
            trace(rows, "backward");
          }}
          size="xs"
        >
          ← Source rows
        </Button>
        <Button
          colorPalette="blue"
          disabled={!rows.length && !selected}
          onClick={() => {
            trace(rows, "forward");
          }}
          size="xs"
          variant="outline"
        >
          Derived rows →
        </Button>
        <MoreAsks
          disabled={!rows.length && !selected}
          many={rows.length !== 1}
          onAsk={(way) => {
            trace(rows, way);
          }}
        />
      </Flex>
      {selected === 0 ? (
        <Nothing title={where.length ? "No rows match the filter" : "This version has no rows"}>
          {where.length ? "Remove a condition to see more rows." : null}
        </Nothing>
      ) : selected ? (
        <Flex direction={{ base: "column", lg: "row" }} flex={1} gap={4} minH={0}>
          <Box flex={1} minH={0} minW={0}>
            <RowsTable
              columns={columns}
              count={selected}
              key={`${detail.data.version} ${where.join("\n")}`}
              label={`Rows of ${label}`}
              load={load}
              name={name}
              onColumn={(column) => {
                go({ column });
              }}
              onPick={(row) => {
                go(
                  {
                    version: detail.data.version,
                    rows: picked.has(row) ? rows.filter((r) => r !== row) : [...rows, row],
                  },
                  true,
                );
              }}
              onTrace={(row, way) => {
                trace([row], way);
              }}
              picked={picked}
            />
          </Box>
          {state.column === null ? null : (
            <Box flex="0 0 24rem" minH={0}>
              <ColumnPanel
                column={state.column}
                dataset={dataset}
                onClose={() => {
                  go({ column: null });
                }}
                row={rows.length === 1 ? (rows[0] ?? null) : null}
                version={detail.data.version}
              />
            </Box>
          )}
        </Flex>
      ) : (
        <Waiting
          failed="Could not load the rows"
          label={where.length ? "Filtering" : "Loading rows"}
          query={first}
          queryKey={["columns", ...name]}
        />
      )}
      <Made by={shown?.step} />
    </Flex>
  );
}

function Made({ by }: { by: Step | undefined }) {
  if (!by) return null;
  return (
    <Text color="fg.muted" fontSize="xs">
      {[by.dag_id && `DAG ${by.dag_id}`, `task ${task(by)}`, by.run_id && `run ${by.run_id}`, when(by.ended)]
        .filter(Boolean)
        .join(" · ")}
    </Text>
  );
}
