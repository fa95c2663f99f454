"""Which rows did these rows come from?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.answer import Answer
from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.parameter_types import DatasetName, Places, Rows
from provspark.index_store.query.question import ALL, question
from provspark.index_store.query.rowset import RowSet

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["backward"]


@question(follows=ALL, paper="TensProv Q2; Chapman et al. PQ2")
def backward(
    prov: Asking,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    *,
    to: DatasetName | None = None,
    via: Places = (),
    **which: Unpack[Which],
) -> Answer:
    """Find the source rows of the given rows.

    Parameters
    ----------
    to : str, optional
        Return only rows of this dataset. Default: the original sources: rows that no captured write made. The
        dataset may be anywhere on a path. If no write made a given row, the row is its own source, with occurrence -1.
    via : str or sequence of str, optional
        Datasets or steps that a path must pass through, in this order.
    dataset, rows, **which
        See `Which`.

    Returns
    -------
    Answer
        row, dataset, version, occurrence, related_row, kind: distinct and sorted. `stops_of` returns where a path
        ended early or was captured only as a whole, `possible_of` the possible edges, `ends_of` the datasets on
        drivers that rows reached, `trusted_of` what is left out because you trust it.

    Raises
    ------
    UnknownDatasetError, UnknownVersionError, UnknownRunError, RowOutOfRangeError, ConditionError
    UntrackedError
        No row was found, and a path stopped at something that was not captured.
    ValuesUnavailableError, VersionChangedError
        `where` or ``set`` needs values that can't be read.

    Notes
    -----
    Both semantics are those of TensProv's why-provenance; row ids are 0 … n-1 within a version.
    """
    return prov.follow(dataset, rows, "backward", to, via, which)
