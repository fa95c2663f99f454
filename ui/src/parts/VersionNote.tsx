// What one should know of the version whose row numbers are shown: that it is an older one, or not all that is there.
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
  // Whether the link that led here names rows without their version.
  unnamed?: boolean;
  onShow: (version: string, rows: number[]) => void;
};

export function VersionNote({ dataset, version, current, rows, unnamed = false, onShow }: Props) {
  const older = version !== current.version;
  const locate = useMutation({
    mutationFn: async () => (rows.length ? post<Located>("/locate", { dataset, version, rows: rows.slice(0, MOST) }) : null),
    onSuccess: (found) => { if (!found?.gone) onShow(current.version, found ? found.rows.flatMap((row) => row ?? []) : []); },
  });
  const gone = locate.data?.gone ?? 0;
  const there = locate.data?.rows.flatMap((row) => row ?? []) ?? [];
  const said = older ? "An older version of this dataset." : [unnamed ? "The link does not name a version: its rows are taken as rows of the current one." : "", ...state(current)].filter(Boolean).join(" ");
  if (!said) return null;
  return (
    <Flex align="center" columnGap={2} flexShrink={0} fontSize="sm" role="status" wrap="wrap">
      <Text color="orange.fg" overflowWrap="anywhere">{said}</Text>
      {older && !gone ? (
        <Button loading={locate.isPending} onClick={() => { locate.mutate(); }} size="2xs" variant="outline">
          {rows.length ? `Find ${rows.length === 1 ? "the row" : "the rows"} in the current version` : "Show the current version"}
        </Button>
      ) : null}
      {gone ? (
        <>
          <Text>{gone === rows.length ? `The current version has ${rows.length === 1 ? "this row" : "these rows"} no more.` : `The current version lacks ${number(gone)} of ${count(rows.length)}.`}</Text>
          <Button onClick={() => { onShow(current.version, there); }} size="2xs" variant="outline">{there.length ? `Show the other ${number(there.length)}` : "Show the current version"}</Button>
        </>
      ) : null}
      {locate.error ? <Text color="red.fg">{locate.error.message}</Text> : null}
    </Flex>
  );
}

// Where the current version is not simply what lies on the disk.
export function state({ rule, why, missing, unknown, age }: VersionUsed): string[] {
  return [
    rule === "last step" ? `This is what the last step that succeeded left: ${why}.` : "",
    missing ? `${count(missing, "file")} of this version ${missing === 1 ? "is" : "are"} not there any more.` : "",
    unknown ? `${count(unknown, "file")} in the dataset ${unknown === 1 ? "is" : "are"} not in this version.` : "",
    rule === "disk" && age >= 1 ? `Its files were listed ${number(Math.round(age))} seconds ago.` : "",
  ].filter(Boolean);
}
