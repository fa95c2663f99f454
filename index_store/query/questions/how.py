"""Which operations are on the way of these rows?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.arguments import Edges
from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.cell_explanations import explain_cells
from provspark.index_store.query.column_choice import known_direction
from provspark.index_store.query.explanations import Explanations, explain
from provspark.index_store.query.nodes import Direction
from provspark.index_store.query.parameter_types import ColumnNames, DatasetName, Rows
from provspark.index_store.query.question import SURE, question
from provspark.index_store.query.questions.cells import cells
from provspark.index_store.query.rowset import RowSet

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["how"]


@question(follows=SURE, paper="TensProv Q5 to Q8; Chapman et al. PQ3")
def how(
    prov: Asking,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    column: ColumnNames = None,
    *,
    direction: Direction = "backward",
    to: DatasetName | None = None,
    parts: bool = False,
    **which: Unpack[Which],
) -> Explanations:
    """Find the rows, or cells, that rows or cells came from, or went into, and the operations on the way to each.

    Parameters
    ----------
    column : str or sequence of str, optional
        Columns of `dataset`: then the answer is of cells, and has the operations that touched the cell on its way.
        Without it, it is of rows, and has all operations that the rows passed.
    direction : {"backward", "forward"}
        What the rows came from, or what they went into.
    to : str, optional
        The dataset whose rows or cells are wanted, wherever it is on the way; without it, those at the ends of all
        paths.
    parts : bool
        Return each operation alone. Without it, those of one script line read as one, and those that
        `provspark.operation` named.
    dataset, rows, **which
        See `backward`. Pass ``kinds=("data", "context")`` to include context edges.

    Returns
    -------
    Explanations
        ``table()`` is the table of `backward` or `forward`, or of `cells`, with the number of each line's path; a cell
        that was found on several paths has a line for each. ``operations()`` lists the operations of each path, in
        order. ``values()`` has for each line of ``table()`` the values of the row found; of cells it is the table with
        a column ``value``, as text. Of cells, ``columns`` has for each path the column asked about and the one found;
        a constant has a path, with the operations that made it, and no lines.

    Raises
    ------
    UnknownColumnError
        The message suggests similar names, or names the operation that dropped the column.
    UntrackedError
        When nothing was found and a path stopped at something that was not captured.

    Notes
    -----
    TensProv's how-provenance, of records and of attribute values. All other errors as for `backward`. Where the rows'
    values choose the source (CASE, coalesce …), cells are a superset, and ``exact`` is false: see `cells`.
    """
    known_direction(direction)
    if column is not None:
        Edges.of("how", which)
        told = cells(prov, dataset, rows, column, direction=direction, to=to, **which)
        return explain_cells(told, parts=parts)
    asked = prov.asked("how", dataset, rows, which)
    linker, place = asked.view.linker(direction), asked.view.dataset(to)
    relation = asked.start().boxes
    return explain(linker, asked.at, asked.labels, relation, direction, place, asked.kinds, asked.used, parts=parts)
