// A slow request: its progress, its duration and a button to cancel it.
import { Button, Flex, Progress, Text } from "@chakra-ui/react";
import { useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { useProgress } from "../progress";
import { number } from "../words";
import { Failed, Loading, Nothing } from "./States";

const SOON = 1000;

type Props = { query: UseQueryResult; queryKey: readonly unknown[]; label: string; failed: string; lines?: number };

function far({ what, done, total }: { what: string; done: number; total: number }): string {
  return total ? `${what}: ${number(done)} of ${number(total)}` : what;
}

export function Waiting({ query, queryKey, label, failed, lines }: Props) {
  const client = useQueryClient();
  const [passed, setPassed] = useState(0);
  const progress = useProgress(queryKey);
  const running = query.fetchStatus === "fetching";
  useEffect(() => {
    if (!running) return;
    const began = Date.now();
    setPassed(0);
    const timer = setInterval(() => {
      setPassed(Date.now() - began);
    }, 500);
    return () => {
      clearInterval(timer);
    };
  }, [running]);
  if (query.error) return <Failed again={() => void query.refetch()} error={query.error} title={failed} />;
  if (!running) {
    return (
      <Nothing title="You cancelled this query">
        <Button mt={2} onClick={() => void query.refetch()} size="xs" variant="outline">
          Run again
        </Button>
      </Nothing>
    );
  }
  return (
    <Flex direction="column" gap={3}>
      {passed < SOON ? null : (
        <Flex align="center" gap={3}>
          <Text aria-live="polite" color="fg.muted" fontSize="sm" fontVariantNumeric="tabular-nums">
            {[label, progress?.what && far(progress), `${Math.floor(passed / 1000)} s`].filter(Boolean).join(" · ")}
          </Text>
          {progress?.total ? (
            <Progress.Root
              aria-label={label}
              max={progress.total}
              size="xs"
              value={Math.min(progress.done, progress.total)}
              w="12rem"
            >
              <Progress.Track>
                <Progress.Range />
              </Progress.Track>
            </Progress.Root>
          ) : null}
          <Button onClick={() => void client.cancelQueries({ queryKey })} size="xs" variant="outline">
            Cancel
          </Button>
        </Flex>
      )}
      <Loading label={label} lines={lines} />
    </Flex>
  );
}
