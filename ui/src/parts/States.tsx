// Placeholders: loading, empty, and errors.
import { Alert, Box, Button, Code, EmptyState, Skeleton, Stack } from "@chakra-ui/react";

import { ApiError, type Broken } from "../api/client";
import { count } from "../words";

// Titles for errors of the store or catalogue as a whole; the server's message says what to do.
const STATES: Record<string, string> = {
  "store-unreachable": "The store does not answer",
  "store-access-denied": "No access to the store",
  "store-missing": "There is no store",
  "catalogue-unreachable": "The catalogue does not answer",
  "catalogue-access-denied": "No access to the catalogue",
  "catalogue-missing": "There is no catalogue",
};

export function Failed({ error, again, title }: { error: Error; again?: () => void; title: string }) {
  const state = error instanceof ApiError ? STATES[error.type.replace("urn:provspark:", "")] : undefined;
  const status = error instanceof ApiError ? error.status : 0;
  const what = status === 401 ? "You are logged out. Load the page again to log in." : error.message;
  return (
    <Alert.Root role="alert" status={status === 403 || status === 404 ? "warning" : "error"} size="sm">
      <Alert.Indicator />
      <Alert.Content>
        <Alert.Title>{state ?? title}</Alert.Title>
        <Alert.Description overflowWrap="anywhere">{what}</Alert.Description>
      </Alert.Content>
      {again ? (
        <Button onClick={again} size="xs" variant="outline">
          Try again
        </Button>
      ) : null}
    </Alert.Root>
  );
}

const NAMED = 3;

// Steps that can't be read, which the view leaves out.
export function BrokenSteps({ broken }: { broken: Broken[] | undefined }) {
  if (!broken?.length) return null;
  return (
    <Alert.Root flexShrink={0} role="status" size="sm" status="warning">
      <Alert.Indicator />
      <Alert.Content>
        <Alert.Title>
          {broken.length === 1
            ? "A step can't be read, so this may be incomplete"
            : `${count(broken.length, "step")} can't be read, so this may be incomplete`}
        </Alert.Title>
        <Alert.Description as="div" overflowWrap="anywhere">
          {broken.slice(0, NAMED).map((b) => (
            <Box key={`${b.file ?? ""} ${b.why}`}>
              {b.file ? (
                <>
                  <Code size="xs">{b.file}</Code>
                  {": "}
                </>
              ) : null}
              {b.why}. {b.advice}
            </Box>
          ))}
          {broken.length > NAMED
            ? `And ${count(broken.length - NAMED, "more step")}: \`provspark ls\` and the server's log name them.`
            : null}
        </Alert.Description>
      </Alert.Content>
    </Alert.Root>
  );
}

export function Loading({ lines = 8, label }: { lines?: number; label: string }) {
  return (
    <Stack aria-busy="true" aria-label={label} gap={2} role="status">
      {Array.from({ length: lines }, (_, i) => (
        <Skeleton h={6} key={i} opacity={1 - i / (lines + 2)} />
      ))}
    </Stack>
  );
}

export function Nothing({ title, children }: { title: string; children?: React.ReactNode }) {
  return (
    <EmptyState.Root size="sm">
      <EmptyState.Content>
        <EmptyState.Title>{title}</EmptyState.Title>
        <EmptyState.Description as="div" maxW="42rem" textAlign="center">
          {children}
        </EmptyState.Description>
      </EmptyState.Content>
    </EmptyState.Root>
  );
}

export function FirstTrace() {
  return (
    <Nothing title="No lineage yet">
      Replace <Code>SparkSubmitOperator</Code> by <Code>ProvSparkOperator</Code> in a DAG, and run the DAG:
      <Box as="pre" bg="bg.muted" borderRadius="md" fontSize="xs" mt={3} p={3} textAlign="left" whiteSpace="pre-wrap">
        {`from provspark.operators.spark import ProvSparkOperator

clean = ProvSparkOperator(task_id="clean", application="/jobs/clean.py", prov_store="file:///data/prov")`}
      </Box>
      This page shows the datasets of the DAGs that you may read.
    </Nothing>
  );
}
