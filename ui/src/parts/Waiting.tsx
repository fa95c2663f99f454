// A question that may take long: what is going on, for how long, and a way to end it.
import { Button, Flex, Text } from "@chakra-ui/react";
import { useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { Failed, Loading, Nothing } from "./States";

const SOON = 1000;

type Props = { query: UseQueryResult; queryKey: readonly unknown[]; label: string; failed: string; lines?: number };

export function Waiting({ query, queryKey, label, failed, lines }: Props) {
  const client = useQueryClient();
  const [passed, setPassed] = useState(0);
  const running = query.fetchStatus === "fetching";
  useEffect(() => {
    if (!running) return;
    const began = Date.now();
    setPassed(0);
    const timer = setInterval(() => { setPassed(Date.now() - began); }, 500);
    return () => { clearInterval(timer); };
  }, [running]);
  if (query.error) return <Failed again={() => void query.refetch()} error={query.error} title={failed} />;
  if (!running) {
    return (
      <Nothing title="You ended this question">
        <Button mt={2} onClick={() => void query.refetch()} size="xs" variant="outline">Ask again</Button>
      </Nothing>
    );
  }
  return (
    <Flex direction="column" gap={3}>
      {passed < SOON ? null : (
        <Flex align="center" gap={3}>
          <Text aria-live="polite" color="fg.muted" fontSize="sm" fontVariantNumeric="tabular-nums">{`${label} · ${Math.floor(passed / 1000)} s`}</Text>
          <Button onClick={() => void client.cancelQueries({ queryKey })} size="xs" variant="outline">Cancel</Button>
        </Flex>
      )}
      <Loading label={label} lines={lines} />
    </Flex>
  );
}
