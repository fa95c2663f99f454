"""Which cells are around these cells, and which edges are between them?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.cell_neighbourhood import CellNeighbourhood, collect_cells
from provspark.index_store.query.column_choice import chosen, known_direction
from provspark.index_store.query.column_maps import names_of
from provspark.index_store.query.neighbourhood import collect_rows
from provspark.index_store.query.nodes import Direction
from provspark.index_store.query.parameter_types import ColumnNames, DatasetName, Rows
from provspark.index_store.query.question import SURE, question
from provspark.index_store.query.rowset import RowSet
from provspark.model.neighbours import RowNode

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["cell_neighbourhood"]


@question(follows=SURE)
def cell_neighbourhood(
    prov: Asking,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    columns: ColumnNames = None,
    direction: Direction = "backward",
    *,
    hops: int | None = None,
    limit: int = 10_000,
    **which: Unpack[Which],
) -> CellNeighbourhood:
    """Collect the source cells or derived cells of the given cells as a graph, for export.

    Parameters
    ----------
    columns : str or sequence of str, optional
        Columns of `dataset`. Default: all.
    direction : {"backward", "forward"}
        Collect source cells, or derived cells.
    dataset, rows, hops, limit, **which
        See `neighbourhood`.

    Returns
    -------
    CellNeighbourhood
        ``cells``, ``edges``, ``prov_json()``.
    """
    known_direction(direction)
    asked = prov.asked("cell_neighbourhood", dataset, rows, which)
    names = [names_of(asked.at)[p - 1] for p in chosen(asked, columns)]
    linker, context = asked.view.linker(direction), asked.context
    near = collect_rows(linker, asked.at, asked.labels, direction, context=context, hops=hops, limit=limit)
    version = asked.at.version
    start = [RowNode(str(version.dataset), version.id, row) for row in asked.labels.rows().tolist()]
    return collect_cells(near, start, names, direction, limit=limit)
