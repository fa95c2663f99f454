"""Find where replayed rows ended: the operation that dropped them, and why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from provspark.model.operations import Operation
from provspark.replay.engine import Merged
from provspark.replay.records import InputRow, ReplayEnding, Stage
from provspark.replay.rules import replay_rule
from provspark.replay.write_rows import Witness

__all__ = ["endings_of"]


def endings_of(
    operations: Sequence[Operation],
    stages: Sequence[Stage],
    refused: Mapping[int, str],
    merges: Sequence[Merged],
    asked: Collection[InputRow],
    names: Callable[[Witness], tuple[InputRow, ...]],
) -> tuple[ReplayEnding, ...]:
    """Return the rows that each operation dropped.

    Parameters
    ----------
    refused : mapping
        Operations that could not be replayed. No rows count as dropped there.
    merges : sequence of Merged
        Duplicates, with the row that was kept instead.
    asked : collection of InputRow
        The selected rows.
    names : callable
        Returns the input rows of a witness.
    """
    after = {s.operation.index: s for s in stages}
    readers = {c: o for o in operations for c in o.children}
    last = operations[-1].index
    arrived = {_row(s) for line in (after[last].lines if last in after else ()) for s in line.sources}
    stuck = {
        _row(s)
        for stage in stages
        if readers.get(stage.operation.index) is None or readers[stage.operation.index].index in refused
        for line in stage.lines
        for s in line.sources
    }
    merged = {(m.operation, m.parent): m for m in merges}
    out = []
    for stage in stages:
        reader = readers.get(stage.operation.index)
        if reader is None or reader.index in refused or stage.operation.index == last:
            continue
        then = after.get(reader.index)
        used = {n for line in (then.lines if then else ()) for op, n in line.parents if op == stage.operation.index}
        if then is not None and then.cut:
            continue
        lost = [n for n in range(len(stage.lines)) if n not in used]
        groups: dict[Merged | None, list[int]] = {}
        for n in lost:
            groups.setdefault(merged.get((reader.index, n)), []).append(n)
        left = arrived | stuck | {_row(s) for line in (then.lines if then else ()) for s in line.sources}
        cause = replay_rule(reader.node).cause(reader, stage.operation.index)
        for into, numbers in groups.items():
            kept = tuple(s for w in into.witness for s in names(w)) if into else ()
            mine = {n: {s for s in stage.lines[n].sources if s in asked} for n in numbers}
            every = set().union(*mine.values())
            alive = {s for s in every if _row(s) in left}
            # An ending of many rows must be true for each of them.
            for whole, some in ((True, every - alive), (False, alive)):
                lines = tuple(n for n in numbers if mine[n] & some or (whole and not mine[n]))
                if lines:
                    at = stage.operation.index
                    values = into.into if into else ()
                    out.append(ReplayEnding(reader, at, lines, cause, tuple(sorted(some)), whole, values, kept))
    return tuple(out)


def _row(source: InputRow) -> tuple[str, int]:
    """Return a row's version and id, without its occurrence."""
    return source.version, source.row
