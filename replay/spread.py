"""Distribution of values after each operation of a step: the answer of `Replayer.spread`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from provspark.index_store.profiles.comparison import Impact
from provspark.index_store.profiles.profile import ColumnProfile, Profile
from provspark.index_store.query.notebook import listed
from provspark.index_store.query.tabular import Tabular
from provspark.model.errors import ConditionError, ReplayError
from provspark.model.json_form import jsonable
from provspark.model.operations import Operation
from provspark.model.wording import counted
from provspark.replay.replaced_columns import behind, replaced_columns

__all__ = ["OperationProfile", "OperationProfiles", "difference", "operation_of"]

_CLOSE = 1e-9
"""Relative tolerance for numbers that were added up in different orders."""


@dataclass(frozen=True, slots=True)
class OperationProfile:
    """The profile of the rows after one operation."""

    operation: Operation
    profile: Profile | None
    """None if it can't be computed."""
    why: str = ""
    """The reason."""


@dataclass(frozen=True, slots=True, repr=False)
class OperationProfiles(Tabular):
    """Profiles of the rows between the operations of one write.

    Parameters
    ----------
    step, write, dataset
        The write, and the dataset that it made.
    operations : tuple of Operation
        All operations of the write.
    stages : tuple of OperationProfile
        Profiles after the selected operations and their children, in order.
    asked : tuple of int
        Numbers of the selected operations.
    verified : bool or None
        Whether the profile after the last operation equals that of the stored output; None if they could not be
        compared. `why` has the reason.
    """

    step: str
    write: int
    dataset: str
    operations: tuple[Operation, ...]
    stages: tuple[OperationProfile, ...]
    asked: tuple[int, ...]
    verified: bool | None
    why: str = ""

    def __repr__(self) -> str:
        about = f"{counted(len(self.asked), 'operation')} of step {listed([self.step])}"
        return f"<profiles of {about}, verified: {self.verified}>"

    def after(self, operation: int) -> Profile:
        """Return the profile of the rows after an operation.

        Raises
        ------
        ReplayError
            It can't be computed, or the operation was not selected.
        """
        for stage in self.stages:
            if stage.operation.index == operation:
                if stage.profile is None:
                    raise ReplayError(
                        f"the rows after operation {operation} of step {self.step}, {stage.operation.text!r}, can't be "
                        f"profiled: {stage.why}"
                    )
                return stage.profile
        operation_of(self.operations, operation, self.step)
        known = ", ".join(str(s.operation.index) for s in self.stages)
        raise ReplayError(
            f"operation {operation} of step {self.step} was not selected; this answer has the operations {known}"
        )

    def impact(self, operation: int, child: int | None = None, *, since: int | None = None) -> Impact:
        """Compare the rows before and after an operation.

        Parameters
        ----------
        operation : int
        child : int, optional
            The operation whose rows are compared, if it reads the rows of several.
        since : int, optional
            An earlier operation whose rows are compared instead. A column that several operations replace, by dropping
            it and adding a new one, is compared with the former one.

        Raises
        ------
        ReplayError
            See `after`.
        ConditionError
            The operation reads the rows of no operation, or of several and `child` is not set; it does not read those
            of `child` or `since`.
        """
        self.after(operation)
        if since is not None:
            if child is not None or since not in behind(self.operations, operation):
                raise ConditionError(
                    f"since={since} does not fit operation {operation} of step {self.step}; pass one that is before it "
                    f"({', '.join(map(str, sorted(behind(self.operations, operation)))) or 'none'}), without child="
                )
            return self._compared(since, operation)
        children = self.operations[operation].children
        if child is None and len(children) == 1:
            child = children[0]
        if child is None or child not in children:
            told = " and ".join(map(str, children)) or "none"
            raise ConditionError(
                f"operation {operation} of step {self.step} reads the rows of operations: {told}; "
                f"pass one of them as child=, or call after({operation})"
            )
        return self._compared(child, operation)

    def _compared(self, since: int, operation: int) -> Impact:
        was = replaced_columns(self.operations, since, operation)
        return Impact(self.step, self.after(since), self.after(operation), was)

    def table(self) -> pa.Table:
        """Return one line for each column and measure that changed, by selected operation and child.

        Columns: operation, node, text, site, child, column, measure, before, after, change, why. The first line of an
        operation has its number of rows and no column. If it has no profile, ``why`` has the reason. Added and dropped
        columns have lines for all their measures, and so have all columns of an operation without children.
        """
        lines: list[dict[str, Any]] = []
        for number in self.asked:
            operation = self.operations[number]
            about = {"operation": number, "node": operation.node, "text": operation.text, "site": operation.site}
            for child in operation.children or (None,):
                lines += [{**about, "child": child, **line} for line in self._lines(operation, child)]
        return pa.Table.from_pylist(lines, schema=_LINES)

    def as_dict(self) -> dict[str, Any]:
        """Return the answer in JSON form: each operation with its profile, or the reason why it has none."""
        return {
            "step": self.step,
            "write": self.write,
            "dataset": self.dataset,
            "verified": self.verified,
            "why": self.why,
            "operations": [
                {
                    "operation": s.operation.index,
                    "node": s.operation.node,
                    "text": s.operation.text,
                    "site": s.operation.site,
                    "children": list(s.operation.children),
                    "asked": s.operation.index in self.asked,
                    "profile": jsonable(s.profile),
                    "why": s.why,
                }
                for s in self.stages
            ],
        }

    def _lines(self, operation: Operation, child: int | None) -> list[dict[str, Any]]:
        try:
            after = self.after(operation.index)
            nothing = Profile("", "", 0, ())
            impact = Impact(self.step, nothing, after) if child is None else self._compared(child, operation.index)
        except ReplayError as e:
            return [{"measure": "rows", "why": str(e)}]
        kept = {None, *(name for name, old, new in impact.pairs() if old != new)}
        lines = [line for line in impact.table().to_pylist() if line["column"] in kept]
        if child is None:
            lines[0] |= {"before": None, "change": None}
        return lines


