// Endings of a trace: steps that read rows and did not keep all of them, with a button to find the operation.
import { Button, Flex, Stack, Text } from "@chakra-ui/react";
import { useState } from "react";

import type { Ending, Trace } from "../api/client";
import type { Place } from "../state";
import { count, number, task } from "../words";

const SHOWN = 3;

type Props = { trace: Trace; onOperation: (place: Partial<Place>) => void };

export function Endings({ trace, onOperation }: Props) {
  const [all, show] = useState(false);
  const sorted = [...trace.endings].sort((a, b) => Math.sign(a.kept) - Math.sign(b.kept));
  const shown = all ? sorted : sorted.slice(0, SHOWN);
  const ask = ({ step, node, ended }: Ending) => {
    const source = trace.nodes[node];
    if (source)
      onOperation({ dataset: source.dataset.id, version: source.version, rows: ended, way: "happened", at: step });
  };
  return (
    <Stack
      aria-label="Steps that did not keep all rows"
      as="ul"
      flexShrink={0}
      fontSize="sm"
      gap={1}
      listStyleType="none"
      maxH="8rem"
      overflow="auto"
      role="list"
      tabIndex={all ? 0 : undefined}
    >
      {shown.map((ending) => (
        <Flex align="center" as="li" columnGap={2} key={`${ending.step} ${ending.write} ${ending.node}`} wrap="wrap">
          <Text overflowWrap="anywhere">{sentence(trace, ending)}</Text>
          <Button
            onClick={() => {
              ask(ending);
            }}
            size="2xs"
            title={asks(ending)}
            variant="outline"
          >
            Find the operation
          </Button>
        </Flex>
      ))}
      {sorted.length > shown.length ? (
        <Flex as="li">
          <Button
            onClick={() => {
              show(true);
            }}
            size="2xs"
            variant="ghost"
          >
            Show {number(sorted.length - shown.length)} more
          </Button>
        </Flex>
      ) : null}
    </Stack>
  );
}

function sentence(trace: Trace, { step, write, dataset, node, read, kept, context }: Ending): string {
  const about = trace.steps.find((s) => s.step === step);
  const writes = [...trace.endings, ...trace.edges.filter((e) => !e.read)]
    .filter((x) => x.step === step)
    .map((x) => x.write);
  const into = writes.some((w) => w !== write) ? ` in ${dataset.label}` : "";
  const source = trace.nodes[node]?.dataset.label ?? "";
  const said = `${about ? task(about) : step} read ${count(read)} of ${source} and kept ${kept ? number(kept) : "none"}${into}.`;
  if (!context) return said;
  const lost = read - kept;
  const which =
    context < lost
      ? `${number(context)} of the ${count(lost)} not kept`
      : lost === 1
        ? "The row not kept"
        : `The ${count(lost)} not kept`;
  return `${said} ${which} ${context === 1 ? "was" : "were"} used to compute values of the output (context).`;
}

function asks({ read, kept, ended }: Ending): string {
  const lost = read - kept;
  const which =
    ended.length < lost
      ? `the first ${number(ended.length)} of the ${count(lost)}`
      : lost === 1
        ? "the row"
        : `the ${count(lost)}`;
  return `Replays this step for ${which} that it did not keep, to find the operation that dropped ${ended.length === 1 ? "it" : "them"}. Starts Spark.`;
}
