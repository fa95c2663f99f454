// The rows that a trace met in one data set, with their values: those of one derivation first.
import { Button, Flex, Heading, Text } from "@chakra-ui/react";
import { useCallback } from "react";

import { post, type Node, type Rows, type TraceQuery } from "../api/client";
import type { Way } from "../state";
import { count, number, share } from "../words";
import { RowsTable } from "./RowsTable";
import { Failed, Loading, Nothing } from "./States";
import { useFirstPage, type Load } from "./useFirstPage";

type Props = {
  asked: TraceQuery;
  node: Node;
  title: string;
  one?: boolean;
  faded?: boolean;
  lit?: ReadonlySet<number> | null;
  onAll?: (all: boolean) => void;
  onColumn?: (column: string) => void;
  onLook?: (row: number | null) => void;
  onTrace: (row: number, way: Way) => void;
};

export function NodeRows({ asked, node, title, one = false, faded = false, lit, onAll, onColumn, onLook, onTrace }: Props) {
  const load = useCallback<Load>(
    (cursor, limit, columns, signal) => post<Rows>("/trace/rows", { ...asked, node: node.id, one, cursor, limit, columns }, signal),
    [asked, node.id, one],
  );
  const name = ["trace", JSON.stringify(asked), node.id, one];
  const first = useFirstPage(name, load, node.columns, node.rows > 0);
  const more = node.one.length > 0 && node.one.length < node.rows;
  const said = `${node.rows ? `${share(node.rows, node.total)} rows ${title}` : `no row of ${number(node.total)} ${title}`}${one && more ? `; ${count(node.one.length)} of one derivation shown` : ""}`;
  return (
    <Flex direction="column" gap={2} h="full" minH={0} opacity={faded ? 0.35 : 1} transition="opacity 120ms">
      <Flex align="center" columnGap={2} minH={6}>
        <Heading as="h2" flexShrink={0} maxW="14rem" size="sm" truncate title={node.dataset.name}>{node.dataset.label}</Heading>
        <Text color="fg.muted" flex={1} fontSize="sm" minW={0} title={said} truncate>{said}</Text>
        {more && onAll ? (
          <Button onClick={() => { onAll(one); }} size="2xs" variant="outline">{one ? `Show all ${number(node.rows)}` : "One derivation"}</Button>
        ) : null}
      </Flex>
      {first.error ? <Failed again={() => void first.refetch()} error={first.error} title="The rows can't be read" /> : null}
      {node.rows === 0 ? <Nothing title={`No row of ${node.dataset.label} contributes`}>An empty group, or an outer join without a partner, has none.</Nothing> : null}
      {first.data ? (
        <RowsTable
          columnTitle="How the rows asked about divide over its values"
          columns={first.data.columns}
          count={one ? node.one.length : node.rows}
          key={name.join(" ")}
          label={`${node.dataset.label}: rows of the trace`}
          lit={lit}
          load={load}
          name={name}
          onColumn={onColumn}
          onLook={onLook}
          onTrace={onTrace}
        />
      ) : node.rows && !first.error ? (
        <Loading label="Loading rows" lines={4} />
      ) : null}
    </Flex>
  );
}
