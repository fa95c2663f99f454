"""How many rows go into and come out of each operation of a step?"""

from __future__ import annotations

import pyarrow as pa

from provspark.index_store.query.nodes import WriteNode
from provspark.index_store.query.parameter_types import StepId
from provspark.index_store.query.question import question
from provspark.index_store.query.tabular import TableAnswer
from provspark.model.errors import UnknownStepError
from provspark.replay.replaying import Progress, Replaying

__all__ = ["counts"]


@question()
def counts(prov: Replaying, step: StepId, *, progress: Progress | None = None, functions: bool = False) -> TableAnswer:
    """Count the rows in and out of each operation of a step, by replaying all its operations.

    Parameters
    ----------
    step : str
        A step's id.
    progress, functions
        As for `replay`.

    Returns
    -------
    TableAnswer
        step, write, operation, node, text, site, rows_in, rows_out, why. If the operation can't be replayed, the counts
        are null and ``why`` has the reason.

    Raises
    ------
    UnknownStepError
    """
    nodes: list[WriteNode] = [n for n in prov.graph.nodes if n.step == step]
    if not nodes:
        raise UnknownStepError(step, (m.step for m in prov.graph.manifests), len(prov.graph.broken))
    lines = []
    with prov.following(progress, functions) as replayer:
        for node in nodes:
            counts = replayer.counts(node)
            out = {o.index: n for o, n, _ in counts}
            for o, n, why in counts:
                before = [out[c] for c in o.children]
                about = {"operation": o.index, "node": o.node, "text": o.text, "site": o.site, "why": why}
                into = None if not before or min(before) < 0 else sum(before)
                counted = {"rows_in": into, "rows_out": n if n >= 0 else None}
                lines.append({"step": step, "write": node.write.index, **about, **counted})
    return TableAnswer(pa.Table.from_pylist(lines, schema=_SCHEMA))


_SCHEMA = pa.schema(
    [
        ("step", pa.string()),
        ("write", pa.int64()),
        ("operation", pa.int64()),
        ("node", pa.string()),
        ("text", pa.string()),
        ("site", pa.string()),
        ("rows_in", pa.int64()),
        ("rows_out", pa.int64()),
        ("why", pa.string()),
    ]
)
