"""Answer of `how` for cells: the related cells, with the operations on the path to each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provspark.index_store.query.answer import Answer
from provspark.index_store.query.bits import BitEntry
from provspark.index_store.query.column_answer import Cells
from provspark.index_store.query.column_walk import ColumnsAt
from provspark.index_store.query.explanations import Explanations, InputPlace
from provspark.index_store.query.missing_sides import no_match
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.operation_list import OperationLine
from provspark.index_store.query.reachable_rows import collected
from provspark.index_store.query.tabular import TableAnswer, written
from provspark.index_store.query.walk import Stand
from provspark.model.stops import Stop

__all__ = ["CellExplanations", "explain_cells"]

_Path = tuple[InputPlace, str | None, str | None, int, int]
"""Dataset, version, occurrence and kind; the selected column; the related column; the bits of the operations; the bits
of the outer joins that made the cell null because they found no match."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CellExplanations(Explanations):
    """Related cells, and for each path to them the operations that touched the cell.

    A path leads from one selected column to one related column, so it has only operations that touched these.
    """

    cells: Cells = field(kw_only=True)
    columns: tuple[tuple[str | None, str | None], ...] = field(kw_only=True)
    """For each path, the selected column and the related one; None for the rows themselves."""
    unmatched: tuple[int, ...] = field(kw_only=True)
    """For each path, the bits of the outer joins that made the cell null because they found no match."""

    @property
    def stops(self) -> tuple[Stop, ...]:
        """Places where the answer ends early or is less precise."""
        return self.cells.stops

    def table(self) -> pa.Table:
        """Return `Cells.table` with a column ``path``, the number of each cell's path.

        A cell on two paths has a row for each.
        """
        numbers = {path: i for i, path in enumerate(self._paths())}
        return self.cells.numbered(lambda part, entry: numbers[_path(self.cells, part, entry)])

    @property
    def exact(self) -> bool:
        """Whether the answer is complete and certain; see `Cells.exact`."""
        return self.cells.exact

    def __len__(self) -> int:
        return int(written(self).num_rows)

    def _first(self, most: int) -> pa.Table:
        return written(self).slice(0, most)

    def values(self, columns: Sequence[str] | None = None) -> TableAnswer:
        """Return `table` with a column ``value``, the value of each related cell as text.

        The value is null in rows without a `related_column`, such as that of a count of rows.

        Parameters
        ----------
        columns : sequence of str, optional
            Only return related cells in these columns.

        Raises
        ------
        VersionChangedError, ValuesUnavailableError
        """
        table = written(self)
        places = {(str(p.at.version.dataset), p.at.version.id): p.at for p in self.cells.carried.parts}
        keys = list(zip(*(table[n].to_pylist() for n in ("dataset", "version", "related_column")), strict=True))
        rows, values = table["related_row"].to_numpy(), np.full(len(keys), None, dtype=object)
        for key in dict.fromkeys(keys):
            *place, column = key
            if column is not None:
                mine = np.array([i for i, k in enumerate(keys) if k == key])
                values[mine] = _texts(places[tuple(place)], rows[mine], column)
        told = table.append_column("value", pa.array(values.tolist(), pa.string()))
        if columns is not None:
            told = told.filter(pc.is_in(told["related_column"], value_set=pa.array(columns, pa.string())))
        return TableAnswer(told.replace_schema_metadata(table.schema.metadata))

    def lines(self, *, parts: bool | None = None) -> list[tuple[int, OperationLine]]:
        """Return `Explanations.lines`; an outer join that made the cell null names the side without a match."""
        return [(i, self._told(self.unmatched[i], line)) for i, line in Explanations.lines(self, parts=parts)]

    def _told(self, mask: int, line: OperationLine) -> OperationLine:
        for node, marked in self.carried.operations(mask):
            if (node.step, node.write.index) == (line.step, line.write):
                said = no_match(node, marked)
                why = [said[i] for i in line.operations if i in said]
                return replace(line, text=f"{line.text}: {why[0]}") if why else line
        return line

    def _paths(self) -> list[_Path]:
        told = zip(self.paths, self.columns, self.unmatched, strict=True)
        return [(place, one, other, mask, unmatched) for (place, mask), (one, other), unmatched in told]


def explain_cells(cells: Cells, *, parts: bool = False) -> CellExplanations:
    """Find the operations on the path to each cell."""
    paths: set[_Path] = set()
    stands = []
    for part in cells.carried.parts:
        own = {_path(cells, part, entry): entry for *_, entry in cells.entries(part)}
        paths.update(own)
        if part.rows is not None and any(may for _, _, may, *_ in own.values()):
            stands.append(Stand(part.at, part.rows, part.occurrence, part.kind))
    ordered = sorted(paths, key=lambda p: (p[0], *((name is not None, name or "") for name in p[1:3]), *p[3:]))
    rows = collected(stands)
    answer = Answer(cells.asked.version, cells.labels, cells.direction, tuple(rows), cells.stops, used=cells.used)
    told = tuple((place, mask) for place, _, _, mask, _ in ordered)
    columns = tuple((one, other) for _, one, other, *_ in ordered)
    unmatched = tuple(marked for *_, marked in ordered)
    return CellExplanations(answer, cells.carried, told, parts, cells=cells, columns=columns, unmatched=unmatched)


def _path(cells: Cells, part: ColumnsAt, entry: BitEntry) -> _Path:
    out, src, may, _, via, doubt = entry
    version, columns = part.at.version, cells.columns_of(part, out, src)
    return (str(version.dataset), version.id, part.occurrence, part.kind), *columns, via, 0 if may else doubt


def _texts(at: VersionReference, rows: np.ndarray, column: str) -> list[str | None]:
    """Return the values of a column in some rows, as text."""
    from provspark.index_store.values import read_rows

    values = read_rows(at.version, at.files, rows, [column]).column(0).to_pylist()
    return [None if value is None else str(value) for value in values]
