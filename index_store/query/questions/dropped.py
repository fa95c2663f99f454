"""Which operations dropped these columns?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.column_choice import chosen
from provspark.index_store.query.dropped_columns import Drops, drops_of
from provspark.index_store.query.parameter_types import ColumnNames, DatasetName
from provspark.index_store.query.question import question
from provspark.index_store.query.rowset import RowSet

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["dropped"]


@question(paper="Chapman et al. PQ7")
def dropped(prov: Asking, dataset: DatasetName | RowSet, column: ColumnNames = None, **which: Unpack[Which]) -> Drops:
    """Find the operations that dropped columns.

    Parameters
    ----------
    column : str or sequence of str, optional
        Columns of `dataset`. Default: all.
    dataset, **which
        See `backward`.

    Returns
    -------
    Drops
        column, known_as (its name at that operation), text, site, name, step, write, dataset (that the write wrote),
        operation (its number within the write), into (columns that the write computed from it). After such an operation
        the column does not exist under any name. A column that is overwritten by an expression of itself is not
        dropped. A column that still exists in the last datasets has no line.

    Notes
    -----
    Chapman et al.'s PQ7.
    """
    asked = prov.asked("dropped", dataset, None, which)
    return drops_of(asked.view.linker("forward"), asked.at, chosen(asked, column))