_LINES = pa.schema(
    [
        ("operation", pa.int64()),
        ("node", pa.string()),
        ("text", pa.string()),
        ("site", pa.string()),
        ("child", pa.int64()),
        ("column", pa.string()),
        ("measure", pa.string()),
        ("before", pa.float64()),
        ("after", pa.float64()),
        ("change", pa.float64()),
        ("why", pa.string()),
    ]
)


def operation_of(operations: Sequence[Operation], number: int, step: str) -> Operation:
    """Return an operation of a step by its number.

    Raises
    ------
    ReplayError
        There is no such operation.
    """
    if not 0 <= number < len(operations):
        raise ReplayError(
            f"step {step} has no operation {number}; they go from 0 to {len(operations) - 1}. "
            f"List them with operations({step!r}, parts=True)"
        )
    return operations[number]


def difference(replayed: Profile, stored: Profile) -> str:
    """Return how two profiles of the same rows differ; "" if they do not.

    Numbers that were added up may differ in their last digits.
    """
    if replayed.rows != stored.rows:
        return f"the replay ends with {replayed.rows:,} rows, and the store has {stored.rows:,}"
    mine = {c.name: c for c in replayed.columns}
    lower = {c.name.lower(): c for c in replayed.columns}
    for column in stored.columns:
        known = mine.get(column.name) or lower.get(column.name.lower())
        if known is None:
            return f"the replay ends without column {column.name}"
        measure = _differs(known, column)
        if measure:
            return f"{measure} of {column.name} differs from that of the stored rows"
    return ""


def _differs(one: ColumnProfile, other: ColumnProfile) -> str:
    real = one.type in ("float", "double") or other.type in ("float", "double")
    exact = ["count", "nulls", "distinct", "unusual"] + ([] if real else ["low", "high"])
    for name in exact:
        if getattr(one, name) != getattr(other, name):
            return name
    size = max((abs(v) for v in (*one.quantiles, one.mean or 0.0, one.deviation or 0.0)), default=0.0)
    for name in ("mean", "deviation"):
        if not _close(getattr(one, name), getattr(other, name), size):
            return name
    if len(one.quantiles) != len(other.quantiles):
        return "quantiles"
    if not all(_close(a, b, size) for a, b in zip(one.quantiles, other.quantiles, strict=True)):
        return "quantiles"
    return "top" if not real and one.complete and one.top != other.top else ""


def _close(one: float | None, other: float | None, size: float) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE * size)
