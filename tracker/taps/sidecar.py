"""Reads what taps recorded: blocks of provenance columns, grouped by key if the tap is keyed (java/taps/Tap.java)."""

from __future__ import annotations

import base64
import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import fs

from provspark.model.arrays import Int64
from provspark.model.errors import CaptureError
from provspark.tracker.taps.taps import PlacedTap, Receipt

NULL = np.iinfo(np.int64).min
"""Value of a null provenance column."""

_RUNS, _DELTAS, _LONGS = range(3)


@dataclass(frozen=True, slots=True)
class PackedColumn:
    """A column of one block, unpacked on demand: most blocks of a tap contain no group that is needed."""

    codec: int
    packed: bytes
    size: int
    rows: int

    def values(self) -> Int64:
        """Return the column's values, in order."""
        raw = self._raw()
        if self.codec == _LONGS:
            return np.frombuffer(raw, dtype="<i8")
        if self.codec == _RUNS:
            starts, lengths = np.frombuffer(raw, dtype="<i8").reshape(-1, 2).T
            ends = np.cumsum(lengths)
            out: Int64 = np.arange(self.rows, dtype=np.int64) + np.repeat(starts - (ends - lengths), lengths)
            return out
        out = np.empty(self.rows, dtype=np.int64)
        out[0] = np.frombuffer(raw, dtype="<i8", count=1)[0]
        out[1:] = np.frombuffer(raw, dtype="<i4", offset=8)
        return np.cumsum(out, out=out)

    def runs(self) -> tuple[Int64, Int64] | None:
        """Return the values as runs (first values, lengths); None if there would be too many."""
        if self.codec == _LONGS:
            return None
        raw = self._raw()
        if self.codec == _RUNS:
            starts, lengths = np.ascontiguousarray(np.frombuffer(raw, dtype="<i8").reshape(-1, 2).T)
            return starts, lengths
        steps = np.frombuffer(raw, dtype="<i4", offset=8)
        heads = np.flatnonzero(steps != 1)
        if 4 * len(heads) > 3 * len(steps):
            return None
        first = np.frombuffer(raw, dtype="<i8", count=1)
        ahead = np.cumsum(steps[heads].astype(np.int64) - 1)  # of the position: all other steps are 1
        starts = np.concatenate([first, first + 1 + heads + ahead])
        return starts, np.diff(heads, prepend=-1, append=len(steps))

    def _raw(self) -> Any:
        return pa.Codec("zstd").decompress(self.packed, self.size)


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive rows of one task. For a keyed tap, `keys` (two columns) and `counts` divide the rows into groups."""

    rows: int
    keys: tuple[PackedColumn, PackedColumn] | None
    counts: PackedColumn | None
    columns: tuple[PackedColumn, ...]


def blocks(tap: PlacedTap, receipt: Receipt, folder: str) -> Iterator[Block]:
    """Yield a task's blocks in order.

    Raises
    ------
    CaptureError
        The sidecar is missing (driver and executors don't share its folder) or truncated.
    """
    rows = 0
    with _opened(receipt, folder) as stream:
        while head := stream.read(8):
            count, keys = struct.unpack("<ii", _whole(head, 8, receipt, tap))
            columns = []
            for i in range(tap.width + (3 if tap.keyed else 0)):
                codec, packed, size = struct.unpack("<bii", _whole(stream.read(9), 9, receipt, tap))
                n = keys if tap.keyed and i < 3 else count
                columns.append(PackedColumn(codec, _whole(stream.read(packed), packed, receipt, tap), size, n))
            rows += count
            if tap.keyed:
                yield Block(count, (columns[0], columns[1]), columns[2], tuple(columns[3:]))
            else:
                yield Block(count, None, None, tuple(columns))
    if rows != receipt.rows:
        raise CaptureError(
            f"task {receipt.task} recorded {receipt.rows} rows at tap {tap.number}, but the driver read {rows}; "
            f"run the step again"
        )


def _whole(data: bytes, size: int, receipt: Receipt, tap: PlacedTap) -> bytes:
    if len(data) < size:
        raise CaptureError(f"the records of task {receipt.task} at tap {tap.number} are truncated; run the step again")
    return data


@contextmanager
def _opened(receipt: Receipt, folder: str) -> Iterator[Any]:
    how, _, rest = receipt.place.partition(" ")
    if how == "inline":
        yield io.BytesIO(base64.b64decode(rest))
        return
    filesystem, path = fs.FileSystem.from_uri(folder)
    try:
        stream = filesystem.open_input_stream(f"{path.rstrip('/')}/{rest}")
    except OSError as e:
        raise CaptureError(
            f"{folder}/{rest} can't be read by the driver: {e}; put the store on a path that driver and executors share"
        ) from e
    with stream:
        yield stream
