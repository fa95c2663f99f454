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
    """Select rows as a set, for ``|``, ``&``, ``-`` and for further questions."""
    asked = prov.asked("select", dataset, rows, which)
    return RowSet(asked.at, asked.labels)
