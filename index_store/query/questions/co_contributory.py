"""Which rows of a dataset were used together with these rows?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.answer import Answer
from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.parameter_types import DatasetName, Rows
from provspark.index_store.query.question import SURE, question
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.shared_derivations import rows_used_together

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["co_contributory"]


@question(follows=SURE, paper="TensProv Q10")
def co_contributory(
    prov: Asking,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    *,
    to: DatasetName,
    via: DatasetName | None = None,
    **which: Unpack[Which],
) -> Answer:
    """Find the rows of a dataset that were joined with the given rows to make the same output row.

    For an order, this finds the order lines that were joined with it, not lines that only share its group: a row and
    its match are in one derivation of an output row.

    Parameters
    ----------
    to : str
        Return rows of this dataset. It may be `dataset` itself, if a step reads it more than once.
    via : str, optional
        Consider only joins that made rows of this dataset. Default: any captured dataset.
    dataset, rows, **which
        See `backward`.

    Returns
    -------
    Answer
        As for `backward`. A pair is context if any edge on the paths that connect the two rows is context.

    Notes
    -----
    TensProv's Q10. Errors as for `backward`.
    """
    asked = prov.asked("co_contributory", dataset, rows, which)
    view = asked.view
    reached = rows_used_together(
        view.back, asked.start(), view.known(to), view.dataset(via), context=asked.context, ahead=view.ahead
    )
    return asked.told(Answer.of(asked.at.version, asked.labels, "together", reached, asked.kinds, used=asked.used))
