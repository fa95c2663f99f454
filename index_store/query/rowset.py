"""Sets of rows of a version, to be united, intersected, taken from one another, and asked about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from provspark.errors import ArgumentError, ConditionError
from provspark.index_store.model import Int64
from provspark.index_store.query.graph import Sighting
from provspark.index_store.query.runs import Runs


@dataclass(frozen=True, slots=True, eq=False)
class RowSet:
    """Rows of one version of a data set, held as runs; questions take it in place of a data set's name.

    ``a | b``, ``a & b`` and ``a - b`` are sets again; ``len``, ``in`` and iteration are those of the row ids.
    """

    at: Sighting
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
        return isinstance(row, int) and bool(self.runs & Runs.of([row]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowSet) and self.at.key == other.at.key and self.runs == other.runs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self):,} of {self.at.version.rows:,} rows of {self.dataset}, version {self.version[:8]}>"

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
                f"rows of version {other.version} of {other.dataset} and of version {self.version} of {self.dataset} "
                f"are no rows of one numbering; ask both questions of one version"
            )
        return other.runs
