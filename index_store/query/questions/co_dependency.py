"""Which rows share a witness with these rows?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.answer import Answer
from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.parameter_types import DatasetName, Place, Rows
from provspark.index_store.query.question import SURE, question
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.shared_derivations import rows_sharing_witness

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["co_dependency"]


@question(follows=SURE, ahead=True, paper="TensProv Q11")
def co_dependency(
    prov: Asking,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    *,
    to: DatasetName,
    via: Place,
    **which: Unpack[Which],
) -> Answer:
    """Find the rows of a dataset that share a source row with the given rows.

    A row is not returned as its own match.

    Parameters
    ----------
    to : str
        Return rows of this dataset. It may be `dataset` itself.
    via : str
        The dataset of the shared source rows, or the step that read them.
    dataset, rows, **which
        See `backward`.

    Returns
    -------
    Answer
        As for `backward`. ``occurrence`` is the read through which the last step took the shared source row.

    Notes
    -----
    TensProv's Q11. Errors as for `backward`.
    """
    asked = prov.asked("co_dependency", dataset, rows, which)
    view, place = asked.view, asked.view.known(to)
    reached = rows_sharing_witness(
        view.back,
        asked.start(),
        asked.labels,
        place,
        prov.place(view, via),
        context=asked.context,
        ahead=view.ahead,
    )
    answer = Answer.of(asked.at.version, asked.labels, "together", reached, asked.kinds, used=asked.used)
    return asked.now(answer, place)
