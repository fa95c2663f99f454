// Rows used together with the selected rows, or that share a source row with them: one table per version of their dataset.
import { Button, Flex, Heading, HStack, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";

import { post, type Dataset, type Found, type Rows } from "../api/client";
import { selection, usePage } from "../state";
import { number, share } from "../words";
import { RowsTable } from "./RowsTable";
import { Failed, Loading, Nothing } from "./States";
import { useFirstPage, type Load } from "./useFirstPage";
import { Waiting } from "./Waiting";

type Props = { way: "co_contributory" | "co_dependency"; to: Dataset; through: Dataset | undefined };

export function useFound({ way, to, through }: Props, enabled = true) {
  const { state } = usePage();
  const asked = useMemo(
    () => ({ ...selection(state), to: to.id, via: through?.id ?? null, context: state.context }),
    [state, through?.id, to.id],
  );
  const key = [way, JSON.stringify(asked)];
  const answer = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => post<Found[]>(`/${way}`, asked, signal, key),
    enabled,
  });
  const met = answer.data?.filter((f) => f.rows > 0) ?? [];
  const found =
    met.find((f) => f.version.startsWith(state.at ?? "-")) ?? met.filter((f) => !f.gone).at(-1) ?? met.at(-1);
  return { asked, key, answer, met, found };
}

export function FoundRows({ way, to, through }: Props) {
  const { state, go, on } = usePage();
  const { asked, key, answer, met, found } = useFound({ way, to, through });
  const version = found?.version;
  const load = useCallback<Load>(
    (cursor, limit, columns, signal) =>
      post<Rows>(`/${way}/rows`, { ...asked, answer_version: version, cursor, limit, columns }, signal),
    [asked, version, way],
  );
  const name = [...key, version];
  const first = useFirstPage(name, load, found?.columns ?? 0, Boolean(version));
  if (!answer.data)
    return <Waiting failed="Could not find the rows" label="Finding the rows" query={answer} queryKey={key} />;
  const how =
    way === "co_contributory"
      ? `were used together with ${them(state.rows.length)}`
      : `share a row of ${through?.label ?? ""} with ${them(state.rows.length)}`;
  if (!found) {
    return (
      <Nothing
        title={`No row of ${to.label} was found`}
      >{`None ${way === "co_contributory" ? "was" : "shares"} ${how.replace(/^\w+ /, "")}.`}</Nothing>
    );
  }
  return (
    <Flex direction="column" gap={2} h="full" minH={0}>
      <Flex align="center" columnGap={2} minH={6} wrap="wrap">
        <Heading as="h2" maxW="16rem" size="sm" truncate title={to.name}>
          {to.label}
        </Heading>
        <Text
          color="fg.muted"
          flex={1}
          fontSize="sm"
        >{`${share(found.rows, found.total)} rows ${how}${found.gone ? " (no longer in the current version)" : ""}`}</Text>
        {met.length > 1 ? (
          <HStack gap={1}>
            <Text color="fg.muted" fontSize="xs">
              version
            </Text>
            {met.map((f) => (
              <Button
                aria-pressed={f === found}
                key={`${f.version} ${f.gone}`}
                onClick={() => {
                  go({ at: f.version.slice(0, 12) }, true);
                }}
                size="2xs"
                variant={f === found ? "solid" : "outline"}
              >{`${f.version.slice(0, 6)} · ${number(f.rows)}${f.gone ? " · not current" : ""}`}</Button>
            ))}
          </HStack>
        ) : null}
      </Flex>
      {first.error ? (
        <Failed again={() => void first.refetch()} error={first.error} title="Could not load the rows" />
      ) : null}
      {first.data ? (
        <RowsTable
          columns={first.data.columns}
          count={found.rows}
          key={name.join(" ")}
          label={`${to.label}: rows found`}
          load={load}
          name={name}
          onTrace={(row, next) => {
            on({ dataset: to.id, version: found.version, rows: [row], way: next });
          }}
        />
      ) : first.error ? null : (
        <Loading label="Loading rows" lines={4} />
      )}
    </Flex>
  );
}

function them(rows: number): string {
  return rows === 1 ? "it" : "them";
}
