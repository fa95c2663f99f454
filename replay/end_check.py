"""Check a replay against the store: the rows after the last operation must equal the stored output rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from provspark.index_store.query.nodes import WriteNode
from provspark.index_store.values.row_reader import read_rows
from provspark.model.arrays import Int64
from provspark.model.errors import ValuesUnavailableError, VersionChangedError
from provspark.model.runs import Runs
from provspark.replay.columns import distinct
from provspark.replay.kept_rows import key_of
from provspark.replay.records import Replayed, Stage
from provspark.replay.write_rows import sources_of

__all__ = ["found_all", "places", "unsure", "verdict"]


def verdict(told: Replayed, node: WriteNode, results: Runs, *, most: int, shortened: bool) -> tuple[bool | None, str]:
    """Return whether the lines after the last operation equal the stored output rows, and if not, why.

    The first value is None if they can't be compared.
    """
    last = told.stage(told.operations[-1].index)
    why = unsure(told, node, results, most=most, shortened=shortened)
    if why:
        return None, why
    try:
        stored = stored_rows(node, results.rows())
    except (ValuesUnavailableError, VersionChangedError) as e:
        return None, str(e)
    replayed = [_by_name(last, node, line.values) for line in last.lines] if last else []
    if Counter(stored) == Counter(replayed):
        return True, ""
    why = f"the replay ends with {len(replayed):,} rows, and the store has {len(stored):,}"
    if len(replayed) == len(stored):
        why = "some values differ from the stored ones"
    return False, why + _doubts(told)


def unsure(told: Replayed, node: WriteNode, results: Runs, *, most: int, shortened: bool) -> str:
    """Return why the end of a replay can't be compared with output rows; "" if it can."""
    if told.stopped:
        operation, why = told.stopped[0]
        return f"the replay stopped at {operation.text!r}: {why}"
    if shortened or any(s.cut for s in told.stages) or results.count > most:
        return f"there are more than {most:,} rows, so not all of them were replayed"
    return "" if node.write.coverage == "exact" else f"the lineage of this write is {node.write.coverage}"


def found_all(told: Replayed, ends: Mapping[int, set[int]]) -> tuple[bool, str]:
    """Return whether each of some output rows is a line of the last stage, and if not, why. `ends` is from `places`."""
    groups = Counter(frozenset(lines) for lines in ends.values())
    missing = [row for row, lines in ends.items() if not lines]
    if not missing and all(n <= len(lines) for lines, n in groups.items()):
        return True, ""
    return False, f"the replay does not end with row {min(missing or ends)} as it is stored" + _doubts(told)


def _doubts(told: Replayed) -> str:
    doubts = "; ".join(f"{o.text!r}: {w}" for o, w in told.doubts)
    return f" ({doubts})" if doubts else ""


def places(stage: Stage | None, node: WriteNode, rows: Int64) -> dict[int, set[int]]:
    """Return the lines of the last stage that equal each output row, by row.

    Lines are compared by their values and, if several are equal, by their source rows.
    """
    lines = stage.lines if stage is not None else ()
    keys = [_by_name(stage, node, line.values) for line in lines] if stage is not None else []
    lines_of: dict[int, set[int]] = {}
    for row, key in zip(rows.tolist(), stored_rows(node, rows), strict=True):
        equal = {n for n, k in enumerate(keys) if k == key}
        if len(equal) > 1:
            axes = node.write.axes
            mine = {
                (axes[a].version, axes[a].occurrence, r)
                for a, runs in sources_of(node, Runs.of([row])).items()
                for r in runs.rows().tolist()
            }
            exact = {n for n in equal if {(s.version, s.occurrence, s.row) for s in lines[n].sources} == mine}
            equal = exact or equal
        lines_of[row] = equal
    return lines_of


def stored_rows(node: WriteNode, rows: Int64) -> list[tuple[Any, ...]]:
    """Read output rows and return the key of each, as in `key_of`, with the version's columns."""
    table = read_rows(node.write.output, node.output.files, np.asarray(rows, dtype=np.int64))
    columns = [c.to_pylist() for c in table.columns]
    return [tuple(map(key_of, row)) for row in zip(*columns, strict=True)]


def _by_name(stage: Stage, node: WriteNode, values: tuple[Any, ...]) -> tuple[Any, ...]:
    place = {c.name: i for i, c in enumerate(distinct(stage.operation.columns))}
    lower = {name.lower(): i for name, i in place.items()}
    at = [place.get(f.name, lower.get(f.name.lower(), -1)) for f in node.write.output.fields]
    return tuple(key_of(values[i]) if i >= 0 else None for i in at)
