"""Conversion of row ids from lists, ranges, numpy and Arrow arrays, and pandas series."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from provspark.index_store.query.arguments import several
from provspark.index_store.query.tabular import FormerAnswer, Tabular
from provspark.model.errors import ArgumentError, ConditionError

__all__ = ["ends_of_ids", "row_ids"]

_LAST = 2**63 - 1
_SHOWN = 60
_MASK = "; for a mask pass numpy.flatnonzero(mask)"


def row_ids(rows: Iterable[int]) -> npt.NDArray[Any]:
    """Return row ids as an array of 64-bit integers, or of Python integers if one does not fit into 64 bits.

    Raises
    ------
    ConditionError
        One of them is not a whole number.
    ArgumentError
        `rows` is not a list of row ids.
    """
    if isinstance(rows, Tabular | FormerAnswer | pa.Table):
        raise ArgumentError(
            f"rows takes row ids, found {type(rows).__name__}. To use the rows of an answer, pass the answer as the "
            f"dataset, or pass a column of its table that has row ids, such as related_row, as rows."
        )
    if isinstance(rows, pa.Array | pa.ChunkedArray):
        if rows.null_count:
            raise _refused("null")
        rows = rows.to_numpy(zero_copy_only=False) if isinstance(rows, pa.Array) else rows.to_numpy()
    elif hasattr(rows, "to_numpy"):
        rows = rows.to_numpy()
    if isinstance(rows, range):
        return np.arange(rows.start, rows.stop, rows.step, dtype=np.int64)
    return _of_array(rows) if isinstance(rows, np.ndarray) else _of_items(several(rows, "rows"))


def ends_of_ids(ids: range | npt.NDArray[Any]) -> tuple[int, int]:
    """Return the lowest and the highest id; 0 and -1 if there is none."""
    if isinstance(ids, range):
        return (min(ids[0], ids[-1]), max(ids[0], ids[-1])) if ids else (0, -1)
    return (int(ids.min()), int(ids.max())) if len(ids) else (0, -1)


def _of_array(ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if not ids.size:
        return np.zeros(0, dtype=np.int64)
    if ids.ndim != 1:
        raise _refused(f"{ids.dtype} of shape {ids.shape}")
    if ids.dtype.kind == "O":
        return _of_items(ids.tolist())
    if ids.dtype.kind == "u" and int(ids.max()) > _LAST:
        return ids.astype(object)
    if ids.dtype.kind not in "iu":
        odd = ids[ids != np.floor(ids)] if ids.dtype.kind == "f" else ids[:0]  # pandas represents missing ids as NaN
        raise _refused(_said((odd if len(odd) else ids)[0]))
    return ids.astype(np.int64)


def _of_items(items: Sequence[Any]) -> npt.NDArray[Any]:
    if any(issubclass(kind, pa.Scalar) for kind in set(map(type, items))):
        items = [i.as_py() if isinstance(i, pa.Scalar) else i for i in items]
    wrong = {kind for kind in set(map(type, items)) if issubclass(kind, bool) or not issubclass(kind, int | np.integer)}
    if wrong:
        raise _refused(_said(next(i for i in items if type(i) in wrong)))
    try:
        return np.array(items, dtype=np.int64)
    except OverflowError:
        return np.array([int(i) for i in items], dtype=object)


def _refused(what: str) -> ConditionError:
    return ConditionError(f"rows must be a list of whole numbers, found {what}")


def _said(value: Any) -> str:
    """Return the `repr` of a value, shortened if it is long."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return text + _MASK if isinstance(value, bool | np.bool_) else text
