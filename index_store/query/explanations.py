"""Answer of `how` for rows: the related rows, with the operations on the path to each."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from provspark.index_store.query.answer import Answer
from provspark.index_store.query.bits import ROWS, identity
from provspark.index_store.query.column_walk import Carried, ColumnsAt, carry
from provspark.index_store.query.current_versions import VersionUsed
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import Direction, VersionReference
from provspark.index_store.query.operation_list import OperationLine, operation_lines, operation_table
from provspark.index_store.query.reachable_rows import Reach, collected
from provspark.index_store.query.row_values import Values
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.tabular import FormerTable, TableAnswer, former_names
from provspark.index_store.query.walk import Stand
from provspark.model.boxes import Boxes
from provspark.model.datasets import Dataset
from provspark.model.runs import Runs
from provspark.model.stops import Stop
from provspark.model.wording import counted
from provspark.model.writes import Kind

__all__ = ["Explanations", "InputPlace", "explain"]

InputPlace = tuple[str, str, int, Kind]
"""Dataset, version, occurrence, kind."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanations(FormerTable):
    """Related rows, and for each reading through which they were reached the operations on the path."""

    instead: ClassVar[Mapping[str, str]] = {
        **FormerTable.instead,
        "possible": "how follows data and context edges only. Ask backward or forward, which follow possible edges",
        "ends": "how does not follow rows that were collected on a driver. Ask backward or forward, whose answers "
        "have ends",
    }
    answer: Answer
    carried: Carried
    paths: tuple[tuple[InputPlace, int], ...]
    """Path i leads to rows of a version, through a reading and by a kind of edge; with the bits of its operations."""
    parts: bool = False
    """Whether each operation has a line of its own; otherwise, those of one script line are combined."""

    def why(self) -> pa.Table:
        """Return `table` with the column names of the last release; the next release removes this method."""
        warnings.warn("how(…).why() goes with the next release: write how(…).table()", DeprecationWarning, stacklevel=2)
        return former_names(self.table())

    @property
    def stops(self) -> tuple[Stop, ...]:
        """Places where the answer ends early or is less precise."""
        return self.answer.stops

    @property
    def exact(self) -> bool:
        """Whether the answer is complete and certain; see `Answer.exact`."""
        return self.answer.exact

    @property
    def rows(self) -> RowSet:
        """The related rows, as a set that you can pass to the next question; see `Answer.rows`."""
        return self.answer.rows

    def values(self, columns: Sequence[str] | None = None) -> Values | TableAnswer:
        """Read the values of the related rows; see `Answer.values`."""
        return self.answer.values(columns)

    def __len__(self) -> int:
        return len(self.answer)

    def _first(self, most: int) -> pa.Table:
        return self._with_paths(self.answer._first(most))

    def __repr__(self) -> str:
        return f"<how: {counted(len(self.paths), 'path')}, {repr(self.answer)[1:-1]}>"

    def table(self) -> pa.Table:
        """Return `Answer.table` with a column ``path``, the number of each row's path."""
        return self._with_paths(self.answer.table())

    def _with_paths(self, table: pa.Table) -> pa.Table:
        names = ("dataset", "version", "occurrence", "kind")
        numbers = {place: i for i, (place, _) in enumerate(self.paths)}
        places = zip(*(table[n].to_pylist() for n in names), strict=True)
        return table.append_column("path", pa.array([numbers[p] for p in places], pa.int32()))

    def lines(self, *, parts: bool | None = None) -> list[tuple[int, OperationLine]]:
        """Return the number of each path with each of its operations, in execution order.

        Without `parts`, the question's parameter of this name applies.
        """
        alone = self.parts if parts is None else parts
        return [(i, line) for i, (_, mask) in enumerate(self.paths) for line in _lines(self.carried, mask, alone)]

    def operations(self, *, parts: bool | None = None) -> pa.Table:
        """Return the operations of each path as a table."""
        told = self.lines(parts=parts)
        table = operation_table([line for _, line in told])
        return table.add_column(0, "path", pa.array([i for i, _ in told], pa.int32()))

    def all_operations(self, *, parts: bool | None = None) -> list[OperationLine]:
        """Return the operations of all paths, each once."""
        mask = 0
        for _, own in self.paths:
            mask |= own
        return _lines(self.carried, mask, self.parts if parts is None else parts)


def explain(
    linker: Linker,
    start: VersionReference,
    labels: Runs,
    relation: Boxes,
    direction: Direction,
    to: Dataset | None,
    kinds: frozenset[Kind],
    used: tuple[VersionUsed, ...] = (),
    *,
    parts: bool = False,
) -> Explanations:
    """Find the rows that given rows came from or went into, and the operations on the path.

    Raises
    ------
    UntrackedError
        No rows were reached, because a path stopped where lineage is missing.
    """
    begin = ColumnsAt(start, identity([ROWS]), relation)
    carried = carry(linker, begin, direction, to, context="context" in kinds, cut=False)
    stands: list[Stand] = []
    masks: dict[InputPlace, int] = {}
    for part in carried.parts:
        if part.rows is None or part.kind not in kinds:
            continue
        stands.append(Stand(part.at, part.rows, part.occurrence, part.kind))
        version = part.at.version
        place = str(version.dataset), version.id, part.occurrence, part.kind
        masks[place] = masks.get(place, 0) | int(np.bitwise_or.reduce(part.bits.via)) if len(part.bits) else 0
    reach = Reach(tuple(collected(stands)), carried.stops)
    answer = Answer.of(start.version, labels, direction, reach, kinds, used=used)
    return Explanations(answer, carried, tuple(sorted(masks.items())), parts)


def _lines(carried: Carried, mask: int, parts: bool) -> list[OperationLine]:
    return [x for node, chosen in carried.operations(mask) for x in operation_lines(node, chosen, parts=parts)]
