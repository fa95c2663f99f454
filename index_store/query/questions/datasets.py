"""Which datasets are there?"""

from __future__ import annotations

from provspark.index_store.query import listings
from provspark.index_store.query.asking import Asking
from provspark.index_store.query.question import question
from provspark.index_store.query.tabular import TableAnswer

__all__ = ["datasets"]


@question()
def datasets(prov: Asking) -> TableAnswer:
    """One line for each data set, by name.

    Columns: dataset; versions, how many are known; version and rows, of the one that answers to the
    name; step, that wrote it (null for a source); role, ``source`` or ``derived``; coverage of that
    write (null for a source).
    """
    return TableAnswer(listings.datasets(prov.currents))
