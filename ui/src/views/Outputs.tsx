// The outputs of a DAG run, a task or a task instance, for Airflow's tabs.
import { Box, Button, Flex, HStack, Table, Text } from "@chakra-ui/react";
import { useQueries, useQuery } from "@tanstack/react-query";

import { get, type StepDetail, type StepPage } from "../api/client";
import type { Where } from "../App";
import { Coverage } from "../parts/Marks";
import { BrokenSteps, Failed, Loading, Nothing } from "../parts/States";
import { usePage } from "../state";
import { made, number, task, when } from "../words";

export function Outputs({ where }: { where: Where }) {
  const { open } = usePage();
  const steps = useQuery({
    queryKey: ["steps", where],
    queryFn: ({ signal }) =>
      get<StepPage>(
        "/steps",
        {
          dag_id: where.dagId,
          run_id: where.runId,
          task_id: where.taskId,
          map_index: where.mapIndex === undefined || Number.isNaN(Number(where.mapIndex)) ? null : where.mapIndex,
          limit: 50,
        },
        signal,
      ),
  });
  const details = useQueries({
    queries: (steps.data?.items ?? []).map((s) => ({
      queryKey: ["step", s.step],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        get<StepDetail>(`/steps/${encodeURIComponent(s.step)}`, {}, signal),
    })),
  });
  if (steps.error)
    return <Failed again={() => void steps.refetch()} error={steps.error} title="Could not load the steps" />;
  if (!steps.data) return <Loading label="Loading steps" lines={4} />;
  if (!steps.data.total) {
    return (
      <Flex direction="column" gap={4}>
        <BrokenSteps broken={steps.data.broken} />
        <Nothing title="No lineage was captured here">
          Outputs of ProvSparkOperator tasks appear here after the tasks have run.
        </Nothing>
      </Flex>
    );
  }
  return (
    <Flex direction="column" gap={4}>
      <BrokenSteps broken={steps.data.broken} />
      {steps.data.items.map((step, i) => {
        const detail = details[i]?.data;
        return (
          <Box borderColor="border" borderRadius="md" borderWidth={1} key={step.step} overflow="hidden">
            <HStack bg="bg.subtle" gap={3} px={3} py={2}>
              <Text fontWeight="semibold">{task(step)}</Text>
              {step.coverage === "exact" ? null : <Coverage value={step.coverage} />}
              <Text color="fg.muted" fontSize="sm">
                {step.run_id} · {when(step.started)}
                {step.try_number > 1 ? ` · try ${step.try_number}` : ""}
              </Text>
            </HStack>
            <Table.Root interactive size="sm" tableLayout="fixed">
              <Table.Body>
                {(detail?.writes ?? []).map((write) => (
                  <Table.Row key={write.index}>
                    <Table.Cell overflowWrap="anywhere" w="34%">
                      <Button
                        h="auto"
                        onClick={() => {
                          open({ dataset: write.output.id, version: write.output.version });
                        }}
                        p={0}
                        size="sm"
                        variant="plain"
                        _hover={{ textDecoration: "underline" }}
                      >
                        {write.output.label}
                      </Button>
                      <Text color="fg.muted" fontSize="xs">
                        {write.output.name}
                      </Text>
                    </Table.Cell>
                    <Table.Cell textAlign="end" w="22%">
                      {made(write.output.rows, write.written)}
                    </Table.Cell>
                    <Table.Cell color="fg.muted" w="26%">
                      from {write.inputs.map((v) => `${v.label} (${number(v.rows)})`).join(", ") || "no captured input"}
                    </Table.Cell>
                    <Table.Cell>
                      <Coverage value={write.coverage} />{" "}
                      <Text as="span" color="fg.muted" fontSize="xs">
                        {write.reason}
                      </Text>
                    </Table.Cell>
                  </Table.Row>
                ))}
              </Table.Body>
            </Table.Root>
          </Box>
        );
      })}
    </Flex>
  );
}
