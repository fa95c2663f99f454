"""Answer of a replay: the replayed rows after each operation, and where rows ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pyarrow as pa

from provspark.index_store.query.notebook import SHOWN, escaped, listed, table_html
from provspark.model.operations import Operation
from provspark.model.wording import counted
from provspark.replay.columns import distinct, told_names

__all__ = [
    "Cause",
    "InputRow",
    "Line",
    "ReplayEnding",
    "Replayed",
    "Stage",
    "ended_table",
    "ending_dict",
    "source_dict",
]

Cause = Literal[
    "condition",
    "no partner",
    "has a partner",
    "only decides",
    "limit",
    "duplicate",
    "nothing to explode",
    "set operator",
]
"""Why an operation dropped a row: the condition is false for it; no row of the join's other side matches; a row matches
in an anti-join or EXCEPT; it is on the right side of an anti-join or EXCEPT; other rows filled the limit; another row
with the same keys was kept; its array or map is empty; INTERSECT or EXCEPT dropped it."""


@dataclass(frozen=True, slots=True, order=True)
class InputRow:
    """A row of an input of a write."""

    dataset: str
    version: str
    occurrence: int
    row: int


@dataclass(frozen=True, slots=True)
class Line:
    """One row after an operation."""

    values: tuple[Any, ...]
    """Values of the stage's columns."""
    parents: tuple[tuple[int, int], ...] = ()
    """Lines of earlier operations that it was made from: (operation, number of the line)."""
    sources: tuple[InputRow, ...] = ()
    """Input rows that it came from: only the selected ones, or all of them if `all_sources` was set."""
    changed: tuple[str, ...] = ()
    """Columns whose values differ from those of the same name in the parent lines."""
    added: tuple[str, ...] = ()
    """Columns that the parent lines do not have."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The replayed rows after an operation."""

    operation: Operation
    lines: tuple[Line, ...]
    cut: bool = False
    """There are more rows than the replay follows."""
    own: Mapping[int, str] = field(default_factory=dict, compare=False)
    """Expressions of columns that Spark added to the write, by column id."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns. For a column that Spark added, this is its expression."""
        return told_names(distinct(self.operation.columns), self.own)


@dataclass(frozen=True, slots=True)
class ReplayEnding:
    """Lines that an operation dropped."""

    operation: Operation
    before: int
    """The operation after which these lines are."""
    lines: tuple[int, ...]
    """The numbers of the lines."""
    cause: Cause
    sources: tuple[InputRow, ...]
    """The selected rows that the lines came from."""
    whole: bool
    """The write contains no other row made from these source rows."""
    kept: tuple[tuple[str, Any], ...] = ()
    """For a duplicate: columns and values of the row that was kept."""
    kept_sources: tuple[InputRow, ...] = ()

    def __str__(self) -> str:
        where = f" ({self.operation.site})" if self.operation.site else ""
        return f"{self.cause}: {self.operation.text}{where}"


