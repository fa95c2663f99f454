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
    """Find the rows derived from the given rows.

    Each row is returned once, with the current version of its dataset and its row id in that version. Rows that are
    no longer in a current version are not returned. The answer counts them for each step after which their files
    were missing. See `versions`.

    Parameters
    ----------
    to : str, optional
        Return only rows of this dataset. Default: the final results: rows that no captured write read. The dataset
        may be anywhere on a path. If no write read a given row, the row is its own result.
    dataset, rows, via, **which
        See `backward`.

    Returns
    -------
    Answer
        As for `backward`. ``occurrence`` is the read through which the last step took the rows. If a step was retried
        successfully, only the last try counts, unless files of an earlier one are in use. `gone_of` counts the rows
        that are left out. Errors as for `backward`.
    """
    return prov.follow(dataset, rows, "forward", to, via, which)
