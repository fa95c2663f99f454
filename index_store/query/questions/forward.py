"""Which rows did these rows go into?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.answer import Answer
from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.parameter_types import DatasetName, Places, Rows
from provspark.index_store.query.question import ALL, question
from provspark.index_store.query.rowset import RowSet

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["forward"]


@question(follows=ALL, ahead=True, paper="TensProv Q1")
def forward(
    prov: Asking,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    *,
    to: DatasetName | None = None,
    via: Places = (),
    **which: Unpack[Which],
) -> Answer:
    """Find the rows that rows went into.

    Each row is returned once, with the current version of its dataset and its row id in that version. Rows that are
    no longer in a current version are left out; `gone_of` counts them, by the step after which their files were
    missing. See `versions`.

    Parameters
    ----------
    to : str, optional
        The dataset whose rows are wanted, wherever it is on the way. Without it, the ultimate results: rows that no
        captured write read. A row asked about that none read is its own result.
    dataset, rows, via, **which
        See `backward`.

    Returns
    -------
    Answer
        As that of `backward`. ``occurrence`` is the reading through which the last step took the rows. Of a step that
        was tried again with success, only the last try counts, unless files of an earlier one are in use. Errors are
        those of `backward`.
    """
    return prov.follow(dataset, rows, "forward", to, via, which)
