"""Boxes as Parquet and back: what stands in one file of tensors/ (docs/format.md, "Tensor files").

Boxes are sorted by the file's leading axis, cut into pages, and each of the five columns is stored
in whichever form is smallest for this tensor: left out where constant, as gaps between boxes, or as it is.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from provspark.index_store.box_lists import constant, is_constant
from provspark.index_store.layout import (
    CODECS,
    COLUMNS,
    EXTENTS,
    META_KEY,
    SPANS,
    Codec,
    Column,
    Form,
    Holds,
    Layout,
    Lead,
    dump_layout,
)
from provspark.index_store.model import FORMAT_VERSION, Boxes, Int64
from provspark.index_store.pages import dump_index, find_pages

__all__ = ["PAGE_ROWS", "Packed", "Stored", "Unpacked", "write_boxes"]

PAGE_ROWS = 2_048
"""Boxes a page: what a lookup of one row decodes."""
_GROUP_PAGES = 64
_SAMPLE_PAGES = 16
_WORTH: dict[Codec, float] = {"zstd": 1.04, "none": 1.0}
"""What is not packed is read ten times as fast: zstd has to be smaller by so much."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A file as it is to be written: its bytes, sha256 of the whole and of the footer, and its layout."""

    data: bytes
    sha256: str
    footer_sha256: str
    layout: Layout


