// A matrix of the columns of a write's output and the input columns that they depend on.
import { Box, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";

import { get, type ColumnLine, type ColumnLines, type Usage, type Write } from "../api/client";
import { Failed, Loading } from "./States";

const MOST = 60;

export function Matrices({ write }: { write: Write }) {
  const inputs = write.inputs.filter((input, i) => write.inputs.findIndex((other) => other.id === input.id) === i);
  return inputs.map((input) => <Matrix input={input} key={input.id} output={write.output} />);
}

function Matrix({ output, input }: { output: Usage; input: Usage }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["matrix", output.id, output.version, input.id],
    queryFn: ({ signal }) =>
      get<ColumnLines>(
        `/datasets/${output.id}/columns`,
        { version: output.version, to: input.id, existence: "false" },
        signal,
      ),
  });
  if (error) return <Failed again={() => void refetch()} error={error} title="Could not load the columns" />;
  if (!data) return <Loading label="Loading the columns" lines={3} />;
  const lines = data.lines.filter((line) => line.column !== null && line.source_column !== null);
  const every = {
    made: [...new Set(lines.map((line) => line.column ?? ""))],
    from: [...new Set(lines.map((line) => line.source_column ?? ""))],
  };
  const made = every.made.slice(0, MOST);
  const from = every.from.slice(0, MOST);
  if (!made.length)
    return (
      <Text color="fg.muted" fontSize="sm">{`No column of ${output.label} is known to depend on ${input.label}.`}</Text>
    );
  const cells = new Map<string, ColumnLine[]>();
  for (const line of lines) {
    const key = `${line.column}\0${line.source_column}`;
    cells.set(key, [...(cells.get(key) ?? []), line]);
  }
  const cut = every.made.length > MOST || every.from.length > MOST;
  return (
    <>
      <Box
        aria-label={`Columns of ${output.label} by those of ${input.label}`}
        flexShrink={0}
        maxH="24rem"
        overflow="auto"
        role="group"
        tabIndex={0}
        _focusVisible={{ outline: "2px solid", outlineColor: "blue.focusRing" }}
      >
        <Box
          as="table"
          fontSize="xs"
          css={{
            borderCollapse: "collapse",
            "& td": { borderWidth: 1, height: 6, minWidth: 6, textAlign: "center" },
            "& th": { fontWeight: "medium" },
          }}
        >
          <thead>
            <tr>
              <Box
                as="td"
                bg="bg"
                left={0}
                position="sticky"
                css={{ "&&": { borderWidth: 0, textAlign: "start", verticalAlign: "bottom" } }}
              >
                <Text color="fg.muted" fontSize="xs" maxW="8rem">{`${output.label} ← ${input.label}`}</Text>
              </Box>
              {from.map((name) => (
                <Box
                  as="th"
                  key={name}
                  maxH="9rem"
                  overflow="hidden"
                  px={1}
                  py={1}
                  textAlign="start"
                  title={name}
                  verticalAlign="bottom"
                  css={{ writingMode: "vertical-rl", transform: "rotate(180deg)" }}
                >
                  {name.slice(0, 24)}
                </Box>
              ))}
            </tr>
          </thead>
          <tbody>
            {made.map((name) => (
              <tr key={name}>
                <Box
                  as="th"
                  bg="bg"
                  left={0}
                  maxW="9rem"
                  overflow="hidden"
                  position="sticky"
                  pr={2}
                  textAlign="end"
                  textOverflow="ellipsis"
                  title={name}
                  whiteSpace="nowrap"
                >
                  {name}
                </Box>
                {from.map((source) => {
                  const found = cells.get(`${name}\0${source}`);
                  const why = found
                    ?.map(
                      (line) =>
                        `${line.dependence}${line.kind === "context" ? ", context" : ""}${line.exact ? "" : ", may not apply"}`,
                    )
                    .join("; ");
                  return (
                    <td key={source} title={why ? `${name} ← ${source}: ${why}` : undefined}>
                      {found ? (found.some((line) => line.kind === "data") ? "●" : "○") : ""}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </Box>
      </Box>
      {cut ? (
        <Text
          color="fg.muted"
          fontSize="xs"
        >{`Shows ${made.length} of ${every.made.length} columns of ${output.label} and ${from.length} of ${every.from.length} of ${input.label}. The panel of a column lists all of its columns.`}</Text>
      ) : null}
    </>
  );
}
