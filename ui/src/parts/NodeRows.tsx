// The rows of one node of a trace, with values: all of them, or those in one derivation of a selected row.
import { Flex, Heading, Text } from "@chakra-ui/react";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, type ReactNode } from "react";

import { ApiError, post, type Node, type Rows, type TraceQuery } from "../api/client";
import type { Way } from "../state";
import { count, number, share } from "../words";
import { RowsTable } from "./RowsTable";
import { Failed, Loading, Nothing } from "./States";
import { useFirstPage, type Load } from "./useFirstPage";

type Props = {
  asked: TraceQuery;
  node: Node;
  title: string;
  // Show only the rows in one derivation of this row.
  example?: number | null;
  choice?: ReactNode;
  faded?: boolean;
  lit?: ReadonlySet<number> | null;
  onColumn?: (column: string) => void;
  onLook?: (row: number | null) => void;
  onTrace: (row: number, way: Way) => void;
};

export function NodeRows({
  asked,
  node,
  title,
  example = null,
  choice,
  faded = false,
  lit,
  onColumn,
  onLook,
  onTrace,
}: Props) {
  const load = useCallback<Load>(
    (cursor, limit, columns, signal) =>
      post<Rows>(
        "/trace/rows",
        { ...asked, node: node.id, node_version: node.version, one: example !== null, example, cursor, limit, columns },
        signal,
      ),
    [asked, example, node.id, node.version],
  );
  const name = ["trace", JSON.stringify(asked), node.id, node.version, example];
  const client = useQueryClient();
  const first = useFirstPage(name, load, node.columns, node.rows > 0);
  const shown = example === null ? node.rows : first.data?.selected;
  const whole = node.rows
    ? `${share(node.rows, node.total)} rows ${title}`
    : `no row of ${number(node.total)} ${title}`;
  const said =
    example === null
      ? whole
      : `${shown === undefined ? "…" : number(shown)} of ${count(node.rows)}, in one derivation of row ${number(example)}`;
  return (
    <Flex direction="column" gap={2} h="full" minH={0} opacity={faded ? 0.35 : 1} transition="opacity 120ms">
      <Flex align="center" columnGap={2} minH={6}>
        <Heading as="h2" flexShrink={0} maxW="14rem" size="sm" truncate title={node.dataset.name}>
          {node.dataset.label}
        </Heading>
        <Text color="fg.muted" flex={1} fontSize="sm" minW={0} title={said} truncate>
          {said}
        </Text>
        {choice}
      </Flex>
      {first.error ? (
        <Failed
          again={() => {
            void (changed(first.error) ? client.invalidateQueries({ queryKey: ["trace"] }) : first.refetch());
          }}
          error={first.error}
          title={changed(first.error) ? "The trace has changed" : "Could not load the rows"}
        />
      ) : null}
      {node.rows === 0 ? (
        <Nothing title={`No row of ${node.dataset.label} contributes`}>
          For example, a group is empty, or an outer join found no matching row.
        </Nothing>
      ) : null}
      {node.rows && shown === 0 ? (
        <Nothing title={`This derivation has no row of ${node.dataset.label}`}>
          Other derivations may include rows of it. If a step was captured as a whole, it is unknown which of its rows
          belong together.
        </Nothing>
      ) : null}
      {first.data && shown ? (
        <RowsTable
          columnTitle="Count the source rows by this column"
          columns={first.data.columns}
          count={shown}
          key={name.join(" ")}
          label={`${node.dataset.label}: rows of the trace`}
          lit={lit}
          load={load}
          name={name}
          onColumn={onColumn}
          onLook={onLook}
          onTrace={onTrace}
        />
      ) : node.rows && !first.data && !first.error ? (
        <Loading label="Loading rows" lines={4} />
      ) : null}
    </Flex>
  );
}

// Whether datasets have changed since the trace was computed, so that it has other nodes now.
function changed(error: Error): boolean {
  return error instanceof ApiError && error.status === 409;
}
