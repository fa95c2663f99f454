"""Which columns did these columns come from, or go into?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.bits import identity
from provspark.index_store.query.column_answer import ColumnAnswer
from provspark.index_store.query.column_choice import known_direction, positions
from provspark.index_store.query.column_walk import ColumnsAt, carry
from provspark.index_store.query.nodes import Direction
from provspark.index_store.query.parameter_types import ColumnNames, DatasetName
from provspark.index_store.query.question import SURE, question
from provspark.index_store.query.rowset import RowSet
from provspark.model.errors import ConditionError

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["columns"]


@question(follows=SURE)
def columns(
    prov: Asking,
    dataset: DatasetName | RowSet,
    column: ColumnNames = None,
    *,
    direction: Direction = "backward",
    to: DatasetName | None = None,
    existence: bool = True,
    **which: Unpack[Which],
) -> ColumnAnswer:
    """Find the source columns of the given columns, or the columns derived from them.

    Parameters
    ----------
    column : str or sequence of str, optional
        Columns of `dataset`. Default: all.
    direction : {"backward", "forward"}
        Find source columns, or derived columns.
    to : str, optional
        Return columns of this dataset. Default: those at the ends of all paths.
    existence : bool
        Also return the columns that decide which rows exist. Backward: the columns of filters, joins, groups and sorts,
        with a null `column`. Forward: the datasets whose rows depend on the columns, with a null `related_column`.
    kinds : iterable of {"data", "context"}
        Kinds of edges to list. Default: both.
    dataset, **which
        See `backward`.

    Returns
    -------
    ColumnAnswer
        column, dataset, version, occurrence, related_column, kind, dependence, exact, steps. `related_column` is the
        source or the derived column, by direction. `dependence` is one of OpenLineage's transformation kinds. With
        identity, transformation and aggregation, the column goes into the value; with join, filter, group by, sort,
        window and conditional, it decides the value or which rows exist. `exact` is false if the values of a row
        determine whether the column goes in (CASE, coalesce, pivot …), or if a step stored no operations. A count of
        rows has no source column: its `related_column` is null. `steps` are those between the two columns, in execution
        order.

    Raises
    ------
    UnknownColumnError
        The message suggests similar names, or names the operation that dropped the column.
    UntrackedError, UnknownDatasetError, UnknownVersionError, UnknownRunError, ConditionError
    """
    known_direction(direction)
    if which.keys() & {"where", "semantics"}:
        raise ConditionError(
            "columns() covers all rows, so it takes no where and no semantics. Use cells() for some rows."
        )
    which = {"kinds": ("data", "context"), **which}
    asked = prov.asked(
        "columns", dataset.at.version.dataset.uri if isinstance(dataset, RowSet) else dataset, None, which
    )
    bits = identity(positions(asked, column, direction, existence))
    linker = asked.view.linker(direction)
    place = asked.view.dataset(to)
    carried = carry(linker, ColumnsAt(asked.at, bits), direction, place, context=asked.context)
    answer = ColumnAnswer(asked.at, direction, carried, existence, asked.kinds)
    answer.checked()
    return answer