def write_boxes(boxes: Boxes, lead: Lead, holds: Holds = "boxes", block: int = 0) -> Stored:
    """Encode boxes, sorted by their `lead` axis, as a Parquet file."""
    units = (boxes.n_out == 1) & (boxes.n_src == 1)
    columns, arrays = _plan(boxes, units)
    sink, table = io.BytesIO(), _table(arrays, columns) if arrays else pa.table({lead: pa.array([], pa.int32())})
    writer = _writer(sink, table.schema, columns)
    per = PAGE_ROWS * _GROUP_PAGES
    groups: list[int] = []
    if len(boxes) and arrays:
        writer.write_table(table, row_group_size=per)
        groups = [-(-min(per, len(boxes) - start) // PAGE_ROWS) for start in range(0, len(boxes), per)]
    spans = find_pages(sink.getvalue(), groups, arrays)
    layout = Layout(FORMAT_VERSION, lead, holds, block, len(boxes), PAGE_ROWS, columns, spans, **_extents(boxes))
    lists = [getattr(layout, name) for name in EXTENTS] + [getattr(s, n) for s in spans.values() for n in SPANS]
    index = dump_index(lists)
    where = {"at": sink.tell(), "size": len(index), "sha256": hashlib.sha256(index).hexdigest()}
    sink.write(index)
    footer = sink.tell()
    writer.add_key_value_metadata({META_KEY: dump_layout(layout, where)})
    writer.close()
    data = sink.getvalue()
    return Stored(data, hashlib.sha256(data).hexdigest(), hashlib.sha256(data[footer:]).hexdigest(), layout)


def _table(arrays: dict[str, Int64], columns: dict[str, Column]) -> pa.Table:
    """The columns as Parquet is to store them."""
    found = {}
    for name, values in arrays.items():
        how = columns[name]
        if how.codec == "zstd":
            found[name] = pa.array(values, pa.int32() if how.width < 4 else pa.int64())
        else:
            low = values.astype("<i8").view(np.uint8).reshape(-1, 8)[:, : how.width]
            held = pa.py_buffer(np.ascontiguousarray(low))
            found[name] = pa.FixedSizeBinaryArray.from_buffers(pa.binary(how.width), len(values), [None, held])
    schema = pa.schema([pa.field(n, a.type, nullable=False) for n, a in found.items()])
    return pa.table(found, schema=schema)


def _writer(sink: io.BytesIO, schema: pa.Schema, columns: dict[str, Column]) -> Any:
    """A Parquet writer of pages of `PAGE_ROWS`."""
    packed = {n: columns[n].codec for n in schema.names}
    split = {n: "BYTE_STREAM_SPLIT" if codec == "zstd" else "PLAIN" for n, codec in packed.items()}
    return pq.ParquetWriter(
        pa.PythonFile(sink, mode="w"),
        schema,
        compression=packed,
        use_dictionary=False,
        column_encoding=split,
        write_statistics=False,
        write_page_checksum=True,
        store_schema=False,
        data_page_size=1,
        write_batch_size=PAGE_ROWS,
        version="2.6",
    )


class Unpacked(Protocol):
    """A stored column of some pages."""

    def all(self) -> Int64:
        """All values."""

    def at(self, index: Int64) -> Int64:
        """Those at some places."""


class Packed:
    """Boxes of some pages, of which as much is unpacked as is asked for.

    Parameters
    ----------
    layout : Layout
    pages : int64 array
        The pages, ascending.
    stored : mapping of Unpacked
        Their columns that are in the file.
    """

    def __init__(self, layout: Layout, pages: Int64, stored: Mapping[str, Unpacked]) -> None:
        self._layout, self._pages, self._stored = layout, pages, stored
        self._sizes = layout.sizes(pages)
        self._total = int(self._sizes.sum())
        self._known: dict[str, npt.NDArray[Any]] = {}

    def __len__(self) -> int:
        return self._total

    def starts(self, axis: Lead) -> Int64:
        """Starts of all boxes on an axis."""
        found: Int64 = self._column(axis)
        return found

    def lengths(self, axis: Lead) -> Int64:
        """Lengths of all boxes on an axis."""
        found: Int64 = self._column("n_out" if axis == "out" else "n_src")
        return found

    def boxes(self) -> Boxes:
        """All of them."""
        return Boxes(*map(self._column, COLUMNS))

    def take(self, index: Int64) -> Boxes:
        """Those at some rising places."""
        if len(index) == self._total and bool((index[1:] > index[:-1]).all()):
            return self.boxes()
        return Boxes(*(self._taken(name, index) for name in COLUMNS))

    def _taken(self, name: str, index: Int64) -> Any:
        name = self._name(name)
        how = self._layout.columns[name]
        if how.form != "gap" and how.constant is not None:
            return _typed(name, constant(np.int64(how.constant), len(index)))
        if name in self._known or how.form == "gap" or 8 * len(index) > self._total:
            return self._column(name)[index]
        return _typed(name, self._stored[name].at(index))

    def _column(self, name: str) -> Any:
        name = self._name(name)
        found = self._known.get(name)
        if found is None:
            gap = self._layout.columns[name].form == "gap"
            found = self._known[name] = self._from_gaps(name) if gap else _typed(name, self._values(name))
        return found

    def _name(self, name: str) -> str:
        return "n_out" if self._layout.columns[name].form == "same" else name

    def _values(self, name: str) -> Int64:
        value = self._layout.columns[name].constant
        found: Int64 = self._stored[name].all() if value is None else constant(np.int64(value), self._total)
        return found

    def _from_gaps(self, name: str) -> Int64:
        """Starts on an axis, from where each page begins on it."""
        length, gaps = self._column(f"n_{name}"), self._values(name)
        base = getattr(self._layout, f"{name}_base")[self._pages]
        steady = is_constant(gaps) and is_constant(length)
        if steady and self._total:
            first, step = int(gaps[0]), int(gaps[0]) + int(length[0])
            places = first + np.arange(int(self._sizes[0])) * step
            found: Int64 = (places if len(base) == 1 else base[:, None] + places).reshape(-1)[: self._total]
            return found + base[0] if len(base) == 1 else found
        if not is_constant(gaps):
            sign = gaps & 1
            np.negative(sign, out=sign)
            gaps = gaps >> 1
            gaps ^= sign
        ends: Int64 = gaps + length
        np.cumsum(ends, out=ends)
        heads = np.cumsum(self._sizes) - self._sizes
        ends += np.repeat(base - np.where(heads > 0, ends[heads - 1], 0), self._sizes)
        ends -= length
        return ends


def _typed(name: str, values: Any) -> Any:
    if name != "diagonal":
        return values
    return constant(bool(values[0]), len(values)) if len(values) and is_constant(values) else values != 0


def _plan(boxes: Boxes, units: npt.NDArray[np.bool_]) -> tuple[dict[str, Column], dict[str, Int64]]:
    """Choose each column's form; return forms, and the arrays to store."""
    columns: dict[str, Column] = {}
    arrays: dict[str, Int64] = {}

    def put(name: str, forms: dict[Form, Int64]) -> None:
        for form, values in forms.items():
            if len(values) == 0 or bool((values == values[0]).all()):
                columns[name] = Column(form, int(values[0]) if len(values) else 0)
                return
        coded = {form: _zigzag(values) if form == "gap" else values for form, values in forms.items()}
        trials = {}
        for form, codec in product(coded, CODECS):
            how = Column(form, None, _width(coded[form]), codec)
            trials[how] = _size(coded[form], how) * _WORTH[codec]
        best = min(trials, key=lambda how: trials[how])
        columns[name], arrays[name] = best, coded[best.form]

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
        put("diagonal", {"plain": (boxes.diagonal | units).astype(np.int64)})
    return {name: columns[name] for name in COLUMNS}, {n: arrays[n] for n in COLUMNS if n in arrays}


def _size(values: Int64, how: Column) -> int:
    """Bytes of a sample of a column."""
    rows = _SAMPLE_PAGES * PAGE_ROWS
    if len(values) > 4 * rows:
        starts = np.linspace(0, len(values) - rows, 4).astype(np.int64)
        values = np.concatenate([values[s : s + rows] for s in starts])
    sink, table = io.BytesIO(), _table({"x": values}, {"x": how})
    with _writer(sink, table.schema, {"x": how}) as writer:
        writer.write_table(table)
        return sink.tell()


def _extents(boxes: Boxes) -> dict[str, Int64]:
    heads = np.arange(0, len(boxes), PAGE_ROWS)
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


def _width(values: Int64) -> int:
    """Bytes of a value that are not all zero."""
    return max(1, -(-int(values.max(initial=0)).bit_length() // 8))
