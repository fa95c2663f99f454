"""Which rows of one dataset came from which rows of another, for all rows of both?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from provspark.index_store.query.answer import Answer
from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.dataset_relation import Correspondence
from provspark.index_store.query.parameter_types import Conditions, DatasetName, Places, Rows
from provspark.index_store.query.question import SURE, question
from provspark.index_store.query.questions.select import select
from provspark.index_store.query.reachable_rows import reach
from provspark.index_store.query.relation import compose
from provspark.index_store.query.rowset import RowSet

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["correspondence"]


@question(follows=SURE)
def correspondence(
    prov: Asking,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    *,
    to: DatasetName,
    via: Places = (),
    using: Conditions | None = None,
    **which: Unpack[Which],
) -> Correspondence:
    """Link all rows of a dataset to all their source rows in another, as a sparse boolean matrix.

    Parameters
    ----------
    using : sequence of (column, operator, value), optional
        Only rows with at least one source row in `to` that satisfies these conditions, with all their source rows.
    to, via, dataset, rows, **which
        As for `backward`.

    Returns
    -------
    Correspondence
        ``edges``, ``counts()``, ``using(set of rows)``, ``sources()``, ``table()``, ``matrix()``.

    Examples
    --------
    How many rows of a report use at least one row without consent::

        len(prov.correspondence("/data/report", to="/data/people", using=[("consent", "=", False)]).rows)
    """
    asked = prov.asked("correspondence", dataset, rows, which)
    view = asked.view
    rows_to_classes, start = asked.classes()
    places = prov.places(view, via)
    reached = reach(view.back, [start], "backward", view.known(to), context=asked.context, via=places)
    kept = Answer.of(asked.at.version, asked.labels, "backward", reached, asked.kinds)
    parts = kept.parts
    if asked.semantics == "set":
        parts = tuple(replace(p, boxes=compose(rows_to_classes, p.boxes)) for p in parts)
    whole = Correspondence.of(asked.at, parts, tuple(sorted({*kept.stops, *asked.stops})), asked.used)
    if using is None:
        return whole
    chosen = (select(prov, to, version=at.version.id, where=using) for at, _ in whole.parts)
    return whole.of_rows(whole.using(*chosen))
