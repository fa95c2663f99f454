"""Sets of rows of a version, which can be combined and passed to questions."""

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
    """Rows of one version of a dataset. Questions take a set in place of a dataset's name.

    ``a | b``, ``a & b`` and ``a - b`` return sets; ``len``, ``in`` and iteration work on row ids.
    """

    at: VersionReference
    runs: Runs

    @property
    def dataset(self) -> str:
        """Name of the dataset."""
        return str(self.at.version.dataset)

    @property
    def version(self) -> str:
        """Id of the version."""
        return self.at.version.id

    def rows(self) -> Int64:
        """Return the row ids in ascending order."""
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
            raise ArgumentError(
                f"A set of rows can only be combined with another set of rows, found {other!r}. Call select() to get "
                f"one."
            )
        if self.at.key != other.at.key:
            raise ConditionError(
                f"Row ids of version {other.version} of {other.dataset} and of version {self.version} of "
                f"{self.dataset} can't be combined. Pass one version to both questions, or convert a set with locate()."
            )
        return other.runs


def only(sets: Sequence[RowSet]) -> RowSet:
    """Return the only set of rows of an answer.

    Raises
    ------
    ConditionError
        There are several, or none.
    """
    if not sets:
        raise ConditionError(
            "The answer has no rows, but this call needs rows of one version. Check len(answer) first."
        )
    if len(sets) > 1:
        named = "; ".join(f"{one.dataset}, version {one.version}" for one in sets[:3])
        raise ConditionError(
            f"The answer has rows of {len(sets)} versions ({named}), but this call needs rows of one version. Ask "
            f"again with to=DATASET."
        )
    return sets[0]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Located(RowSet, Readable):
    """Rows of one version, as a set of another version in which they were looked up."""

    boxes: Boxes
    """Relation from the row ids in the original version to those in this version."""
    gone: RowSet
    """Rows that this version lacks, as a set of the original version."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Located) and (self.gone != other.gone or not same_pairs(self.boxes, other.boxes)):
            return False
        return RowSet.__eq__(self, other)

    __hash__ = None  # type: ignore[assignment]

    def table(self) -> pa.Table:
        """Return one line for each row that was looked up, sorted by row: row, located (null if gone), gone."""
        row, there = pairs(self.boxes)
        lost = self.gone.rows()
        rows = np.concatenate([row, lost])
        order = np.argsort(rows, kind="stable")
        places = pa.array(np.concatenate([there, np.zeros_like(lost)])[order], mask=(order >= len(row)))
        return pa.table({"row": rows[order], "located": places, "gone": order >= len(row)})
