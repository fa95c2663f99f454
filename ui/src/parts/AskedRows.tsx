// The selected rows, beside the answer to a query about them.
import { useQuery } from "@tanstack/react-query";

import { post, type Trace, type TraceQuery } from "../api/client";
import { selection, usePage } from "../state";
import { NodeRows } from "./NodeRows";
import { Waiting } from "./Waiting";

export function AskedRows() {
  const { state, on } = usePage();
  // A trace to the dataset itself: its only node contains the selected rows.
  const asked: TraceQuery = {
    ...selection(state),
    direction: "backward",
    context: false,
    to: state.dataset,
    versions: "current",
  };
  const key = ["trace", JSON.stringify(asked)];
  const answer = useQuery({ queryKey: key, queryFn: ({ signal }) => post<Trace>("/trace", asked, signal, key) });
  const node = answer.data?.nodes[0];
  if (!node)
    return (
      <Waiting failed="Could not find the rows" label="Finding the rows" lines={4} query={answer} queryKey={key} />
    );
  return (
    <NodeRows
      asked={asked}
      node={node}
      onTrace={(row, way) => {
        on({ dataset: node.dataset.id, version: node.version, rows: [row], way });
      }}
      title="selected"
    />
  );
}
