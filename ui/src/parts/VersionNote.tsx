// A note if the version on view is not the current one, or not complete.
import { Button, Flex, Text } from "@chakra-ui/react";
import { useMutation } from "@tanstack/react-query";

import { post, type Located, type VersionUsed } from "../api/client";
import { count, number } from "../words";

const MOST = 10_000;

type Props = {
  dataset: string;
  version: string;
  current: VersionUsed;
  rows: number[];
  // Whether the URL names rows without a version.
  unnamed?: boolean;
  onShow: (version: string, rows: number[]) => void;
};

export function VersionNote({ dataset, version, current, rows, unnamed = false, onShow }: Props) {
  const older = version !== current.version;
  const locate = useMutation({
    mutationFn: async () => (rows.length ? post<Located>("/locate", { dataset, version, rows }) : null),
    onSuccess: (found) => {
      if (!found?.gone) onShow(current.version, found ? found.rows.flatMap((row) => row ?? []) : []);
    },
  });
  const gone = locate.data?.gone ?? 0;
  const there = locate.data?.rows.flatMap((row) => row ?? []) ?? [];
  const said = older
    ? "You are viewing a version that is not the current one."
    : [
        unnamed
          ? "The link names no version, so its row ids are read in the current version. They may be other rows than when the link was made."
          : "",
        ...state(current),
      ]
        .filter(Boolean)
        .join(" ");
  if (!said) return null;
  return (
    <Flex align="center" columnGap={2} flexShrink={0} fontSize="sm" role="status" wrap="wrap">
      <Text color="orange.fg" overflowWrap="anywhere">
        {said}
      </Text>
      {older && !gone ? (
        <Button
          disabled={rows.length > MOST}
          loading={locate.isPending}
          onClick={() => {
            locate.mutate();
          }}
          size="2xs"
          title={
            rows.length > MOST
              ? `At most ${number(MOST)} rows can be looked up at once; ${number(rows.length)} are selected.`
              : undefined
          }
          variant="outline"
        >
          {rows.length
            ? `Find ${rows.length === 1 ? "the row" : "the rows"} in the current version`
            : "Show the current version"}
        </Button>
      ) : null}
      {gone ? (
        <>
          <Text>
            {gone === rows.length
              ? `${rows.length === 1 ? "This row is" : "These rows are"} no longer in the current version.`
              : `${number(gone)} of ${count(rows.length)} ${gone === 1 ? "is" : "are"} not in the current version.`}
          </Text>
          <Button
            onClick={() => {
              onShow(current.version, there);
            }}
            size="2xs"
            variant="outline"
          >
            {there.length ? `Show the remaining ${count(there.length)}` : "Show the current version"}
          </Button>
        </>
      ) : null}
      {locate.error ? <Text color="red.fg">{locate.error.message}</Text> : null}
    </Flex>
  );
}

// Notes if the current version is not exactly what is on disk. `why` is empty for database tables, which have no files.
export function state({ rule, why, missing, unknown, age }: VersionUsed): string[] {
  return [
    rule === "last step" && why
      ? `The files can't be listed (${why}). This is the version of the last successful step.`
      : "",
    rule === "last step" && unknown
      ? `The table changed after this version: ${unknown === 1 ? "a later step read another state" : `${number(unknown)} later steps read other states`} of it.`
      : "",
    missing
      ? `${count(missing, "file")} of this version ${missing === 1 ? "is" : "are"} missing; ${missing === 1 ? "its" : "their"} rows are not included.`
      : "",
    rule === "disk" && unknown
      ? `${count(unknown, "file")} in the folder ${unknown === 1 ? "is" : "are"} not part of this version; ${unknown === 1 ? "its" : "their"} rows are not included.`
      : "",
    rule === "disk" && age >= 1 ? `Its files were listed ${number(Math.round(age))} seconds ago.` : "",
  ].filter(Boolean);
}
