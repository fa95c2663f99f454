"""What a replay tells: the rows in question after each operation, and where some of them ended."""

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
"""Why a row is not among those after an operation: its condition does not hold; no row of a join's other side meets it;
an anti-join or EXCEPT met one; it stands on the side of a join whose rows only decide; others filled the limit;
another row of equal keys was kept; its array or map is empty; INTERSECT or EXCEPT left it out."""


@dataclass(frozen=True, slots=True, order=True)
class InputRow:
    """A row of an input of the write."""

    dataset: str
    version: str
    occurrence: int
    row: int


@dataclass(frozen=True, slots=True)
class Line:
    """One row after an operation."""

    values: tuple[Any, ...]
    """By the stage's columns."""
    parents: tuple[tuple[int, int], ...] = ()
    """The rows of the operations before that it was made from: (operation, number of the line there)."""
    sources: tuple[InputRow, ...] = ()
    """Rows of inputs that it derives from: those in question, or all of them where that was asked for."""
    changed: tuple[str, ...] = ()
    """Columns whose values are others than those of that name in the row before."""
    added: tuple[str, ...] = ()
    """Columns that the row before has not."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The rows in question after an operation."""

    operation: Operation
    lines: tuple[Line, ...]
    cut: bool = False
    """There are more than are told and followed."""
    own: Mapping[int, str] = field(default_factory=dict, compare=False)
    """Spark's own columns of the write, by their ids, with the expressions that they stand for."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns' names; a column of Spark's own has the expression that it stands for."""
        return told_names(distinct(self.operation.columns), self.own)


@dataclass(frozen=True, slots=True)
class ReplayEnding:
    """Rows before an operation that nothing after it was made from."""

    operation: Operation
    before: int
    """The operation that they stand after."""
    lines: tuple[int, ...]
    """Their numbers there."""
    cause: Cause
    sources: tuple[InputRow, ...]
    """The rows in question that they derive from."""
    whole: bool
    """Nothing else of these sources is left anywhere in the write."""
    kept: tuple[tuple[str, Any], ...] = ()
    """Of a duplicate: the values of the row that was kept."""
    kept_sources: tuple[InputRow, ...] = ()

    def __str__(self) -> str:
        where = f" ({self.operation.site})" if self.operation.site else ""
        return f"{self.cause}: {self.operation.text}{where}"


@dataclass(frozen=True, slots=True, repr=False)
class Replayed:
    """One write's operations, run again for some rows.

    Parameters
    ----------
    step, write, dataset, site
        The write, and the data set that it made.
    stages : tuple of Stage
        In order of the operations; those that no row in question came to are left out.
    endings : tuple of ReplayEnding
    verified : bool or None
        Whether the replayed end equals the stored rows; None where that could not be compared, as `why` says.
    results : tuple of int
        The output's rows that derive from the rows in question, as the store has them.
    scanned : tuple of (data set, rows)
        Inputs that were read whole.
    stopped : tuple of (operation, reason)
        Where the rows could not be followed any further.
    doubts : tuple of (operation, reason)
        Where the text of an operation does not settle what it did.
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
        """The operations that rows came to, with the first of the rows after each; below these where rows ended."""
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
        """Return what stands after an operation, by its number."""
        return next((s for s in self.stages if s.operation.index == operation), None)

    def ancestors(self, operation: int, lines: Iterable[int]) -> dict[int, set[int]]:
        """Return the lines after each operation that some lines were made from, these among them."""
        reached: dict[int, set[int]] = {operation: set(lines)}
        for stage in reversed(self.stages):
            for n in reached.get(stage.operation.index, ()):
                for parent, line in stage.lines[n].parents:
                    reached.setdefault(parent, set()).add(line)
        return reached

    def descendants(self, operation: int, lines: Iterable[int]) -> dict[int, set[int]]:
        """Return the lines after each operation that were made from some lines, these among them."""
        reached: dict[int, set[int]] = {operation: set(lines)}
        for stage in self.stages:
            for n, line in enumerate(stage.lines):
                if any(n in reached.get(parent, ()) for parent, n in line.parents):
                    reached.setdefault(stage.operation.index, set()).add(n)
        return reached

    def only(self, lines: dict[int, set[int]]) -> Replayed:
        """Return the same with these lines of the stages alone; endings are left out."""
        place = {op: {old: new for new, old in enumerate(sorted(ns))} for op, ns in lines.items()}

        def kept(stage: Stage) -> Iterator[Line]:
            for n in sorted(lines.get(stage.operation.index, ())):
                line = stage.lines[n]
                parents = tuple((o, place[o][p]) for o, p in line.parents if p in place.get(o, {}))
                yield replace(line, parents=parents)

        stages = tuple(replace(s, lines=tuple(kept(s))) for s in self.stages if lines.get(s.operation.index))
        return replace(self, stages=stages, endings=())

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON takes it, but for the values, which are as Python has them."""
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
    """Return an ending as JSON takes it."""
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
    """One line for each row in question that ended for good: where, and why.

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
    """Return a row of an input as JSON takes it."""
    return {name: getattr(source, name) for name in InputRow.__slots__}