@dataclass(frozen=True, slots=True, repr=False)
class Replayed:
    """The operations of one write, replayed for some rows.

    Parameters
    ----------
    step, write, dataset
        The write, and the dataset that it made.
    stages : tuple of Stage
        In the order of the operations, without those that no row reached.
    endings : tuple of ReplayEnding
        Lines that operations dropped.
    verified : bool or None
        Whether the rows after the last operation equal the stored output rows; None if they could not be compared.
        `why` has the reason.
    results : tuple of int
        The output rows that came from the selected rows, according to the store.
    scanned : tuple of (dataset, rows)
        Inputs that were read whole.
    stopped : tuple of (operation, reason)
        Operations that the rows can't be followed through.
    doubts : tuple of (operation, reason)
        Operations whose stored text does not determine what they did.
    """

    step: str
    write: int
    dataset: str
    operations: tuple[Operation, ...]
    stages: tuple[Stage, ...]
    endings: tuple[ReplayEnding, ...] = ()
    verified: bool | None = None
    why: str = ""
    results: tuple[int, ...] = ()
    scanned: tuple[tuple[str, int], ...] = ()
    stopped: tuple[tuple[Operation, str], ...] = ()
    doubts: tuple[tuple[Operation, str], ...] = ()

    def __repr__(self) -> str:
        rows = f"{counted(len(self.stages), 'operation')} with rows, {counted(len(self.endings), 'ending')}"
        return f"<replay of step {listed([self.step])} to {listed([self.dataset])}: {rows}, verified: {self.verified}>"

    def _repr_html_(self) -> str:
        """Return the operations that rows reached, each with its first lines, and the endings."""
        shown = [f"<div>{escaped(repr(self))}</div>"]
        for stage in self.stages:
            operation = stage.operation
            title = f"{operation.index}: {operation.text}" + (f" ({operation.site})" if operation.site else "")
            lines = [[None if v is None else str(v) for v in line.values] for line in stage.lines[:SHOWN]]
            columns = list(zip(*lines, strict=True)) if lines else [()] * len(stage.columns)
            arrays = [pa.array(column, pa.string()) for column in columns]
            table = pa.Table.from_arrays(arrays, names=list(stage.columns))
            shown.append(f"<div><b>{escaped(title)}</b></div>{table_html(table, (), len(stage.lines))}")
        shown += [f"<div>{escaped(note)}</div>" for note in self.endings]
        return "".join(shown)

    def stage(self, operation: int) -> Stage | None:
        """Return the stage of an operation, by its number; None if no row reached it."""
        return next((s for s in self.stages if s.operation.index == operation), None)

    def ancestors(self, operation: int, lines: Iterable[int]) -> dict[int, set[int]]:
        """Return these lines and those that they were made from, by operation."""
        reached: dict[int, set[int]] = {operation: set(lines)}
        for stage in reversed(self.stages):
            for n in reached.get(stage.operation.index, ()):
                for parent, line in stage.lines[n].parents:
                    reached.setdefault(parent, set()).add(line)
        return reached

    def descendants(self, operation: int, lines: Iterable[int]) -> dict[int, set[int]]:
        """Return these lines and those that were made from them, by operation."""
        reached: dict[int, set[int]] = {operation: set(lines)}
        for stage in self.stages:
            for n, line in enumerate(stage.lines):
                if any(n in reached.get(parent, ()) for parent, n in line.parents):
                    reached.setdefault(stage.operation.index, set()).add(n)
        return reached

    def only(self, lines: dict[int, set[int]]) -> Replayed:
        """Return a copy with only these lines, and without endings."""
        place = {op: {old: new for new, old in enumerate(sorted(ns))} for op, ns in lines.items()}

        def kept(stage: Stage) -> Iterator[Line]:
            for n in sorted(lines.get(stage.operation.index, ())):
                line = stage.lines[n]
                parents = tuple((o, place[o][p]) for o, p in line.parents if p in place.get(o, {}))
                yield replace(line, parents=parents)

        stages = tuple(replace(s, lines=tuple(kept(s))) for s in self.stages if lines.get(s.operation.index))
        return replace(self, stages=stages, endings=())

    def as_dict(self) -> dict[str, Any]:
        """Return the answer in JSON form, except for row values, which stay Python objects."""
        return {
            "step": self.step,
            "write": self.write,
            "dataset": self.dataset,
            "verified": self.verified,
            "why": self.why,
            "results": list(self.results),
            "scanned": [{"dataset": d, "rows": n} for d, n in self.scanned],
            "stopped": [{**_operation(o), "why": why} for o, why in self.stopped],
            "doubts": [{**_operation(o), "why": why} for o, why in self.doubts],
            "stages": [
                {
                    **_operation(s.operation),
                    "cut": s.cut,
                    "lines": [
                        {
                            "values": dict(zip(s.columns, line.values, strict=True)),
                            "changed": list(line.changed),
                            "added": list(line.added),
                            "parents": [list(p) for p in line.parents],
                            "sources": [source_dict(x) for x in line.sources],
                        }
                        for line in s.lines
                    ],
                }
                for s in self.stages
            ],
            "endings": [ending_dict(e) for e in self.endings],
        }


def ending_dict(ending: ReplayEnding) -> dict[str, Any]:
    """Return an ending in JSON form, except for the values of `kept`."""
    return {
        **_operation(ending.operation),
        "cause": ending.cause,
        "whole": ending.whole,
        "before": ending.before,
        "lines": list(ending.lines),
        "sources": [source_dict(s) for s in ending.sources],
        "kept": dict(ending.kept),
        "kept_sources": [source_dict(s) for s in ending.kept_sources],
    }


def ended_table(endings: Iterable[tuple[str, ReplayEnding]]) -> pa.Table:
    """Return one line for each source row of these endings: where it ended, and why.

    Parameters
    ----------
    endings : iterable of (step, ReplayEnding)
    """
    lines = []
    for step, ending in endings:
        o = ending.operation
        about = {"step": step, "operation": o.index, "text": o.text, "site": o.site, "cause": ending.cause}
        about["kept"] = [s.row for s in ending.kept_sources]
        lines += [{**about, "dataset": s.dataset, "version": s.version, "row": s.row} for s in ending.sources]
    return pa.Table.from_pylist(lines, schema=_ENDED)


_ENDED = pa.schema(
    [
        *(("dataset", pa.string()), ("version", pa.string()), ("row", pa.int64()), ("step", pa.string())),
        *(("operation", pa.int64()), ("text", pa.string()), ("site", pa.string()), ("cause", pa.string())),
        ("kept", pa.list_(pa.int64())),
    ]
)


def _operation(operation: Operation) -> dict[str, Any]:
    return {
        "operation": operation.index,
        "node": operation.node,
        "text": operation.text,
        "site": operation.site,
        "name": operation.name,
    }


def source_dict(source: InputRow) -> dict[str, Any]:
    """Return an input row in JSON form."""
    return {name: getattr(source, name) for name in InputRow.__slots__}
