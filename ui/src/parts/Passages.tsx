// Rows on their path through steps: what each operation changed, and where rows ended.
import { Badge, Box, Button, Flex, Heading, HStack, Text } from "@chakra-ui/react";

import type { Passage, ReplayStage } from "../api/client";
import { usePage } from "../state";
import { count, number, task } from "../words";
import { StageTable, touched } from "./StageTable";

const NO_TEXT = "text hidden: it may contain masked values";

export function Passages({ passages, every }: { passages: Passage[]; every: boolean }) {
  return (
    <Flex direction="column" gap={5}>
      {passages.map((passage) => (
        <One every={every} key={`${passage.step.step} ${passage.write}`} passage={passage} />
      ))}
    </Flex>
  );
}

function One({ passage, every }: { passage: Passage; every: boolean }) {
  const { on } = usePage();
  const stages = new Map(passage.stages.map((s) => [s.operation, s]));
  const last = passage.stages.at(-1);
  return (
    <Box
      as="section"
      aria-label={`${passage.dataset.label}, written by ${task(passage.step)}`}
      borderColor="border"
      borderRadius="md"
      borderWidth={1}
      p={4}
    >
      <HStack gap={2} mb={3} wrap="wrap">
        <Heading
          as="h3"
          overflowWrap="anywhere"
          size="sm"
          title={passage.step.step}
        >{`${task(passage.step)} → ${passage.dataset.label}`}</Heading>
        {passage.verified ? (
          <Badge colorPalette="green" size="sm" title="The rows after the last operation equal the stored rows.">
            matches the stored rows
          </Badge>
        ) : null}
        {passage.doubt ? (
          <Text color="orange.fg" fontSize="xs">
            {passage.doubt}
          </Text>
        ) : null}
        {passage.results.length ? (
          <Button
            fontWeight="normal"
            h="auto"
            ms="auto"
            onClick={() => {
              on({ dataset: passage.dataset.id, rows: passage.results });
            }}
            p={0}
            size="xs"
            variant="plain"
            _hover={{ textDecoration: "underline" }}
          >
            {`${count(passage.results.length)} of ${passage.dataset.label} →`}
          </Button>
        ) : null}
      </HStack>
      {passage.why ? (
        <Text color="orange.fg" fontSize="sm">
          {passage.why}
        </Text>
      ) : null}
      <Flex as="ol" direction="column" gap={1.5} listStyleType="none" m={0} p={0}>
        {gathered(passage.stages, stages, every).map((group) => {
          const shown = group.map((stage) => (
            <Stage every={every} key={stage.operation} last={stage === last} stage={stage} stages={stages} />
          ));
          return group.length < FEW ? (
            shown
          ) : (
            <Box as="li" key={group[0]?.operation}>
              <Box as="details" fontSize="xs">
                <Box
                  as="summary"
                  color="fg.muted"
                  cursor="pointer"
                  ps={3}
                >{`${number(group.length)} operations that left ${count(group.at(-1)?.lines.length ?? 0)} unchanged: ${group[0]?.text?.slice(0, 60) ?? ""} …`}</Box>
                <Flex as="ol" direction="column" gap={1.5} listStyleType="none" m={0} p={0} pt={1.5}>
                  {shown}
                </Flex>
              </Box>
            </Box>
          );
        })}
        {passage.endings.map((end) => (
          <Box
            as="li"
            bg="red.subtle"
            borderColor="red.solid"
            borderLeftWidth={3}
            borderRadius="sm"
            key={`${end.operation} ${end.before} ${end.cause}`}
            px={3}
            py={2}
          >
            <Text color="red.fg" fontSize="sm" fontWeight="medium">
              {`${count(end.lines.length)} ended here: ${CAUSES[end.cause] ?? end.cause}`}
              {end.whole ? "" : ", but other rows made from the same source rows continued"}
            </Text>
            <Text fontFamily="mono" fontSize="xs" lineClamp={6} overflowWrap="anywhere">
              {end.text ?? NO_TEXT}
            </Text>
            <Text color="fg.muted" fontSize="xs">
              {end.site}
            </Text>
          </Box>
        ))}
      </Flex>
      {passage.notes.map((note) => (
        <Text color="orange.fg" fontSize="xs" key={note} mt={2} overflowWrap="anywhere">
          {note}
        </Text>
      ))}
    </Box>
  );
}

const FEW = 4;

const CAUSES: Record<string, string> = {
  condition: "the condition does not hold",
  "no partner": "no row on the other side of the join matches",
  "has a partner": "a row on the other side of the join matches",
  "only decides": "rows on this side of the join only filter the other side",
  limit: "other rows reached the limit first",
  duplicate: "another row with the same keys was kept",
  "nothing to explode": "its array or map is empty",
  "set operator": "the set operation excludes it",
};

// Groups consecutive operations that changed nothing; the others are alone.
function gathered(all: ReplayStage[], stages: Map<number, ReplayStage>, every: boolean): ReplayStage[][] {
  const out: ReplayStage[][] = [];
  let calm = false;
  for (const stage of all) {
    const still =
      !every && stage !== all.at(-1) && stage.lines.some((line) => line.parents.length) && !touched(stage, stages).size;
    if (still && calm) out.at(-1)?.push(stage);
    else out.push([stage]);
    calm = still;
  }
  return out;
}

type StageProps = { stage: ReplayStage; stages: Map<number, ReplayStage>; every: boolean; last: boolean };

function Stage({ stage, stages, every, last }: StageProps) {
  const first = stage.lines.every((line) => !line.parents.length);
  const names = touched(stage, stages);
  const whole = every || first || last;
  const calm = !whole && !names.size;
  return (
    <Box
      as="li"
      borderColor={calm ? "border.muted" : names.size ? "orange.solid" : "border.emphasized"}
      borderLeftWidth={3}
      pl={3}
      py={calm ? 0 : 1}
    >
      <HStack align="start" gap={3}>
        <Text
          color={calm ? "fg.muted" : "fg"}
          flex={1}
          fontSize={calm ? "xs" : "sm"}
          fontWeight={calm ? "normal" : "medium"}
          lineClamp={calm ? 1 : 4}
          minW={0}
          overflowWrap="anywhere"
          title={stage.text ?? undefined}
        >
          {stage.text ?? NO_TEXT}
        </Text>
        <Text color="fg.muted" flexShrink={0} fontSize="xs" maxW="14rem" truncate title={stage.site}>
          {stage.site.split("/").at(-1)}
        </Text>
        <Text
          color="fg.muted"
          flexShrink={0}
          fontSize="xs"
          fontVariantNumeric="tabular-nums"
          minW="4.5rem"
          textAlign="end"
        >{`${count(stage.lines.length)}${stage.cut ? " and more" : ""}`}</Text>
      </HStack>
      {calm ? null : <StageTable every={whole} names={names} stage={stage} stages={stages} />}
    </Box>
  );
}
