// The panel of a column, or of one of its cells: its sources, and what was derived from it.
import { Box, Button, CloseButton, Flex, Heading, HStack, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";

import { get, post, type CellPage, type ColumnLine, type ColumnLines, type Dataset } from "../api/client";
import { usePage, type Direction } from "../state";
import { number } from "../words";
import { Panel } from "./Panel";
import { Failed, Loading } from "./States";

type Props = { dataset: string; version: string; column: string; row: number | null; onClose: () => void };

export function ColumnPanel({ dataset, version, column, row, onClose }: Props) {
  return (
    <Panel label="Column">
      <HStack>
        <Heading as="h3" flex={1} overflowWrap="anywhere" size="md">
          {row === null ? column : `${column}, row ${number(row)}`}
        </Heading>
        <CloseButton aria-label="Close the column" onClick={onClose} size="xs" />
      </HStack>
      <Text color="fg.muted" fontSize="xs">
        {row === null
          ? "Select one row to see the sources of its cell."
          : "For the selected row only. Clear the selection to see the whole column."}
      </Text>
      {(["backward", "forward"] as const).map((direction) => (
        <Flex direction="column" gap={1} key={direction}>
          <Heading as="h4" size="xs">
            {direction === "backward" ? "← Sources" : "Derived →"}
          </Heading>
          {row === null ? (
            <Columns column={column} dataset={dataset} direction={direction} version={version} />
          ) : (
            <Cells column={column} dataset={dataset} direction={direction} row={row} version={version} />
          )}
        </Flex>
      ))}
    </Panel>
  );
}

type Asked = { dataset: string; version: string; column: string; direction: Direction };

function Columns({ dataset, version, column, direction }: Asked) {
  const { on } = usePage();
  const { data, error, refetch } = useQuery({
    queryKey: ["column", dataset, version, column, direction],
    queryFn: ({ signal }) =>
      get<ColumnLines>(
        `/datasets/${dataset}/columns`,
        { version, column: [column], direction, existence: "false" },
        signal,
      ),
  });
  if (error) return <Failed again={() => void refetch()} error={error} title="Could not load the columns" />;
  if (!data) return <Loading label="Loading the columns" lines={2} />;
  const itself = (line: ColumnLine) =>
    line.dataset.id === dataset && line.version === version && line.source_column === column;
  const lines = data.lines.filter((line) => line.source_column !== null && !itself(line));
  return (
    <>
      {lines.map((line) => (
        <Line
          key={`${line.dataset.id} ${line.version} ${line.occurrence} ${line.source_column} ${line.kind} ${line.dependence}`}
          onOpen={() => {
            on({ dataset: line.dataset.id, version: line.version, column: line.source_column });
          }}
          place={line.dataset}
          said={how(line)}
          text={line.source_column ?? ""}
        />
      ))}
      <End none={!lines.length} stops={data.stops.map((s) => s.why)} what="column" />
    </>
  );
}

function Cells({ dataset, version, column, direction, row }: Asked & { row: number }) {
  const { on } = usePage();
  const { data, error, refetch } = useQuery({
    queryKey: ["cell", dataset, version, column, direction, row],
    queryFn: ({ signal }) =>
      post<CellPage>("/cells", { dataset, version, rows: [row], columns: [column], direction, limit: 50 }, signal),
  });
  if (error) return <Failed again={() => void refetch()} error={error} title="Could not load the cells" />;
  if (!data) return <Loading label="Loading the cells" lines={2} />;
  const lines = data.lines.filter(
    (line) =>
      !(
        line.dataset.id === dataset &&
        line.version === version &&
        line.source_row === row &&
        line.source_column === column
      ),
  );
  return (
    <>
      {lines.map((line) => (
        <Line
          key={`${line.dataset.id} ${line.version} ${line.occurrence} ${line.source_row} ${line.source_column} ${line.kind} ${line.dependence}`}
          onOpen={() => {
            on({
              dataset: line.dataset.id,
              version: line.version,
              rows: [line.source_row],
              column: line.source_column,
            });
          }}
          place={line.dataset}
          said={how(line)}
          text={`${line.source_column ?? "row"}, row ${number(line.source_row)}`}
        />
      ))}
      {data.total > data.lines.length ? (
        <Text color="fg.muted" fontSize="xs">{`and ${number(data.total - data.lines.length)} more cells`}</Text>
      ) : null}
      <End none={!lines.length} stops={data.stops.map((s) => s.why)} what="cell" />
    </>
  );
}

function Line({ place, text, said, onOpen }: { place: Dataset; text: string; said: string; onOpen: () => void }) {
  return (
    <Box>
      <Button
        fontWeight="medium"
        h="auto"
        maxW="full"
        onClick={onOpen}
        overflow="hidden"
        p={0}
        size="sm"
        textOverflow="ellipsis"
        title={place.name}
        variant="plain"
        _hover={{ textDecoration: "underline" }}
      >{`${place.label} · ${text}`}</Button>
      <Text color="fg.muted" fontSize="xs">
        {said}
      </Text>
    </Box>
  );
}

function End({ none, stops, what }: { none: boolean; stops: string[]; what: string }) {
  return (
    <>
      {none && !stops.length ? <Text color="fg.muted" fontSize="sm">{`No known ${what}`}</Text> : null}
      {[...new Set(stops)].map((why) => (
        <Text color="orange.fg" fontSize="xs" key={why} overflowWrap="anywhere">
          {why}
        </Text>
      ))}
    </>
  );
}

function how({ dependence, kind, exact }: Pick<ColumnLine, "dependence" | "kind" | "exact">): string {
  return [dependence, kind === "context" ? "context" : "", exact ? "" : "may not apply"].filter(Boolean).join(" · ");
}
