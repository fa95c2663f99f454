// The operations of a step in order, with script lines, rows in and out, and the columns that they used.
import { Box, Flex, HStack, Text } from "@chakra-ui/react";
import type { UseQueryResult } from "@tanstack/react-query";

import type { Operation } from "../api/client";
import { number } from "../words";
import { Failed, Loading } from "./States";

export function Operations({ query }: { query: UseQueryResult<Operation[]> }) {
  if (query.error)
    return <Failed again={() => void query.refetch()} error={query.error} title="Could not load the operations" />;
  if (!query.data) return <Loading label="Loading the operations" lines={4} />;
  return (
    <Flex as="ol" direction="column" gap={2} listStyleType="none" m={0} p={0}>
      {query.data.map((operation) => (
        <Box
          as="li"
          borderColor="border"
          borderLeftWidth={2}
          key={`${operation.write} ${operation.operations.join()}`}
          pl={3}
        >
          <HStack align="start" gap={2}>
            <Text flex={1} fontSize="sm" fontWeight="medium" overflowWrap="anywhere">
              {operation.name || operation.category.join(", ")}
            </Text>
            <Text color="fg.muted" flexShrink={0} fontSize="xs" fontVariantNumeric="tabular-nums">
              {flow(operation)}
            </Text>
          </HStack>
          <Text
            fontFamily="mono"
            fontSize="xs"
            lineClamp={6}
            overflowWrap="anywhere"
            title={operation.text ?? undefined}
          >
            {operation.text ?? "text hidden: it may contain masked values"}
          </Text>
          <Text color="fg.muted" fontSize="xs" overflowWrap="anywhere">
            {[
              operation.site,
              listed("reads", operation.reads),
              listed("makes", operation.makes),
              listed("drops", operation.drops),
            ]
              .filter(Boolean)
              .join(" · ")}
          </Text>
        </Box>
      ))}
    </Flex>
  );
}

function flow({ rows_in, rows_out }: Operation): string {
  if (rows_in === null && rows_out === null) return "";
  const said = (rows: number | null) => (rows === null ? "?" : number(rows));
  return rows_in === null ? `${said(rows_out)} rows` : `${said(rows_in)} → ${said(rows_out)} rows`;
}

function listed(verb: string, columns: string[]): string {
  if (!columns.length) return "";
  return `${verb} ${columns.slice(0, 6).join(", ")}${columns.length > 6 ? ` and ${columns.length - 6} more` : ""}`;
}
