// What stands where there is nothing yet, nothing at all, or an error.
import { Alert, Box, Button, Code, EmptyState, Skeleton, Stack } from "@chakra-ui/react";

import { ApiError } from "../api/client";

export function Failed({ error, again, title }: { error: Error; again?: () => void; title: string }) {
  const status = error instanceof ApiError ? error.status : 0;
  const what = status === 401 ? "You are logged out. Load the page again to log in." : error.message;
  return (
    <Alert.Root role="alert" status={status === 403 || status === 404 ? "warning" : "error"} size="sm">
      <Alert.Indicator />
      <Alert.Content>
        <Alert.Title>{title}</Alert.Title>
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
      Put <Code>ProvSparkOperator</Code> where <Code>SparkSubmitOperator</Code> stands, and run the DAG:
      <Box as="pre" bg="bg.muted" borderRadius="md" fontSize="xs" mt={3} p={3} textAlign="left" whiteSpace="pre-wrap">
        {`from provspark.operators.spark import ProvSparkOperator

clean = ProvSparkOperator(task_id="clean", application="/jobs/clean.py", prov_store="file:///data/prov")`}
      </Box>
      You see the data sets of the DAGs that you may read.
    </Nothing>
  );
}
