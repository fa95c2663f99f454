"""Which steps were started but are not published?"""

from __future__ import annotations

from provspark.index_store.query import listings
from provspark.index_store.query.asking import Asking
from provspark.index_store.query.question import question
from provspark.index_store.query.tabular import TableAnswer

__all__ = ["unfinished"]


@question()
def unfinished(prov: Asking) -> TableAnswer:
    """List steps that started but have not finished: still running, or killed.

    The columns are those of `steps`. The status is ``unfinished``; outputs are those that are complete so far.
    `provspark repair` publishes steps that were killed. The list is empty if you may see only some steps.
    """
    return TableAnswer(listings.unfinished(prov.stores()))
