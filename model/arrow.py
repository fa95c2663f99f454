"""Conversion between numpy and Arrow through buffers; pyarrow's own functions import pandas, which is slow."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["bools", "int64s", "numbers", "texts"]


def int64s(values: npt.NDArray[np.int64]) -> pa.Array:
    """Return an Arrow array of integers."""
    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(np.ascontiguousarray(values, "<i8"))])


def bools(values: npt.NDArray[np.bool_]) -> pa.Array:
    """Return an Arrow array of flags."""
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(np.packbits(values, bitorder="little"))])


def texts(values: list[str]) -> pa.Array:
    """Return an Arrow array of strings."""
    coded = [v.encode() for v in values]
    ends = np.cumsum([0, *map(len, coded)], dtype=np.int64)
    made = pa.Array.from_buffers(
        pa.large_string(), len(coded), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(coded))]
    )
    return made.cast(pa.string())


def numbers(values: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """Return integers or flags without nulls as a numpy array."""
    if isinstance(values, pa.ChunkedArray):
        parts = [numbers(chunk) for chunk in values.chunks]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    data, first = values.buffers()[1], values.offset
    if pa.types.is_boolean(values.type):
        bits = np.frombuffer(data or b"", dtype=np.uint8)
        return np.unpackbits(bits, bitorder="little")[first : first + len(values)].astype(np.bool_)
    kind = np.dtype(f"<i{values.type.bit_width // 8}")
    return np.frombuffer(data or b"", dtype=kind)[first : first + len(values)]
