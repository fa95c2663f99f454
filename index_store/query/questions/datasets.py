"""Which datasets are there?"""

from __future__ import annotations

from provspark.index_store.query import listings
from provspark.index_store.query.asking import Asking
from provspark.index_store.query.question import question
from provspark.index_store.query.tabular import TableAnswer

__all__ = ["datasets"]


@question()
def datasets(prov: Asking) -> TableAnswer:
    """List the datasets, by name.

    Columns: dataset; versions, the number of known versions; version and rows, the id and number of rows of the current
    version; step, the step that wrote it (null for a source); role, ``source`` or ``derived``; coverage of that write
    (null for a source).
    """
    return TableAnswer(listings.datasets(prov.currents))
