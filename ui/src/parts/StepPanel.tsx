// The panel of a step, beside the graph.
import { Box, Button, CloseButton, DataList, Flex, Heading, HStack, Link, Tabs, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { get, pageUrl, type About, type Operation, type StepDetail } from "../api/client";
import { stepPython } from "../copy";
import { usePage } from "../state";
import { made, number, task, when } from "../words";
import { Coverage } from "./Marks";
import { Matrices } from "./Matrix";
import { Operations } from "./Operations";
import { Panel } from "./Panel";
import { ProfilePanel } from "./ProfilePanel";
import { Failed, Loading } from "./States";
import { copyText, Take } from "./Take";

const TABS = { operations: "Operations", columns: "Columns", values: "Values", run: "Run" };
type Tab = keyof typeof TABS;

type Props = { step: string; onClose: () => void; onHappened: (() => void) | undefined };

export function StepPanel({ step, onClose, onHappened }: Props) {
  const about = useQuery({ queryKey: ["about"], queryFn: ({ signal }) => get<About>("/about", {}, signal) });
  const { data, error } = useQuery({
    queryKey: ["step", step],
    queryFn: ({ signal }) => get<StepDetail>(`/steps/${encodeURIComponent(step)}`, {}, signal),
  });
  const operations = useQuery({
    queryKey: ["operations", step],
    queryFn: ({ signal }) => get<Operation[]>(`/steps/${encodeURIComponent(step)}/operations`, {}, signal),
  });
  const { state, go } = usePage();
  const panel = useRef<HTMLDivElement>(null);
  // If it was opened by keyboard, move the focus here; Escape returns to the graph.
  useEffect(() => {
    if (document.activeElement?.closest(".react-flow__node")) panel.current?.focus();
  }, [step]);
  const tabs: Tab[] = [
    ...(operations.data?.length || operations.error ? (["operations", "columns"] as const) : []),
    ...(about.data?.values && data?.writes.some((w) => w.inputs.length) ? (["values"] as const) : []),
    "run",
  ];
  const tab = tabs.find((one) => one === state.tab) ?? tabs[0] ?? "run";
  return (
    <Panel label="Step" ref={panel}>
      <HStack>
        <Heading as="h3" flex={1} size="md">
          {data ? task(data) : "Step"}
        </Heading>
        <Coverage value={data?.coverage ?? null} />
        {data?.dag_id && about.data?.airflow ? (
          <Link colorPalette="blue" fontSize="sm" href={taskUrl(data)}>
            Task instance in Airflow
          </Link>
        ) : null}
        <CloseButton aria-label="Close the step" onClick={onClose} size="xs" />
      </HStack>
      {error ? <Failed error={error} title="Could not load the step" /> : null}
      {!data && !error ? <Loading label="Loading the step" lines={5} /> : null}
      {data ? (
        <>
          {data.untracked.map((why) => (
            <Text color="red.fg" fontSize="sm" key={why}>
              {why}
            </Text>
          ))}
          {data.error ? (
            <Text color="red.fg" fontFamily="mono" fontSize="xs" whiteSpace="pre-wrap">
              {data.error}
            </Text>
          ) : null}
          {data.writes.map((write) => (
            <Box key={write.index}>
              <HStack>
                <Text fontSize="sm" fontWeight="semibold">{`writes ${write.output.label}`}</Text>
                {write.coverage === data.coverage ? null : <Coverage value={write.coverage} />}
              </HStack>
              <Text
                color="fg.muted"
                fontSize="sm"
              >{`${made(write.output.rows, write.written)}, from ${write.inputs.map((v) => `${number(v.rows)} of ${v.label}`).join(" and ") || "no captured input"}`}</Text>
              {write.site ? (
                <Text color="fg.muted" fontFamily="mono" fontSize="xs">
                  {write.site}
                </Text>
              ) : null}
              {write.reason ? (
                <Text color="orange.fg" fontSize="sm">
                  {write.reason}
                </Text>
              ) : null}
            </Box>
          ))}
          <Tabs.Root
            lazyMount
            onValueChange={({ value }) => {
              go({ tab: value }, true);
            }}
            size="sm"
            value={tab}
            variant="line"
          >
            <Tabs.List>
              {tabs.map((one) => (
                <Tabs.Trigger key={one} px={2} value={one}>
                  {TABS[one]}
                </Tabs.Trigger>
              ))}
            </Tabs.List>
            <Tabs.Content value="operations">
              {onHappened ? (
                <Button mb={3} onClick={onHappened} size="xs" variant="outline">
                  What each operation did to the selected rows
                </Button>
              ) : null}
              <Operations query={operations} />
            </Tabs.Content>
            <Tabs.Content value="columns">
              <Flex direction="column" gap={3}>
                {data.writes.map((write) => (
                  <Matrices key={write.index} write={write} />
                ))}
              </Flex>
            </Tabs.Content>
            <Tabs.Content value="values">
              <ProfilePanel step={step} writes={data.writes} />
            </Tabs.Content>
            <Tabs.Content value="run">
              <Run data={data} />
            </Tabs.Content>
          </Tabs.Root>
        </>
      ) : null}
    </Panel>
  );
}

function Run({ data }: { data: StepDetail }) {
  return (
    <DataList.Root orientation="horizontal" size="sm">
      {data.dag_id ? <Fact name="DAG">{data.dag_id}</Fact> : null}
      <Fact name="Run">{data.run_id || "command line"}</Fact>
      <Fact name="Try number">{String(data.try_number)}</Fact>
      <Fact name="Ended">{`${when(data.ended)}, ${data.status}`}</Fact>
      <Fact name="Lineage size">{`${number(data.stored_bytes)} bytes`}</Fact>
      {Object.entries(data.engine).map(([name, value]) => (
        <Fact key={name} name={name}>
          {value}
        </Fact>
      ))}
      <Box pt={1}>
        <Take
          items={[
            { label: "Copy as Python", act: () => copyText(stepPython(data.step)) },
            { label: "Copy as command", act: () => copyText(`provspark show ${data.step}`) },
          ]}
        />
      </Box>
    </DataList.Root>
  );
}

function Fact({ name, children }: { name: string; children: string }) {
  return (
    <DataList.Item>
      <DataList.ItemLabel minW="5rem">{name}</DataList.ItemLabel>
      <DataList.ItemValue overflowWrap="anywhere">{children}</DataList.ItemValue>
    </DataList.Item>
  );
}

function taskUrl(step: StepDetail): string {
  const mapped = step.map_index >= 0 ? `/mapped/${step.map_index}` : "";
  return pageUrl(
    `dags/${encodeURIComponent(step.dag_id)}/runs/${encodeURIComponent(step.run_id)}/tasks/${encodeURIComponent(step.task_id)}${mapped}`,
  );
}
