"""Answers of `columns` and `cells`: the columns or cells that a walk found, as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provspark.index_store.query.answer import about
from provspark.index_store.query.bits import ROWS, BitEntry, named
from provspark.index_store.query.column_maps import column_map, names_of
from provspark.index_store.query.column_walk import Carried, ColumnsAt
from provspark.index_store.query.current_versions import Current, Currents, VersionUsed
from provspark.index_store.query.gone_rows import Gone
from provspark.index_store.query.nodes import Direction, VersionReference, WriteNode
from provspark.index_store.query.notebook import brief, listed
from provspark.index_store.query.paging import PAGE, first_of, paged
from provspark.index_store.query.relation import image, united
from provspark.index_store.query.row_values import Values, values_of
from provspark.index_store.query.rowset import RowSet, only
from provspark.index_store.query.tabular import FormerTable
from provspark.index_store.query.tally import distinct_pairs
from provspark.index_store.query.walk import Stand
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.pairs import pairs
from provspark.model.datasets import Dataset
from provspark.model.errors import UntrackedError
from provspark.model.operations import Dependence
from provspark.model.runs import Runs
from provspark.model.stops import Stop
from provspark.model.writes import Kind

__all__ = ["Cells", "ColumnAnswer", "ColumnLine", "reason"]


@dataclass(frozen=True, slots=True, order=True)
class ColumnLine:
    """A selected column and a related one, with their dependence; a column is None for the rows themselves."""

    column: str | None
    dataset: str
    version: str
    occurrence: int
    related_column: str | None
    kind: Kind
    dependence: Dependence
    exact: bool
    """False if only some rows use the column, depending on their values, or if the write's operations are unknown."""
    steps: tuple[str, ...]
    """The steps between the two columns, in execution order."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Answer(FormerTable):
    asked: VersionReference
    direction: Direction
    carried: Carried
    existence: bool
    """Whether the answer includes what decides which rows exist."""

    @property
    def stops(self) -> tuple[Stop, ...]:
        """Places where the answer ends early or is less precise."""
        return self.carried.stops

    @property
    def via(self) -> list[tuple[WriteNode, list[int]]]:
        """The operations on the paths, by write, in execution order."""
        mask = 0
        for part in self.carried.parts:
            for *_, via, _ in part.bits:
                mask |= via
        return self.carried.operations(mask)

    def columns_of(self, part: ColumnsAt, out: int, src: int) -> tuple[str | None, str | None]:
        """Return the names of an entry's columns: the selected one, then the related one."""
        asked, there = (out, src) if self.direction == "backward" else (src, out)
        return _name(self.asked, asked), _name(part.at, there)

    def beside(self, out: int, src: int) -> bool:
        """Whether an entry is left out: rows from rows and, without `existence`, what decides which rows exist."""
        return out == ROWS and (src == ROWS or not self.existence)

    def about(self) -> dict[bytes, str | bytes]:
        return about(self.asked.version, self.direction, self.stops)

    @property
    def _from(self) -> str:
        return f"{self.direction} from {listed([self.asked.version.dataset])}"

    def checked(self) -> None:
        """Raise `UntrackedError` if nothing was found because a path stopped."""
        blocked = [s for s in self.stops if s.what in ("untracked", "unlinked")]
        if blocked and not self.carried.parts:
            raise UntrackedError(
                f"The path {self.direction} from {self.asked.version.dataset} stops at step {blocked[0].step}, which "
                f"wrote {blocked[0].dataset}: {blocked[0].why}. Set to= to a dataset on the path before "
                f"this step, or fix the reason and run the step again."
            )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ColumnAnswer(_Answer):
    """Answer of `columns`: the columns that columns were computed from, or that were computed from them."""

    instead: ClassVar[Mapping[str, str]] = {
        **_Answer.instead,
        "rows": "columns have no rows of their own; ask prov.cells with the same columns, whose answer has rows",
        "values": "columns have no rows of their own; ask prov.cells with the same columns, whose answer has values()",
    }
    kinds: frozenset[Kind]
    """The kinds of edges to list."""

    def lines(self) -> list[ColumnLine]:
        """Return the lines, sorted; those of the rows themselves come first."""
        lines: dict[tuple[object, ...], bool] = {}
        ways: dict[tuple[object, ...], int] = {}
        for part in self.carried.parts:
            version = part.at.version
            place = str(version.dataset), version.id, part.occurrence
            for out, src, may, sure, via, _ in part.bits:
                one, other = self.columns_of(part, out, src)
                if self.beside(out, src):
                    continue
                pair = (one, *place, other)
                ways[pair] = ways.get(pair, 0) | via
                for kind, dependence, which in named(may):
                    if kind not in self.kinds:
                        continue
                    key = (*pair, kind, dependence)
                    lines[key] = lines.get(key, False) or bool(sure & which)
        steps = {pair: tuple(dict.fromkeys(n.step for n in self.carried.steps(via))) for pair, via in ways.items()}
        told = [
            ColumnLine(*key, exact, steps[key[:5]])  # type: ignore[arg-type, call-arg]
            for key, exact in lines.items()
        ]
        return sorted(told, key=lambda x: tuple((v is not None, v) for v in _values(x)[:7]))

    def __len__(self) -> int:
        return len(self.lines())

    def __repr__(self) -> str:
        return brief(f"columns {self._from}", len(self), self.stops)

    def table(self) -> pa.Table:
        """Return a table with a row for each `ColumnLine`."""
        lines = self.lines()
        columns = {name: [getattr(line, name) for line in lines] for name in _COLUMNS.names}
        return pa.table(columns, schema=_COLUMNS).replace_schema_metadata(self.about())


