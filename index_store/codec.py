"""Boxes as Parquet and back: what stands in one file of tensors/ (docs/format.md, "Tensor files").

Boxes are sorted by the file's leading axis, cut into row groups, and each of the five columns is stored
in whichever form is smallest for this tensor: left out where constant, as gaps between boxes, or as it is.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from provspark.index_store.layout import COLUMNS, META_KEY, Column, Form, Holds, Layout, Lead, dump_layout
from provspark.index_store.model import Boxes, Int64

__all__ = ["GROUP_ROWS", "Stored", "rebuild", "write_boxes"]

GROUP_ROWS = 16_384
"""Boxes a row group: what a lookup of one row decodes."""
Encoding = Literal["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]
_SAMPLE_GROUPS = 4
_PAGE = 64 << 20


@dataclass(frozen=True, slots=True)
class Stored:
    """A written file: bytes, sha256 of the whole and of the footer, and its layout."""

    size: int
    sha256: str
    footer_sha256: str
    layout: Layout


def write_boxes(
    boxes: Boxes,
    sink: BinaryIO,
    lead: Lead,
    holds: Holds = "boxes",
    block: int = 0,
) -> Stored:
    """Write boxes, sorted by their `lead` axis, as a Parquet file."""
    units = (boxes.n_out == 1) & (boxes.n_src == 1)
    columns, arrays, encodings = _plan(boxes, units, lead)
    schema = pa.schema([pa.field(n, _arrow_type(a), nullable=False) for n, a in arrays.items()])
    hashing = _Hashing(sink)
    writer = pq.ParquetWriter(
        pa.PythonFile(hashing, mode="w"),
        schema,
        compression="zstd",
        use_dictionary=False,
        column_encoding=encodings or None,
        write_statistics=False,
        write_page_checksum=True,
        store_schema=False,
        data_page_size=_PAGE,
        version="2.6",
    )
    ends, crcs = [], []
    for start in range(0, len(boxes), GROUP_ROWS):
        part = {n: a[start : start + GROUP_ROWS] for n, a in arrays.items()}
        writer.write_table(pa.table(part, schema=schema), row_group_size=GROUP_ROWS)
        ends.append(hashing.size)
        crcs.append(hashing.take_crc())
    marks = {"ends": np.array(ends, dtype=np.int64), "crc": np.array(crcs, dtype=np.int64)}
    layout = Layout(lead, holds, block, len(boxes), GROUP_ROWS, columns, **marks, **_extents(boxes))
    writer.add_key_value_metadata({META_KEY: dump_layout(layout)})
    hashing.start_footer()
    writer.close()
    return Stored(hashing.size, hashing.whole.hexdigest(), hashing.footer.hexdigest(), layout)


def rebuild(layout: Layout, groups: Int64, stored: dict[str, npt.NDArray[Any]]) -> Boxes:
    """Boxes of some row groups from the columns that the file holds of them.

    Parameters
    ----------
    layout : Layout
    groups : int64 array
        The row groups, ascending, whose columns stand one after another in `stored`.
    stored : dict of arrays
        The columns that are in the file.
    """
    sizes = layout.sizes(groups)
    total = int(sizes.sum())

    def column(name: str, other: Int64 | None = None) -> Int64:
        how = layout.columns[name]
        if how.form == "same" and other is not None:
            return other
        if how.constant is not None:
            return np.broadcast_to(np.int64(how.constant), (total,))
        return cast(Int64, stored[name].astype(np.int64))

    def start(name: str, length: Int64) -> Int64:
        values = column(name)
        how = layout.columns[name]
        if how.form == "plain":
            return values
        gaps = values if how.constant is not None else (values >> 1) ^ -(values & 1)
        ends = np.cumsum(gaps + length)
        heads = np.cumsum(sizes) - sizes
        before = np.where(heads > 0, ends[heads - 1], 0)
        base = getattr(layout, f"{name}_base")[groups] - before
        ends += np.repeat(base, sizes)
        return cast(Int64, ends - length)

    n_out = column("n_out")
    n_src = column("n_src", n_out)
    diagonal = layout.columns["diagonal"].constant
    flags = stored["diagonal"] if diagonal is None else np.broadcast_to(np.bool_(diagonal), (total,))
    return Boxes(start("out", n_out), n_out, start("src", n_src), n_src, flags.astype(np.bool_, copy=False))


def _plan(
    boxes: Boxes, units: npt.NDArray[np.bool_], lead: Lead
) -> tuple[dict[str, Column], dict[str, npt.NDArray[Any]], dict[str, Encoding]]:
    """Choose each column's form; return forms, the arrays to store, and their encodings."""
    columns: dict[str, Column] = {}
    arrays: dict[str, npt.NDArray[Any]] = {}
    encodings: dict[str, Encoding] = {}

    def put(name: str, forms: dict[Form, Int64]) -> None:
        for form, values in forms.items():
            if len(values) == 0 or bool((values == values[0]).all()):
                first = int(values[0]) if len(values) else 0
                columns[name] = Column(form, first)
                return
        trials = {}
        for form, values in forms.items():
            coded = _narrow(_zigzag(values) if form == "gap" else values)
            trials.update({(size, form, enc): coded for size, enc in _sizes(coded)})
        size, form, encoding = min(trials)
        columns[name], arrays[name], encodings[name] = Column(form), trials[size, form, encoding], encoding

    for axis in ("out", "src"):
        starts, lengths = getattr(boxes, axis), getattr(boxes, f"n_{axis}")
        ends = starts + lengths
        gaps = starts - np.concatenate([[0], ends[:-1]]) if len(starts) else starts
        put(axis, {"gap": gaps, "plain": starts})
    put("n_out", {"plain": boxes.n_out})
    if len(boxes) and bool((boxes.n_out == boxes.n_src).all()) and columns["n_out"].constant is None:
        columns["n_src"] = Column("same")
    else:
        put("n_src", {"plain": boxes.n_src})
    flags = boxes.diagonal[~units]
    if len(flags) == 0 or bool((flags == flags[0]).all()):
        columns["diagonal"] = Column("plain", int(flags[0]) if len(flags) else 0)
    else:
        columns["diagonal"], arrays["diagonal"] = Column("plain"), boxes.diagonal | units
    if not arrays:
        columns[lead], arrays[lead] = Column("plain"), getattr(boxes, lead)
    columns = {name: columns[name] for name in COLUMNS}
    return columns, {n: arrays[n] for n in COLUMNS if n in arrays}, encodings


