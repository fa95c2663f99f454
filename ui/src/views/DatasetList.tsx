// The list of datasets, with a search by name.
import { Box, Button, Flex, Input, Table, Text } from "@chakra-ui/react";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { get, type DatasetPage } from "../api/client";
import { Coverage, Role } from "../parts/Marks";
import { BrokenSteps, Failed, FirstTrace, Loading, Nothing } from "../parts/States";
import { usePage } from "../state";
import { count, number } from "../words";

export function DatasetList() {
  const { state, go, open } = usePage();
  const [text, setText] = useState(state.search);
  // Searches on their way into the URL: on a slow machine they come back late, and must not overwrite newer input.
  const sent = useRef<string[]>([]);
  useEffect(() => {
    const mine = sent.current.indexOf(state.search);
    sent.current = mine < 0 ? [] : sent.current.slice(mine + 1);
    if (mine < 0) setText(state.search);
  }, [state.search]);
  useEffect(() => {
    const timer = setTimeout(() => {
      if (text === (sent.current.at(-1) ?? state.search)) return;
      sent.current.push(text);
      go({ search: text }, true);
    }, 200);
    return () => {
      clearTimeout(timer);
    };
  }, [go, state.search, text]);

  const { data, error, refetch, fetchNextPage, hasNextPage } = useInfiniteQuery({
    queryKey: ["datasets", state.search],
    queryFn: ({ pageParam, signal }) =>
      get<DatasetPage>("/datasets", { search: state.search, cursor: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
  });
  const items = data?.pages.flatMap((page) => page.items) ?? [];
  const total = data?.pages[0]?.total ?? 0;

  return (
    <Flex direction="column" gap={3} h="full" minH={0}>
      <Flex align="center" gap={3}>
        <Input
          aria-label="Search datasets"
          id="provspark-search"
          maxW="28rem"
          onChange={(event) => {
            setText(event.target.value);
          }}
          onKeyDown={(event) => {
            const first = items[0];
            if (event.key === "Enter" && first) open({ dataset: first.id });
            if (event.key === "Escape") setText("");
          }}
          placeholder="Search datasets by name"
          size="sm"
          type="search"
          value={text}
        />
        <Text aria-live="polite" color="fg.muted" fontSize="sm">
          {data ? count(total, "dataset") : ""}
        </Text>
      </Flex>
      {error ? <Failed again={() => void refetch()} error={error} title="Could not load the datasets" /> : null}
      <BrokenSteps broken={data?.pages[0]?.broken} />
      {!data && !error ? <Loading label="Loading datasets" /> : null}
      {data && !total ? (
        state.search ? (
          <Nothing title={`No dataset matches “${state.search}”`}>
            A name must contain all words of the search. Try fewer words or letters.
          </Nothing>
        ) : data.pages[0]?.broken?.length ? (
          <Nothing title="No step can be read" />
        ) : (
          <FirstTrace />
        )
      ) : null}
      {total ? (
        <Box borderColor="border" borderRadius="md" borderWidth={1} minH={0} overflow="auto">
          <Table.Root interactive size="sm" stickyHeader>
            <Table.Header>
              <Table.Row bg="bg.subtle">
                <Table.ColumnHeader>Dataset</Table.ColumnHeader>
                <Table.ColumnHeader textAlign="end">Rows</Table.ColumnHeader>
                <Table.ColumnHeader textAlign="end">Columns</Table.ColumnHeader>
                <Table.ColumnHeader textAlign="end">Versions</Table.ColumnHeader>
                <Table.ColumnHeader>Type</Table.ColumnHeader>
                <Table.ColumnHeader>Coverage</Table.ColumnHeader>
              </Table.Row>
            </Table.Header>
            <Table.Body>
              {items.map((d) => (
                <Table.Row
                  cursor="pointer"
                  key={d.id}
                  onClick={() => {
                    open({ dataset: d.id });
                  }}
                >
                  <Table.Cell maxW="40rem">
                    <Button
                      h="auto"
                      fontWeight="semibold"
                      onClick={(event) => {
                        event.stopPropagation();
                        open({ dataset: d.id });
                      }}
                      p={0}
                      size="sm"
                      variant="plain"
                      _hover={{ textDecoration: "underline" }}
                    >
                      {d.label}
                    </Button>
                    <Text
                      color="fg.muted"
                      fontSize="xs"
                      overflow="hidden"
                      textOverflow="ellipsis"
                      title={d.name}
                      whiteSpace="nowrap"
                    >
                      {d.name}
                    </Text>
                  </Table.Cell>
                  <Table.Cell fontVariantNumeric="tabular-nums" textAlign="end">
                    {number(d.rows)}
                  </Table.Cell>
                  <Table.Cell fontVariantNumeric="tabular-nums" textAlign="end">
                    {number(d.columns)}
                  </Table.Cell>
                  <Table.Cell fontVariantNumeric="tabular-nums" textAlign="end">
                    {number(d.versions)}
                  </Table.Cell>
                  <Table.Cell>
                    <Role value={d.role} />
                  </Table.Cell>
                  <Table.Cell>
                    <Coverage value={d.coverage} />
                  </Table.Cell>
                </Table.Row>
              ))}
            </Table.Body>
          </Table.Root>
          {hasNextPage ? (
            <Button m={2} onClick={() => void fetchNextPage()} size="xs" variant="outline">
              Load more
            </Button>
          ) : null}
        </Box>
      ) : null}
    </Flex>
  );
}
