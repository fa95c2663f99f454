"""Which rows did these rows go into?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from provspark.index_store.query.answer import Answer
from provspark.index_store.query.asking import Asking, Rows, Which
from provspark.index_store.query.question import ALL, question
from provspark.index_store.query.rowset import RowSet

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["forward"]


@question(follows=ALL, ahead=True, paper="TensProv Q1")
def forward(
    prov: Asking,
    dataset: str | RowSet,
    rows: Rows = None,
    *,
    to: str | None = None,
    via: str | Sequence[str] = (),
    **which: Unpack[Which],
) -> Answer:
    """Find the rows that rows went into; parameters, result and errors as for `backward`.

    Each row is returned once, with the current version of its dataset and its row id in that version. Rows that are
    no longer in a current version are left out; `gone_of` counts them, by the step after which their files were
    missing. See `versions`.

    Without `to`, the ultimate results: rows that no captured write read; a row asked about that none
    read is its own result. ``occurrence`` is the reading through which the last step took them. Of a
    step that was tried again with success, only the last try counts, unless files of an earlier one are
    in use.
    """
    return prov.follow(dataset, rows, "forward", to, via, which)
