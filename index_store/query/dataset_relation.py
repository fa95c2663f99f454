"""Answer of `correspondence`: which rows of one dataset derive from which rows of another, as a sparse matrix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from provspark.index_store.query.answer import about
from provspark.index_store.query.current_versions import VersionUsed
from provspark.index_store.query.intersections import same_pairs
from provspark.index_store.query.links import between
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.notebook import brief, listed
from provspark.index_store.query.paging import PAGE, first_of, paged
from provspark.index_store.query.relation import compose, identity, image, restrict, united
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.shared_records import settled
from provspark.index_store.query.tabular import Tabular, both_names, repeated
from provspark.index_store.query.tally import tally
from provspark.index_store.query.walk import Stand
from provspark.model.boxes import Boxes
from provspark.model.boxes.overlap import disjoint
from provspark.model.boxes.pairs import pairs
from provspark.model.errors import ConditionError, PackageMissingError
from provspark.model.runs import Runs
from provspark.model.stops import Stop
from provspark.model.wording import counted

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Correspondence(Tabular):
    """Pairs of related rows of two datasets: the boolean product of all tensors, over all paths and occurrences."""

    at: VersionReference
    """The version whose rows are the matrix's rows."""
    parts: tuple[tuple[VersionReference, Boxes], ...]
    """Each version of the other dataset that was reached, and the pairs (row, row of that version); a record that
    several versions share is in the first only."""
    stops: tuple[Stop, ...]
    used: tuple[VersionUsed, ...] = ()
    """The version whose rows are the matrix's rows, and how it was chosen."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Correspondence):
            return NotImplemented
        mine, theirs = ({where.key: boxes for where, boxes in one.parts} for one in (self, other))
        alike = (self.at.key, self.stops, mine.keys()) == (other.at.key, other.stops, theirs.keys())
        return self is other or (alike and all(same_pairs(boxes, theirs[key]) for key, boxes in mine.items()))

    def __hash__(self) -> int:
        return hash((self.at.key, self.stops))

    @classmethod
    def of(
        cls, at: VersionReference, stands: Sequence[Stand], stops: tuple[Stop, ...], used: tuple[VersionUsed, ...] = ()
    ) -> Correspondence:
        """Build the answer from what was reached from the rows of `at`."""
        versions: dict[object, tuple[VersionReference, list[Boxes]]] = {}
        for stand in settled(stands):
            versions.setdefault(stand.at.key, (stand.at, []))[1].append(stand.boxes)
        return cls(at, tuple((where, united(boxes)) for where, boxes in versions.values()), stops, used)

    @property
    def exact(self) -> bool:
        """Whether the answer is complete: it has no stop."""
        return not self.stops

    def __len__(self) -> int:
        return self.edges

    def _first(self, most: int) -> pa.Table:
        return first_of(self.pages(most), most)

    def _notes(self) -> Iterable[object]:
        return self.stops

    def __repr__(self) -> str:
        places = listed(dict.fromkeys(str(where.version.dataset) for where, _ in self.parts)) or "no rows"
        about = f"correspondence of {listed([self.at.version.dataset])} with {places}"
        return brief(about, None, self.stops, f": {counted(self.edges, 'pair')}")

    @property
    def edges(self) -> int:
        """Number of distinct pairs."""
        return sum(disjoint(boxes).edges for _, boxes in self.parts)

    @property
    def rows(self) -> RowSet:
        """The rows with a counterpart."""
        return self._rows([boxes for _, boxes in self.parts])

    def sources(self) -> tuple[RowSet, ...]:
        """Return the counterparts as a set for each version."""
        return tuple(RowSet(where, image(boxes)) for where, boxes in self.parts)

    def using(self, *chosen: RowSet) -> RowSet:
        """Return the rows with a counterpart among chosen rows, such as those that use a row without consent.

        Chosen rows of another version than the one that was read are located in it by the files that both share.
        """
        return self._rows([restrict(boxes, _within(rows, where)) for where, boxes in self.parts for rows in chosen])

    def of_rows(self, rows: RowSet) -> Correspondence:
        """Return the pairs of some rows."""
        kept = identity(_within(rows, self.at))
        return replace(self, parts=tuple((where, compose(kept, boxes)) for where, boxes in self.parts))

    def counts(self) -> pa.Table:
        """Return a table of row and count, the number of its distinct counterparts; rows without any are left out."""
        tallies = [tally(boxes) for _, boxes in self.parts]
        row = np.concatenate([t.label for t in tallies] or [np.zeros(0, dtype=np.int64)])
        count = np.concatenate([t.count for t in tallies] or [row])
        if len(tallies) > 1:
            row, place = np.unique(row, return_inverse=True)
            count = np.bincount(place, count, len(row)).astype(np.int64)
        return pa.table({"row": row, "count": count})

    def pages(self, size: int = PAGE) -> Iterator[pa.Table]:
        """Yield `table` in pages of at most `size` pairs, each built on demand.

        There is at least one page, which may be empty.
        """
        for page in paged([(i, boxes) for i, (_, boxes) in enumerate(self.parts)], size):
            parts = [(where, boxes) for (where, _), boxes in zip(self.parts, page, strict=True) if len(boxes)]
            yield replace(self, parts=tuple(parts)).table()

    def table(self) -> pa.Table:
        """Return all pairs, sorted: row, dataset, version, related_row, and its former name source_row."""
        told = about(self.at.version, "backward", self.stops, used=self.used)
        tables = []
        for where, boxes in self.parts:
            row, source = pairs(boxes)
            name, version = (repeated(word, len(row)) for word in (str(where.version.dataset), where.version.id))
            tables.append(pa.table({"row": row, "dataset": name, "version": version, "related_row": source}))
        if not tables:
            word = pa.dictionary(pa.int32(), pa.string())
            kinds = {"row": pa.int64(), "dataset": word, "version": word, "related_row": pa.int64()}
            return both_names(pa.schema(kinds).empty_table()).replace_schema_metadata(told)
        table = tables[0] if len(tables) == 1 else pa.concat_tables(tables).sort_by("row")
        return both_names(table).replace_schema_metadata(told)

    def matrix(self) -> csr_array:
        """Return the pairs as a boolean scipy.sparse matrix.

        Raises
        ------
        ConditionError
            Several versions of the other dataset were reached, so row ids alone don't identify their rows.
        PackageMissingError
            scipy is not installed.
        """
        try:
            from scipy.sparse import csr_array
        except ImportError:
            raise PackageMissingError("a correspondence as a matrix", "scipy") from None
        if len(self.parts) > 1:
            raise ConditionError(
                f"The rows come from {len(self.parts)} versions of {self.parts[0][0].version.dataset}, which don't fit "
                f"into one matrix. Use table() instead."
            )
        n = self.at.version.rows
        if not self.parts:
            return csr_array((n, 0), dtype=np.bool_)
        where, boxes = self.parts[0]
        row, source = pairs(boxes)
        ends = np.searchsorted(row, np.arange(n + 1))
        return csr_array((np.ones(len(row), dtype=np.bool_), source, ends), shape=(n, where.version.rows))

    def _rows(self, parts: list[Boxes]) -> RowSet:
        runs = Runs.span(0)
        for boxes in parts:
            runs |= Runs.united(boxes.out, boxes.n_out)
        return RowSet(self.at, runs)


def _within(rows: RowSet, where: VersionReference) -> Runs:
    """Return the rows of a set as rows of the version that was read."""
    mine, theirs = rows.at.version, where.version
    if rows.at.key == where.key:
        return rows.runs
    if mine.dataset != theirs.dataset or "jdbc" in (mine.format, theirs.format):
        raise ConditionError(
            f"Rows of version {mine.id} of {mine.dataset} can't be located in version {theirs.id} of {theirs.dataset}, "
            f"which this correspondence is about. Select rows of that version with version=…"
        )
    links = between(rows.at, where)
    for refused in links.refused:
        if refused.rows & rows.runs:
            raise ConditionError(f"Rows of {mine.dataset} can't be located in version {theirs.id}: {refused.why}")
    whole = identity(rows.runs)
    return reduce(or_, (image(compose(whole, link.boxes)) for link in links.links), Runs.span(0))