def _values(line: ColumnLine) -> tuple[object, ...]:
    return tuple(getattr(line, name) for name in ColumnLine.__slots__)


_COLUMNS = pa.schema(
    [
        ("column", pa.string()),
        ("dataset", pa.string()),
        ("version", pa.string()),
        ("occurrence", pa.int32()),
        ("related_column", pa.string()),
        ("kind", pa.string()),
        ("dependence", pa.string()),
        ("exact", pa.bool_()),
        ("steps", pa.list_(pa.string())),
    ]
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cells(_Answer):
    """Answer of `cells`: the cells that cells were computed from, or that were computed from them."""

    instead: ClassVar[Mapping[str, str]] = {
        **_Answer.instead,
        "possible": "cells are followed along data and context edges only. Use backward or forward for their rows",
        "ends": "cells are not followed through drivers. Use backward or forward for their rows; those answers have "
        "ends",
    }

    labels: Runs
    """The selected rows; label i is the i-th of them."""
    gone: tuple[Gone, ...] = ()
    """Counts of rows with related cells that are in no current version of their dataset."""
    used: tuple[VersionUsed, ...] = ()
    """The versions that the row ids refer to, first that of the selected rows."""

    def about(self) -> dict[bytes, str | bytes]:
        return about(self.asked.version, self.direction, self.stops, gone=self.gone, used=self.used)

    @property
    def exact(self) -> bool:
        """Whether the answer is complete and certain: it has no stop, and every row of `table` is exact."""
        return not self.stops and all(pc.all(page["exact"]).as_py() is not False for page in self.pages())

    @property
    def rows(self) -> RowSet:
        """The rows of the related cells, as a set that you can pass to the next question.

        Raises
        ------
        ConditionError
            The rows are of several versions, or there are none.
        """
        return only([RowSet(at, rows) for at, rows, _ in self._places()])

    def values(self, columns: Sequence[str] | None = None) -> Values:
        """Read the values of the rows with related cells: each row of a version once, by row id.

        Parameters
        ----------
        columns : sequence of str, optional
            Columns of the rows' dataset. Default: those with any related cell, in the dataset's order. Each row has its
            value in all of them, even if only one of its cells is related.

        Raises
        ------
        UnknownColumnError, VersionChangedError, ValuesUnavailableError
        """
        places = [(at, rows.rows(), named if columns is None else columns) for at, rows, named in self._places()]
        return values_of(places, self.about(), exact=self.exact)

    def _places(self) -> list[tuple[VersionReference, Runs, list[str]]]:
        """Return each version with related cells, with the rows and columns of these cells."""
        places: dict[object, tuple[VersionReference, Runs, set[int]]] = {}
        for part in self.carried.parts:
            told = {src for out, src, may, *_ in part.bits if may and not self.beside(out, src)}
            if part.rows is not None and len(part.rows) and told:
                _, rows, columns = places.get(part.at.key, (part.at, Runs.span(0), set()))
                places[part.at.key] = part.at, rows | image(part.rows), columns | told
        return [
            (at, rows, [name for i, name in enumerate(names_of(at), 1) if i in columns])
            for at, rows, columns in places.values()
        ]

    def __len__(self) -> int:
        return self.count

    def _first(self, most: int) -> pa.Table:
        return first_of(self.pages(most), most)

    def __repr__(self) -> str:
        places = listed(dict.fromkeys(str(at.version.dataset) for at, *_ in self._places()))
        return brief(f"cells {self._from}", len(self), self.stops, f" in {places}" if places else "")

    def now(self, currents: Currents) -> Cells:
        """Convert the related rows to current versions of their datasets, if these have the same columns."""
        here: dict[Dataset, Current] = {}
        told: list[ColumnsAt] = []
        older: list[Stand] = []
        for part in self.carried.parts:
            current = None if part.rows is None else currents.known(part.at.version.dataset, here)
            if part.rows is None or current is None or names_of(current.at) != names_of(part.at):
                told.append(part)
                continue
            brought = currents.bring([Stand(part.at, part.rows, part.occurrence, part.kind)], here)
            told += [replace(part, at=s.at, rows=s.boxes) for s in brought.stands]
            older += brought.older
        used = (*self.used, *sorted({c.used for c in here.values()} - set(self.used)))
        return replace(self._of(told), gone=currents.gone(older), used=used)

    def pages(self, size: int = PAGE) -> Iterator[pa.Table]:
        """Yield `table` in pages of at most `size` pairs of rows, each sorted and built on demand.

        There is at least one page, which may be empty. Pages are in the order of the selected rows. They can be longer
        than `size`, as a pair of rows has a table row for each dependence between two of its columns.
        """
        for part in self._cut(size):
            yield part.table()

    def lines(self, start: int, most: int) -> pa.Table:
        """Return `most` rows of the concatenated `pages` from `start` on; earlier rows are only counted."""
        tables: list[pa.Table] = []
        for part in self._cut(PAGE):
            lines = part.count
            if start < lines:
                tables.append(part.table().slice(start, most))
                most -= tables[-1].num_rows
            start = max(0, start - lines)
            if not most:
                break
        return pa.concat_tables(tables) if tables else self._of(()).table()

    @property
    def count(self) -> int:
        """Number of rows of `table`."""
        places: dict[tuple[object, ...], list[ColumnsAt]] = {}
        for part in self.carried.parts:
            if part.rows is not None:
                at = part.at.version
                places.setdefault((at.dataset, at.id, part.occurrence, part.kind), []).append(part)
        total = 0
        for same in places.values():
            having: dict[tuple[object, ...], list[Boxes]] = {}
            for part in same:
                assert part.rows is not None
                for key in {
                    (*self.columns_of(part, out, src), dependence)
                    for out, src, may, *_ in part.bits
                    if not self.beside(out, src)
                    for _, dependence, _ in named(may)
                }:
                    having.setdefault(key, []).append(part.rows)
            known: dict[tuple[int, ...], int] = {}
            for parts in having.values():
                which = tuple(map(id, parts))
                if which not in known:
                    known[which] = distinct_pairs(united(parts))
                total += known[which]
        return total

    def _cut(self, size: int) -> Iterator[Cells]:
        there = [part for part in self.carried.parts if part.rows is not None]
        for page in paged([(0, f.rows) for f in there if f.rows is not None], size):
            yield self._of(replace(f, rows=b) for f, b in zip(there, page, strict=True) if len(b))

    def _of(self, parts: Iterable[ColumnsAt]) -> Cells:
        return replace(self, carried=replace(self.carried, parts=tuple(parts)))

    def entries(self, part: ColumnsAt) -> Iterator[tuple[str | None, str | None, BitEntry]]:
        """Yield the entries in the answer: the selected column, the related column, the entry.

        Entries that only list operations, such as those that made a constant, are yielded for the rows themselves, not
        also for columns that decided which rows exist.
        """
        for entry in part.bits:
            _, src, may, *_ = entry
            if not self.beside(*entry[:2]) and (may or src == ROWS):
                yield *self.columns_of(part, *entry[:2]), entry

    def table(self) -> pa.Table:
        """Return a table of the related cells, sorted and without duplicates.

        Its columns are row, column, dataset, version, occurrence, related_row, related_column, kind, dependence, exact
        and why. If ``exact`` is false, ``why`` names the operations that choose a source by row.
        """
        return self.numbered(None)

    def numbered(self, number: Callable[[ColumnsAt, BitEntry], int] | None) -> pa.Table:
        """Return `table`; with `number`, also a column ``path``, the number of each row's entry."""
        words = _Words()
        coded = _CODED if number is None else (*_CODED[:-2], "path", *_CODED[-2:])
        parts: list[list[Int64]] = [[] for _ in coded]
        for part in self.carried.parts:
            if part.rows is None:
                continue
            label, row = pairs(part.rows)
            version = part.at.version
            place = [words.code(w) for w in (str(version.dataset), version.id)]
            for one, other, entry in self.entries(part):
                _, _, may, sure, _, doubt = entry
                path = () if number is None else (number(part, entry),)
                for _, dependence, which in named(may):
                    exact = bool(sure & which)
                    why = None if exact else self.reason(doubt)
                    names = [words.code(w) for w in (one, other, part.kind, dependence, why)]
                    lead = [label, names[0], *place, part.occurrence, row, *names[1:4]]
                    values = [*lead, *path, int(not exact), names[4]]
                    for column, value in zip(parts, values, strict=True):
                        column.append(np.broadcast_to(np.asarray(value, dtype=np.int64), label.shape))
        return self._table(coded, [np.concatenate([*p, np.zeros(0, dtype=np.int64)]) for p in parts], words)

    def _table(self, coded: tuple[str, ...], columns: list[Int64], words: _Words) -> pa.Table:
        """Sort rows by their words; of rows that are equal but for ``exact`` and ``why``, keep the exact one."""
        rank = words.ranks()
        keys = [rank[c] if name in _WORDS else c for name, c in zip(coded, columns, strict=True)]
        order = np.lexsort(keys[::-1])
        columns, keys = [c[order] for c in columns], [k[order] for k in keys[:-2]]
        new = np.ones(len(order), dtype=np.bool_)
        if len(order):
            new[1:] = np.any([k[1:] != k[:-1] for k in keys], axis=0)
        told = dict(zip(coded, (c[new] for c in columns), strict=True))
        arrays = {name: words.array(told[name]) if name in _WORDS else pa.array(told[name]) for name in coded}
        arrays["row"] = pa.array(self.labels.at(told["row"]))
        arrays["occurrence"] = arrays["occurrence"].cast(pa.int32())
        arrays["exact"] = pa.array(told["exact"] == 0)
        return pa.table(arrays).replace_schema_metadata(self.about())

    def reason(self, doubt: int) -> str:
        """Return a text that names the operations that choose a source by row."""
        return reason(self.carried, doubt)


def reason(carried: Carried, doubt: int) -> str:
    """Return a text that names the operations that choose a source by row, or says what is unknown about a step."""
    told = []
    for node, indexes in carried.operations(doubt):
        for i in indexes:
            if i < len(node.operations):
                op = node.operations[i]
                told.append(op.text + (f" ({op.site})" if op.site else ""))
            elif node.write.coverage == "coarse":
                told.append(f"step {node.step} was captured as a whole")
            elif column_map(node).known:
                told.append(f"step {node.step} reads the rows as context in several ways, for different columns")
            else:
                told.append(f"step {node.step} kept no operations")
        if indexes and node in carried.unsettled:
            told.append(f"replay does not settle it: {carried.unsettled[node]}")
    return "; ".join(told)


_CODED = (
    *("row", "column", "dataset", "version", "occurrence", "related_row", "related_column", "kind", "dependence"),
    *("exact", "why"),
)
_WORDS = {"column", "dataset", "version", "related_column", "kind", "dependence", "why"}


class _Words:
    """Words and their numbers; 0 is None."""

    def __init__(self) -> None:
        self.numbers: dict[str | None, int] = {None: 0}

    def code(self, word: str | None) -> int:
        return self.numbers.setdefault(word, len(self.numbers))

    def ranks(self) -> Int64:
        """Return the rank of each number's word in sorted order; None comes first."""
        ordered = sorted(self.numbers, key=lambda w: (w is not None, w or ""))
        out = np.zeros(len(ordered), dtype=np.int64)
        for at, word in enumerate(ordered):
            out[self.numbers[word]] = at
        return out

    def array(self, codes: Int64) -> pa.Array:
        """Return a dictionary array; number 0 is null."""
        words = pa.array(list(self.numbers)[1:], pa.string())
        indices = pa.array(codes.astype(np.int32) - 1, mask=codes == 0)
        return pa.DictionaryArray.from_arrays(indices, words)


def _name(at: VersionReference, position: int) -> str | None:
    return None if position == ROWS else names_of(at)[position - 1]
