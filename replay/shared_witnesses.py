"""Intermediate rows of a step that were combined in one derivation, or that share an earlier row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from provspark.index_store.query.helper_columns import meanings
from provspark.index_store.query.nodes import WriteNode
from provspark.index_store.query.notebook import listed
from provspark.index_store.query.tabular import Tabular
from provspark.model.errors import ReplayError
from provspark.model.operations import Operation
from provspark.model.runs import Runs
from provspark.model.wording import counted
from provspark.replay.kept_rows import key_of
from provspark.replay.records import Line, Replayed, Stage, source_dict
from provspark.replay.replayer import Replayer

__all__ = ["SharedRows", "lines_sharing_witness", "lines_used_together"]


@dataclass(frozen=True, slots=True, repr=False)
class SharedRows(Tabular):
    """Selected intermediate rows, and those that they were combined with or share an earlier row with.

    Parameters
    ----------
    step : str
    asked, found : Stage
        Lines after one operation each: the selected ones, and the answer.
    verified : bool or None
        Whether the replay that found them ends with the stored rows; None if that is not known. `why` has the reason.
    """

    step: str
    asked: Stage
    found: Stage
    verified: bool | None
    why: str

    def __len__(self) -> int:
        return len(self.found.lines)

    def __repr__(self) -> str:
        places = f"after operation {self.found.operation.index} of step {listed([self.step])}"
        return f"<{counted(len(self), 'row')} {places}, verified: {self.verified}>"

    def table(self) -> pa.Table:
        """Return one line for each row of `found`: line, values (by column, as text), sources (input rows)."""
        lines = [
            {
                "line": n,
                "values": [(name, None if v is None else str(v)) for name, v in _named(self.found, line)],
                "sources": [source_dict(s) for s in line.sources],
            }
            for n, line in enumerate(self.found.lines)
        ]
        return pa.Table.from_pylist(lines, schema=_SCHEMA)

    def as_dict(self) -> dict[str, Any]:
        """Return the answer in JSON form, except for row values, which stay Python objects."""
        return {
            "step": self.step,
            "verified": self.verified,
            "why": self.why,
            "asked": _told(self.asked),
            "found": _told(self.found),
        }


_SCHEMA = pa.schema(
    [
        ("line", pa.int64()),
        ("values", pa.map_(pa.string(), pa.string())),
        (
            "sources",
            pa.list_(
                pa.struct(
                    [
                        *((name, pa.string()) for name in ("dataset", "version")),
                        *((name, pa.int64()) for name in ("occurrence", "row")),
                    ]
                )
            ),
        ),
    ]
)


def lines_used_together(
    replayer: Replayer, node: WriteNode, told: Replayed, operation: int, to: int, via: int
) -> SharedRows:
    """Find the lines after operation `to` that were combined with given lines in a derivation of operation `via`.

    Parameters
    ----------
    told : Replayed
        A replay with all sources. Its lines after `operation` are the given lines.

    Raises
    ------
    ReplayError
        There is no such operation, or no replayed row reached it.
    """
    asked, ahead, mine = _followed(replayer, node, told, operation, (to, via))
    after = ahead.descendants(operation, mine).get(via, set())
    # Only now are the rows of other inputs known that they were combined with.
    reached = _lines(ahead, via)
    met = [reached[n] for n in after if reached[n].sources]
    whole = _again(replayer, node, met) if met else ahead
    mine = _same(whole, asked)
    sharing: set[int] = set()
    for n in mine:
        sharing |= _together(whole, operation, n, to, via)
    return _beside(whole, asked, to, sharing - mine if to == operation else sharing)


def lines_sharing_witness(
    replayer: Replayer, node: WriteNode, told: Replayed, operation: int, to: int, via: int
) -> SharedRows:
    """Find the lines after operation `to` that share a line after operation `via` with given lines.

    Parameters are those of `lines_used_together`. The given lines are left out of the answer.
    """
    asked, behind, mine = _followed(replayer, node, told, operation, (to, via))
    shared = behind.ancestors(operation, mine).get(via, set())
    lines = _lines(behind, via)
    own = meanings(behind.operations)
    witnesses = Stage(behind.operations[via], tuple(lines[n] for n in sorted(shared)), own=own)
    whole = _again(replayer, node, witnesses.lines)
    sharing = whole.descendants(via, _same(whole, witnesses)).get(to, set())
    return _beside(whole, asked, to, sharing - _same(whole, asked) if to == operation else sharing)


def _followed(
    replayer: Replayer, node: WriteNode, told: Replayed, operation: int, others: Iterable[int]
) -> tuple[Stage, Replayed, set[int]]:
    """Return the given lines, a replay of all rows that they came from, and the numbers of the lines in it."""
    asked = _stage(told, operation)
    for other in others:
        _operation(told, other)
    again = _again(replayer, node, asked.lines)
    return asked, again, _same(again, asked)


def _again(replayer: Replayer, node: WriteNode, lines: Iterable[Line]) -> Replayed:
    """Replay the source rows of lines."""
    rows: dict[str, set[int]] = {}
    for s in (s for line in lines for s in line.sources):
        rows.setdefault(s.version, set()).add(s.row)
    return replayer.inputs(node, {v: Runs.of(sorted(r)) for v, r in rows.items()}, all_sources=True)


def _together(told: Replayed, operation: int, line: int, to: int, via: int) -> set[int]:
    """Return the lines after `to` that one line was made from, became, or was combined with on the way to `via`."""
    leads = told.ancestors(via, range(len(_lines(told, via))))
    ahead = told.descendants(operation, {line})
    live = {op: lines & leads.get(op, set()) for op, lines in ahead.items()}
    if not live.get(via):
        return set()
    sharing = set(told.ancestors(operation, {line}).get(to, ())) | live.get(to, set())
    for op, lines in live.items():
        for n in lines - {line} if op == operation else lines:
            parents = _lines(told, op)[n].parents
            own = {p for p, k in parents if k in live.get(p, ())}
            for p, k in parents:
                if p not in own:  # parents of the same operation are rows of its group, each in another derivation
                    sharing |= told.ancestors(p, {k}).get(to, set())
    return sharing


def _beside(told: Replayed, asked: Stage, to: int, sharing: Collection[int]) -> SharedRows:
    lines = _lines(told, to)
    cut = any(s.cut for s in told.stages)
    stage = Stage(told.operations[to], tuple(lines[n] for n in sorted(sharing)), cut, meanings(told.operations))
    return SharedRows(told.step, asked, stage, told.verified, told.why)


def _operation(told: Replayed, number: int) -> Operation:
    if not 0 <= number < len(told.operations):
        last = len(told.operations) - 1
        raise ReplayError(f"step {told.step} has no operation {number} in this write; use a number from 0 to {last}")
    return told.operations[number]


def _stage(told: Replayed, number: int) -> Stage:
    operation = _operation(told, number)
    stage = told.stage(number)
    if stage is None:
        raise ReplayError(
            f"none of these rows reaches operation {number}, {operation.text!r}, of step {told.step}; select other "
            f"rows or an earlier operation"
        )
    return stage


def _lines(told: Replayed, number: int) -> tuple[Line, ...]:
    stage = told.stage(number)
    return stage.lines if stage is not None else ()


def _same(told: Replayed, stage: Stage) -> set[int]:
    """Return the numbers of the lines of a replay that have the same values and sources as a line of a stage."""
    wanted = {(key_of(line.values), line.sources) for line in stage.lines}
    lines = _lines(told, stage.operation.index)
    return {n for n, line in enumerate(lines) if (key_of(line.values), line.sources) in wanted}


def _named(stage: Stage, line: Line) -> Iterator[tuple[str, Any]]:
    return zip(stage.columns, line.values, strict=True)


def _told(stage: Stage) -> dict[str, Any]:
    lines = [{"values": dict(_named(stage, x)), "sources": [source_dict(s) for s in x.sources]} for x in stage.lines]
    o = stage.operation
    return {"operation": o.index, "text": o.text, "site": o.site, "cut": stage.cut, "lines": lines}
