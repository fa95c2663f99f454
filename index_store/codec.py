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
from provspark.index_store.model import FORMAT_VERSION, Boxes, Int64, StoredFile
from provspark.index_store.pages import dump_index
from provspark.index_store.parquet_out import ParquetOut, pages_of

__all__ = ["PAGE_ROWS", "Packed", "Stored", "Unpacked", "size_of", "write_boxes"]

PAGE_ROWS = 2_048
"""Boxes a page: what a lookup of one row decodes."""
_GROUP_PAGES = 64
_SAMPLE_PAGES = 16
_GLANCE = 1024
_WORTH: dict[Codec, float] = {"zstd": 1.04, "none": 1.0}
"""What is not packed is read ten times as fast: zstd has to be smaller by so much."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A file as it is to be written: its bytes, and the sha256 of a tensor file's footer."""

    data: bytes
    footer_sha256: str = ""

    def listed(self, path: str) -> StoredFile:
        """What a manifest says of it."""
        return StoredFile(path, len(self.data), hashlib.sha256(self.data).hexdigest(), self.footer_sha256)


def write_boxes(boxes: Boxes, lead: Lead, holds: Holds = "boxes", block: int = 0) -> Stored:
    """Encode boxes, sorted by their `lead` axis, as a Parquet file."""
    columns, arrays, _ = _plan(boxes)
    sink = io.BytesIO()
    out = ParquetOut(sink, {name: columns[name] for name in arrays}, PAGE_ROWS)
    if arrays:
        per = PAGE_ROWS * _GROUP_PAGES
        out.write([{n: a[i : i + per] for n, a in arrays.items()} for i in range(0, len(boxes), per)])
    spans = out.spans()
    layout = Layout(FORMAT_VERSION, lead, holds, block, len(boxes), PAGE_ROWS, columns, spans, **_extents(boxes))
    lists = [getattr(layout, name) for name in EXTENTS] + [getattr(s, n) for s in spans.values() for n in SPANS]
    index = dump_index(lists)
    where = {"at": sink.tell(), "size": len(index), "sha256": hashlib.sha256(index).hexdigest()}
    sink.write(index)
    footer = out.footer({META_KEY: dump_layout(layout, where)}, empty=lead)
    sink.write(footer)
    return Stored(sink.getvalue(), hashlib.sha256(footer).hexdigest())


def size_of(boxes: Boxes) -> int:
    """About as many bytes as boxes, sorted by an axis, would take as a file."""
    return _plan(boxes)[2]


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


def _plan(boxes: Boxes) -> tuple[dict[str, Column], dict[str, Int64], int]:
    """Choose each column's form; return forms, the arrays to store, and about how many bytes they take."""
    columns: dict[str, Column] = {}
    arrays: dict[str, Int64] = {}
    total = 0

    def put(name: str, forms: dict[Form, Int64]) -> None:
        nonlocal total
        for form, values in forms.items():
            if _alike(values):
                columns[name] = Column(form, int(values[0]) if len(values) else 0)
                return
        coded = {form: _zigzag(values) if form == "gap" else values for form, values in forms.items()}
        trials = {}
        for form, codec in product(coded, CODECS):
            how = Column(form, None, _width(coded[form]), codec)
            trials[how] = _size(coded[form], how) * _WORTH[codec]
        best = min(trials, key=lambda how: trials[how])
        columns[name], arrays[name] = best, coded[best.form]
        total += round(trials[best] / _WORTH[best.codec])

    for axis in ("out", "src"):
        starts, lengths = getattr(boxes, axis), getattr(boxes, f"n_{axis}")
        gaps = starts.copy()
        gaps[1:] -= starts[:-1]
        gaps[1:] -= lengths[:-1]
        put(axis, {"gap": gaps, "plain": starts})
    put("n_out", {"plain": boxes.n_out})
    if len(boxes) and columns["n_out"].constant is None and bool((boxes.n_out == boxes.n_src).all()):
        columns["n_src"] = Column("same")
    else:
        put("n_src", {"plain": boxes.n_src})
    if _alike(boxes.diagonal):
        columns["diagonal"] = Column("plain", int(boxes.diagonal[0]) if len(boxes) else 0)
    else:
        units = (boxes.n_out == 1) & (boxes.n_src == 1)
        flags = boxes.diagonal[~units]
        if _alike(flags):
            columns["diagonal"] = Column("plain", int(flags[0]) if len(flags) else 0)
        else:
            put("diagonal", {"plain": (boxes.diagonal | units).astype(np.int64)})
    return {name: columns[name] for name in COLUMNS}, {n: arrays[n] for n in COLUMNS if n in arrays}, total


def _alike(values: npt.NDArray[Any]) -> bool:
    """Whether all are one value; told without a look at all where the first ones differ."""
    if len(values) == 0 or is_constant(values):
        return True
    return bool((values[:_GLANCE] == values[0]).all()) and bool((values == values[0]).all())


def _size(values: Int64, how: Column) -> float:
    """Bytes of a column, by those of a sample of its pages."""
    if how.codec == "none":
        return len(values) * how.width
    pages = -(-len(values) // PAGE_ROWS)
    if pages > _SAMPLE_PAGES:
        starts = np.linspace(0, len(values) - PAGE_ROWS, _SAMPLE_PAGES).astype(np.int64)
        sample = np.concatenate([values[s : s + PAGE_ROWS] for s in starts])
    else:
        sample = values
    return sum(map(len, pages_of(sample, how, PAGE_ROWS))) * (len(values) / len(sample))


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
