"""Rows that a question is about: those given by their ids or selected by their values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from provspark.index_store.query.arguments import several
from provspark.index_store.query.current_versions import Current
from provspark.index_store.query.parameter_types import Rows
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.tabular import FormerAnswer, Tabular
from provspark.model.arrays import Int64
from provspark.model.errors import ArgumentError, ConditionError, RowOutOfRangeError
from provspark.model.runs import Runs

if TYPE_CHECKING:
    from provspark.index_store.values.selection import Condition

__all__ = ["chosen_rows", "row_ids"]

_LAST = 2**63 - 1


def chosen_rows(chosen: Current, rows: Rows, where: Sequence[Condition | tuple[str, str, Any]] | None) -> Runs:
    """Return the rows of a version that are given by their ids, or selected by their values; by default all."""
    at = chosen.at
    if rows is not None and where is not None:
        raise ConditionError("rows and where were both given; select rows by one of them")
    every = Runs.span(at.version.rows) - chosen.lost if chosen.missing else Runs.span(at.version.rows)
    uncounted = at.version.unit == "file"
    if where is not None:
        from provspark.index_store.values.selection import select_there

        selected = Runs.of(select_there(at.version, at.files, several(where, "where"), chosen.missing))
        return every if uncounted and selected else selected
    if rows is None:
        return every
    if isinstance(rows, RowSet) and rows.at.key != at.key:
        raise ConditionError(
            f"rows are of version {rows.version} of {rows.dataset}, and the question is about version "
            f"{at.version.id} of {at.version.dataset}; pass the set in place of the dataset, or convert it with "
            f"locate()"
        )
    if isinstance(rows, range) and len(rows) > at.version.rows and not uncounted:
        # Before its numbers are written out: there may be more than memory holds.
        wrong = next(i for i in (min(rows[0], rows[-1]), max(rows[0], rows[-1])) if not 0 <= i < at.version.rows)
        raise RowOutOfRangeError(str(at.version.dataset), wrong, at.version.rows)
    ids = row_ids(rows)
    if uncounted and at.version.rows and len(ids) and ids.min() >= 0 and ids.max() >= at.version.rows:
        return every  # which file a row is in is not known
    if len(ids) and (ids.min() < 0 or ids.max() >= at.version.rows):
        wrong = int(ids.min()) if ids.min() < 0 else int(ids.max())
        raise RowOutOfRangeError(str(at.version.dataset), wrong, at.version.rows)
    return Runs.of(ids)


def row_ids(rows: Iterable[int]) -> Int64:
    """Return row ids that are given as a list, a range, an array of numpy's or Arrow's, or a series of pandas.

    Raises
    ------
    ConditionError
        They are no whole numbers.
    ArgumentError
        They are no list.
    """
    if isinstance(rows, Tabular | FormerAnswer | pa.Table):
        raise ArgumentError(
            f"rows takes row ids, found {type(rows).__name__}; pass an answer in place of the dataset, or a column of "
            f"its table as rows"
        )
    if isinstance(rows, pa.Array | pa.ChunkedArray):
        if rows.null_count:
            raise ConditionError("rows must be a list of whole numbers, found null")
        rows = rows.to_numpy(zero_copy_only=False) if isinstance(rows, pa.Array) else rows.to_numpy()
    elif hasattr(rows, "to_numpy"):
        rows = rows.to_numpy()
    try:
        ids = np.asarray(rows if isinstance(rows, (np.ndarray, range)) else several(rows, "rows"))
    except ValueError:
        raise ConditionError("rows must be a list of whole numbers, found lists of different lengths") from None
    if ids.dtype == object:
        items = [i.as_py() if isinstance(i, pa.Scalar) else i for i in ids.flat]
        if items and all(isinstance(i, int | np.integer | np.bool_) for i in items):
            ids = np.array([i if isinstance(i, bool | np.bool_) else min(int(i), _LAST) for i in items])
    if ids.dtype.kind == "b":
        raise ConditionError(
            "rows must be a list of whole numbers, found booleans; for a mask pass numpy.flatnonzero(mask)"
        )
    if ids.dtype.kind == "u":
        ids = np.minimum(ids, np.uint64(_LAST))
    if not ids.size:
        return np.zeros(0, dtype=np.int64)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise ConditionError(f"rows must be a list of whole numbers, found {ids.dtype} of shape {ids.shape}")
    return ids.astype(np.int64)