def _sizes(values: npt.NDArray[Any]) -> list[tuple[int, Encoding]]:
    """Bytes of a sample of a column in each encoding."""
    choices: tuple[Encoding, ...] = ("DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT")
    if len(values) > _SAMPLE_GROUPS * GROUP_ROWS:
        starts = np.linspace(0, len(values) - GROUP_ROWS, _SAMPLE_GROUPS).astype(np.int64)
        values = np.concatenate([values[s : s + GROUP_ROWS] for s in starts])
    found = []
    for encoding in choices:
        sink = pa.BufferOutputStream()
        pq.write_table(
            pa.table({"x": values}),
            sink,
            row_group_size=GROUP_ROWS,
            compression="zstd",
            use_dictionary=False,
            column_encoding={"x": encoding},
            write_statistics=False,
            store_schema=False,
            data_page_size=_PAGE,
        )
        found.append((sink.getvalue().size, encoding))
    return found


def _extents(boxes: Boxes) -> dict[str, Int64]:
    heads = np.arange(0, len(boxes), GROUP_ROWS)
    found = {}
    for axis in ("out", "src"):
        starts = getattr(boxes, axis)
        ends = starts + getattr(boxes, f"n_{axis}")
        empty = len(heads) == 0
        found[f"{axis}_low"] = heads if empty else np.minimum.reduceat(starts, heads)
        found[f"{axis}_high"] = heads if empty else np.maximum.reduceat(ends, heads)
        found[f"{axis}_base"] = np.where(heads > 0, ends[heads - 1], 0) if not empty else heads
    return found


def _zigzag(values: Int64) -> Int64:
    return cast(Int64, (values << 1) ^ (values >> 63))


def _narrow(values: Int64) -> npt.NDArray[Any]:
    return values.astype(np.int32) if len(values) and int(values.max()) < 2**31 else values


def _arrow_type(values: npt.NDArray[Any]) -> Any:
    return pa.from_numpy_dtype(values.dtype)


class _Hashing:
    """A sink that counts and hashes what passes through it on its way to another."""

    def __init__(self, sink: BinaryIO) -> None:
        self._sink, self.size, self._crc, self.closed = sink, 0, 0, False
        self.whole, self.footer = hashlib.sha256(), hashlib.sha256()
        self._in_footer = False

    def write(self, data: bytes) -> int:
        view = memoryview(data)
        self._sink.write(view)
        self.size += len(view)
        self.whole.update(view)
        if self._in_footer:
            self.footer.update(view)
        else:
            self._crc = zlib.crc32(view, self._crc)
        return len(view)

    def take_crc(self) -> int:
        """CRC-32 since the last call."""
        crc, self._crc = self._crc, 0
        return crc

    def start_footer(self) -> None:
        self._in_footer = True

    def flush(self) -> None:
        """The sink below is flushed by who opened it."""

    def tell(self) -> int:
        return self.size

    def close(self) -> None:
        self.closed = True
