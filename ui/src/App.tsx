// The page: its header, and the view that the URL selects.
import { Box, Button, Flex, Heading, HStack, Spacer, Text } from "@chakra-ui/react";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useEffect } from "react";

import { ApiError } from "./api/client";
import { Path } from "./parts/Path";
import { usePage } from "./state";
import { AsideView } from "./views/AsideView";
import { DatasetList } from "./views/DatasetList";
import { DatasetView } from "./views/DatasetView";
import { HappenedView } from "./views/HappenedView";
import { Outputs } from "./views/Outputs";
import { TraceView } from "./views/TraceView";

export type Where = { dagId?: string; runId?: string; taskId?: string; mapIndex?: string };
export type Theme = { dark: boolean; toggle: () => void };

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => !(error instanceof ApiError && error.status < 500) && failures < 2,
    },
  },
});

export function App({ theme, ...where }: Where & { theme?: Theme }) {
  return (
    <QueryClientProvider client={client}>
      <Page theme={theme} where={where} />
    </QueryClientProvider>
  );
}

function Page({ theme, where }: { theme?: Theme; where: Where }) {
  const { state, open } = usePage();
  const within = Boolean(where.dagId);
  useEffect(() => {
    const search = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
      if (within || event.key !== "/" || typing || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      if (state.dataset) open({});
      // Focus the field at once if it exists, so that it gets the next keystrokes.
      document.getElementById("provspark-search")?.focus();
      requestAnimationFrame(() => document.getElementById("provspark-search")?.focus());
    };
    window.addEventListener("keydown", search);
    return () => {
      window.removeEventListener("keydown", search);
    };
  }, [open, state.dataset, within]);

  return (
    <Flex
      as="section"
      aria-label="Provenance"
      data-testid="provspark"
      direction="column"
      gap={3}
      h="full"
      minH={0}
      p={theme ? 0 : 2}
    >
      <HStack gap={3} minH={9} flexShrink={0}>
        {within ? null : (
          <Heading as="h1" size="xl" whiteSpace="nowrap">
            Provenance
          </Heading>
        )}
        <Path root={within ? "Outputs" : "Datasets"} />
        <Spacer />
        <Text color="fg.muted" fontSize="xs" hideBelow="lg" whiteSpace="nowrap">
          {within ? null : (
            <>
              <Key>/</Key> search ·{" "}
            </>
          )}
          <Key>↑↓</Key> move · <Key>Space</Key> select · <Key>Enter</Key> trace · <Key>M</Key> menu
        </Text>
        {theme ? (
          <Button
            aria-label={theme.dark ? "Switch to light mode" : "Switch to dark mode"}
            onClick={theme.toggle}
            size="xs"
            variant="ghost"
          >
            {theme.dark ? "☀" : "☾"}
          </Button>
        ) : null}
      </HStack>
      <Box flex={1} minH={0}>
        {!state.dataset ? (
          within ? (
            <Outputs where={where} />
          ) : (
            <DatasetList />
          )
        ) : !state.way ? (
          <DatasetView />
        ) : state.way === "backward" || state.way === "forward" ? (
          <TraceView />
        ) : state.way === "happened" ? (
          <HappenedView />
        ) : (
          <AsideView way={state.way} />
        )}
      </Box>
    </Flex>
  );
}

function Key({ children }: { children: string }) {
  return (
    <Text as="kbd" borderColor="border" borderRadius="sm" borderWidth={1} fontFamily="mono" px={1}>
      {children}
    </Text>
  );
}
