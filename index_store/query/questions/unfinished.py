"""Which steps were begun and are not published?"""

from __future__ import annotations

from provspark.index_store.query import listings
from provspark.index_store.query.asking import Asking
from provspark.index_store.query.question import question
from provspark.index_store.query.tabular import TableAnswer

__all__ = ["unfinished"]


@question()
def unfinished(prov: Asking) -> TableAnswer:
    """One line for each step that was begun and is not published: its process still runs, or was killed.

    Columns as those of `steps`; status is ``unfinished``, outputs are those that were sealed so far. `provspark
    repair` publishes steps that were killed. Empty if these answers are restricted to some steps.
    """
    return TableAnswer(listings.unfinished(prov.stores()))
