"""Which steps are there?"""

from __future__ import annotations

from provspark.index_store.query import listings
from provspark.index_store.query.asking import Asking
from provspark.index_store.query.question import question
from provspark.index_store.query.tabular import TableAnswer

__all__ = ["steps"]


@question()
def steps(prov: Asking) -> TableAnswer:
    """List the steps, oldest first.

    Columns: step, dag_id, run_id, task_id, map_index, try_number, status, started, ended, inputs and
    outputs (lists of datasets), coverage (the lowest of its writes; ``untracked`` if a write was not
    captured), reasons (a list of why something was not captured), error.
    """
    return TableAnswer(listings.steps(prov.graph))
