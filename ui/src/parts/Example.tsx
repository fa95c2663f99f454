// A switch from all rows of a trace to one derivation of a selected row.
import { HStack, NativeSelect, Switch } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";

import { post, type Rows, type TraceQuery } from "../api/client";
import { count, number } from "../words";

const MOST = 100;

type Props = { asked: TraceQuery; rows: number; row: number; on: boolean; onChange: (row: number | null) => void };

export function Example({ asked, rows, row, on, onChange }: Props) {
  const choosing = on && rows > 1;
  const first = useQuery({
    queryKey: ["asked", JSON.stringify(asked)],
    queryFn: ({ signal }) => post<Rows>("/trace/rows", { ...asked, node: 0, limit: MOST, columns: [] }, signal),
    enabled: choosing,
    staleTime: Infinity,
  });
  const choices = [...new Set([...(first.data?.rows ?? []), row])].sort((a, b) => a - b);
  return (
    <HStack flexShrink={0} gap={2}>
      <Switch.Root
        checked={on}
        onCheckedChange={({ checked }) => {
          onChange(checked ? row : null);
        }}
        size="sm"
      >
        <Switch.HiddenInput aria-label={`Show one derivation of row ${number(row)}`} />
        <Switch.Control />
        <Switch.Label>{choosing ? "Show one derivation of" : `Show one derivation of row ${number(row)}`}</Switch.Label>
      </Switch.Root>
      {choosing ? (
        <NativeSelect.Root size="xs" w="auto">
          <NativeSelect.Field
            aria-label="Row whose derivation is shown"
            h={6}
            onChange={(event) => {
              onChange(Number(event.target.value));
            }}
            value={row}
          >
            {choices.map((one) => (
              <option key={one} value={one}>{`row ${number(one)}`}</option>
            ))}
            {rows > MOST ? <option disabled>{`Only the first ${MOST} of ${count(rows)} are listed`}</option> : null}
          </NativeSelect.Field>
          <NativeSelect.Indicator />
        </NativeSelect.Root>
      ) : null}
    </HStack>
  );
}
