"""Which cells did these cells come from, or go into?"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.bits import identity
from provspark.index_store.query.column_answer import Cells
from provspark.index_store.query.column_choice import known_direction, positions
from provspark.index_store.query.column_walk import ColumnsAt, carry
from provspark.index_store.query.nodes import Direction
from provspark.index_store.query.parameter_types import ColumnNames, DatasetName, Rows
from provspark.index_store.query.question import SURE, question
from provspark.index_store.query.rowset import RowSet
from provspark.model.progress import Progress

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["cells"]


@question(follows=SURE, paper="TensProv Q3, Q4")
def cells(
    prov: Asking,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    columns: ColumnNames = None,
    *,
    direction: Direction = "backward",
    to: DatasetName | None = None,
    existence: bool = False,
    replay: bool = False,
    progress: Progress | None = None,
    functions: bool = False,
    **which: Unpack[Which],
) -> Cells:
    """Find the cells that cells came from, or went into.

    A cell's lineage is, for each reading and kind of edge, its row's edges cut by its column's bits for that
    reading and kind: the name beside a windowed sum owes nothing to other rows, the sum does.

    Parameters
    ----------
    columns : str or sequence of str, optional
        Columns of `dataset`; all of them when it is left out.
    existence : bool
        Also tell the cells that decided that the row is there; they have a null for `column` (backward), or for
        `related_column` (forward).
    replay : bool
        Where the rows' values choose the source, let a replay of these rows say what they chose: of CASE, IF,
        coalesce, NVL, FILTER, pivot and unpivot what each row did read. What it can't settle stays flagged.
    progress, functions
        As for `replay`.
    direction : {"backward", "forward"}
        Where the cells came from, or what they went into.
    to : str, optional
        The dataset whose cells are wanted; without it, those at the ends of all paths.
    dataset, rows, **which
        See `backward`. Pass ``kinds=("data", "context")`` to include context edges.

    Returns
    -------
    Cells
        row, column, dataset, version, occurrence, related_row, related_column, kind, dependence, exact, why. Where
        the rows' values choose the source (CASE, coalesce, FILTER, pivot, unpivot) the answer is a superset:
        `exact` is false, and `why` names the operation.

    Notes
    -----
    TensProv's why for attribute values. Errors as for `columns` and `backward`.
    """
    known_direction(direction)
    asked = prov.asked("cells", dataset, rows, which)
    start = ColumnsAt(asked.at, identity(positions(asked, columns, direction, existence)), asked.start().boxes)
    linker = asked.view.linker(direction)
    settling = prov.settling(progress, functions) if replay else nullcontext()
    with settling as settle:
        carried = carry(linker, start, direction, asked.view.dataset(to), context=asked.context, settle=settle)
    carried = replace(carried, parts=tuple(part for part in carried.parts if part.kind in asked.kinds))
    answer = Cells(asked.at, direction, carried, existence, asked.labels, used=(asked.view.chosen.used,))
    answer.checked()
    return answer.now(asked.view.currents) if direction == "forward" else answer
