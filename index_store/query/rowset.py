"""Sets of rows of a version, to be united, intersected, taken from one another, and asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from provspark.index_store.query.intersections import same_pairs
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.notebook import SHOWN, listed, table_html
from provspark.index_store.query.tabular import Readable
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.pairs import pairs
from provspark.model.errors import ArgumentError, ConditionError
from provspark.model.runs import Runs
from provspark.model.wording import counted


@dataclass(frozen=True, slots=True, eq=False)
class RowSet:
    """Rows of one version of a data set, held as runs; questions take it in place of a data set's name.

    ``a | b``, ``a & b`` and ``a - b`` are sets again; ``len``, ``in`` and iteration are those of the row ids.
    """

    at: VersionReference
    runs: Runs

    @property
    def dataset(self) -> str:
        """The data set's name."""
        return str(self.at.version.dataset)

    @property
    def version(self) -> str:
        """The version's id."""
        return self.at.version.id

    def rows(self) -> Int64:
        """The row ids, ascending."""
        return self.runs.rows()

    def __len__(self) -> int:
        return self.runs.count

    def __iter__(self) -> Iterator[int]:
        return iter(self.rows().tolist())

    def __contains__(self, row: object) -> bool:
        return isinstance(row, int | np.integer) and bool(self.runs & Runs.of([int(row)]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowSet) and self.at.key == other.at.key and self.runs == other.runs

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.rows() if dtype is None else self.rows().astype(dtype)

    def __repr__(self) -> str:
        name = listed([self.dataset])
        return f"<{len(self):,} of {self.at.version.rows:,} rows of {name}, version {self.version[:8]}>"

    def _repr_html_(self) -> str:
        runs = self.runs
        first, last = runs.starts[:SHOWN], (runs.starts + runs.lengths - 1)[:SHOWN]
        about = f"{len(self):,} of {self.at.version.rows:,} rows of {self.dataset}, version {self.version}"
        left = len(runs.starts) - len(first)
        notes = [about, *([f"… and {counted(left, 'more range')} of rows"] if left else [])]
        return table_html(pa.table({"first row": first, "last row": last}), notes, len(runs.starts))

    def __or__(self, other: RowSet) -> RowSet:
        return RowSet(self.at, self.runs | self._alike(other))

    def __and__(self, other: RowSet) -> RowSet:
        return RowSet(self.at, self.runs & self._alike(other))

    def __sub__(self, other: RowSet) -> RowSet:
        return RowSet(self.at, self.runs - self._alike(other))

    def _alike(self, other: RowSet) -> Runs:
        if not isinstance(other, RowSet):
            raise ArgumentError(f"a set of rows is united with, cut with or taken from another set, found {other!r}")
        if self.at.key != other.at.key:
            raise ConditionError(
                f"row ids of version {other.version} of {other.dataset} and of version {self.version} of "
                f"{self.dataset} can't be combined; ask both questions of one version, or convert one set with locate()"
            )
        return other.runs


def only(sets: Sequence[RowSet]) -> RowSet:
    """Return the only one of the sets of rows that an answer has.

    Raises
    ------
    ConditionError
        There are several, or none.
    """
    if not sets:
        raise ConditionError("the answer has no rows, but this call needs rows of one version")
    if len(sets) > 1:
        named = "; ".join(f"{one.dataset}, version {one.version}" for one in sets[:3])
        raise ConditionError(
            f"the answer has rows of {len(sets)} versions ({named}), but this call needs rows of one version; ask "
            f"again with to=DATASET"
        )
    return sets[0]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Located(RowSet, Readable):
    """Rows of a version, as a set of the version in which they were looked for."""

    boxes: Boxes
    """From the row ids that they had to those that they have."""
    gone: RowSet
    """Those that this version lacks, as rows of the version in which they were."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Located) and (self.gone != other.gone or not same_pairs(self.boxes, other.boxes)):
            return False
        return RowSet.__eq__(self, other)

    __hash__ = None  # type: ignore[assignment]

    def table(self) -> pa.Table:
        """One line for each row that was looked for: row, located (null where it is gone), gone; by row."""
        row, there = pairs(self.boxes)
        lost = self.gone.rows()
        rows = np.concatenate([row, lost])
        order = np.argsort(rows, kind="stable")
        places = pa.array(np.concatenate([there, np.zeros_like(lost)])[order], mask=(order >= len(row)))
        return pa.table({"row": rows[order], "located": places, "gone": order >= len(row)})
