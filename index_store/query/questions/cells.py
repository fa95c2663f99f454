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
    """Find the source cells of the given cells, or the cells derived from them.

    The sources of a cell are in the row's source rows, in the columns from which its column was computed. For example,
    a row has a name and a sum over a window: the sum comes from all rows of the window, the name only from its own row.

    Parameters
    ----------
    columns : str or sequence of str, optional
        Columns of `dataset`. Default: all.
    existence : bool
        Also return the cells that decided whether the row exists (filters, join keys). These lines have a null
        ``column`` (backward) or ``related_column`` (forward).
    replay : bool
        Replay the rows to find which source each CASE, IF, coalesce, NVL, FILTER, pivot or unpivot chose. Lines
        that the replay can't determine keep a false `exact`, with the reason in `why`.
    functions : bool
        With `replay`: also run user-defined Python functions. Their modules must be importable. The script itself never
        runs.
    progress
        As for `replay`.
    direction : {"backward", "forward"}
        Find source cells, or derived cells.
    to : str, optional
        Return cells of this dataset. Default: those at the ends of all paths.
    dataset, rows, **which
        See `backward`. Pass ``kinds=("data", "context")`` to include context edges.

    Returns
    -------
    Cells
        row, column, dataset, version, occurrence, related_row, related_column, kind, dependence, exact, why. If the
        values of a row determine the source (CASE, coalesce, FILTER, pivot, unpivot), the answer is a superset:
        `exact` is false, and `why` names the operation.

    Notes
    -----
    TensProv's why-provenance of attribute values. Errors as for `columns` and `backward`.
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
