"""Boxes as Parquet and back: what stands in one file of tensors/ (docs/format.md, "Tensor files").

Boxes are sorted by the file's leading axis, cut into pages, and each of the five columns is stored
in whichever form is smallest for this tensor: left out where constant, as gaps between boxes, or as it is.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from provspark.index_store.box_lists import is_constant
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

__all__ = ["PAGE_ROWS", "Stored", "size_of", "write_boxes"]

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
        best = min(trials, key=lambda how: (trials[how], how.form == "gap"))  # a plain value is read alone
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
