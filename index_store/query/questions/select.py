"""Which rows satisfy these conditions?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.parameter_types import DatasetName, Rows
from provspark.index_store.query.question import question
from provspark.index_store.query.rowset import RowSet

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["select"]


@question()
def select(prov: Asking, dataset: DatasetName | RowSet, rows: Rows = None, **which: Unpack[Which]) -> RowSet:
    """List the ids of the selected rows.

    In Python this is a set of rows. ``|``, ``&`` and ``-`` combine sets, and every question takes one in place of a
    dataset.
    """
    asked = prov.asked("select", dataset, rows, which)
    return RowSet(asked.at, asked.labels)
