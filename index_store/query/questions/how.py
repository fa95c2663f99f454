"""Which operations did these rows go through?"""

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
    """List the operations between rows (or cells) and their sources, or between them and their results.

    Parameters
    ----------
    column : str or sequence of str, optional
        Columns of `dataset`: find cells instead of rows, with only the operations that touched the cell. Without it,
        the answer has rows, with all operations that they went through.
    direction : {"backward", "forward"}
        Find sources, or results.
    to : str, optional
        Return only rows or cells of this dataset, wherever it is on a path. Default: those at the ends of all paths.
    parts : bool
        Return each operation on its own, instead of combining the operations of one script line. Without it, the
        operations that `provspark.operation` names are combined, too.
    dataset, rows, **which
        See `backward`. Pass ``kinds=("data", "context")`` to include context edges.

    Returns
    -------
    Explanations
        ``table()`` is the table of `backward` or `forward`, or of `cells`, with the number of each line's path; a cell
        that is found on several paths has a line for each. ``operations()`` lists the operations of each path, in
        order. ``values()`` returns for each line of ``table()`` the values of the related row; for cells it is the
        table with a column ``value``, as text. For cells, ``columns`` has for each path the given column and the
        related one; a constant has a path, with the operations that made it, and no lines.

    Raises
    ------
    UnknownColumnError
        The message suggests similar names, or names the operation that dropped the column.
    UntrackedError
        Nothing was found, and a path stopped at something that was not captured.

    Notes
    -----
    TensProv's how-provenance of records and of attribute values. All other errors as for `backward`. If the values of
    a row determine the source (CASE, coalesce …), cells are a superset, and ``exact`` is false: see `cells`.
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
