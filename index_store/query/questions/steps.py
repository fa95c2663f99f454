"""Which steps are there?"""

from __future__ import annotations

from provspark.index_store.query import listings
from provspark.index_store.query.asking import Asking
from provspark.index_store.query.question import question
from provspark.index_store.query.tabular import TableAnswer

__all__ = ["steps"]


@question()
def steps(prov: Asking) -> TableAnswer:
    """One line for each step, oldest first.

    Columns: step, dag_id, run_id, task_id, map_index, try_number, status, started, ended, inputs and
    outputs (lists of data sets), coverage (the least of its writes; ``untracked`` where a write went
    uncaptured), reasons (list of why something was not captured), error.
    """
    return TableAnswer(listings.steps(prov.graph))
