"""How rows came about: the rows behind them, or that came of them, with the operations on the way to each."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

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
from provspark.index_store.query.tabular import Tabular, former_names
from provspark.index_store.query.walk import Stand
from provspark.model.boxes import Boxes
from provspark.model.datasets import Dataset
from provspark.model.runs import Runs
from provspark.model.writes import Kind

__all__ = ["Explanations", "InputPlace", "explain"]

InputPlace = tuple[str, str, int, Kind]
"""Data set, version, occurrence, kind."""


@dataclass(frozen=True, slots=True, eq=False)
class Explanations(Tabular):
    """Rows found, and for each reading through which they were the operations on the way."""

    answer: Answer
    carried: Carried
    paths: tuple[tuple[InputPlace, int], ...]
    """Path number i leads to rows of a version, through a reading and by a kind of edge; with its operations' bits."""
    parts: bool = False
    """Whether each operation is told alone, not those of one script line as one."""

    def why(self) -> pa.Table:
        """Return `table` with its columns called as in the last release; it goes with the next one."""
        warnings.warn("how(…).why() goes with the next release: write how(…).table()", DeprecationWarning, stacklevel=2)
        return former_names(self.table())

    def table(self) -> pa.Table:
        """The rows, as `Answer.table` tells them, and the number of each one's path."""
        table = self.answer.table()
        names = ("dataset", "version", "occurrence", "kind")
        numbers = {place: i for i, (place, _) in enumerate(self.paths)}
        places = zip(*(table[n].to_pylist() for n in names), strict=True)
        return table.append_column("path", pa.array([numbers[p] for p in places], pa.int32()))

    def values(self) -> Tabular:
        """Read the values of the rows found, see `Answer.values`."""
        return self.answer.values()

    def lines(self, *, parts: bool | None = None) -> list[tuple[int, OperationLine]]:
        """The operations of each path, in the order in which they ran, after its number; as `parts` of the question
        says, unless it is given.
        """
        alone = self.parts if parts is None else parts
        return [(i, line) for i, (_, mask) in enumerate(self.paths) for line in _lines(self.carried, mask, alone)]

    def operations(self, *, parts: bool | None = None) -> pa.Table:
        """The operations of each path as a table."""
        told = self.lines(parts=parts)
        table = operation_table([line for _, line in told])
        return table.add_column(0, "path", pa.array([i for i, _ in told], pa.int32()))

    def all_operations(self, *, parts: bool | None = None) -> list[OperationLine]:
        """The operations of all paths, each once."""
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
    """Find what rows came from or went into, and the operations on the way.

    Raises
    ------
    UntrackedError
        When nothing was found and a path stopped at something that was not captured.
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
