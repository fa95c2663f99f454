"""Writer of tensor files: boxes as Parquet (docs/format.md, "Tensor files").

Boxes are sorted by the file's leading axis and cut into pages. Each of the five columns is stored in its smallest form:
omitted if constant, as gaps between boxes, or as plain values. The boxes are read twice, a row group at a time: first
to choose the forms, then to write the file.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import cast

import numpy as np

from provspark.index_store.store.tensors.layout import (
    CODECS,
    COLUMNS,
    EXTENTS,
    FORMS,
    META_KEY,
    Codec,
    ColumnLayout,
    Form,
    Holds,
    Layout,
    Lead,
    dump_layout,
)
from provspark.index_store.store.tensors.pages import dump_index
from provspark.index_store.store.tensors.parquet_writer import ParquetOut, ParquetSink, pages_of
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import alike, is_constant, take
from provspark.model.boxes.spool import Parts, Spool, recut
from provspark.model.steps import TENSOR_FORMAT

__all__ = ["PAGE_ROWS", "BoxFile", "group_rows"]

PAGE_ROWS = 2_048
"""Boxes per page. A lookup decodes whole pages."""
_GROUP_PAGES = 64
"""Pages per row group. Our reader ignores row groups; the writer holds one in memory."""
_SAMPLE_PAGES = 16
"""Number of evenly spread pages that are compressed to compare forms and codecs."""
_WORTH: dict[Codec, float] = {"zstd": 1.04, "none": 1.0}
"""Factor by which each codec's size is raised to compare it: uncompressed pages are read ten times as fast as zstd."""


@dataclass(frozen=True)
class BoxFile:
    """A tensor file to write; `size` and `write` share one survey of its boxes.

    Parameters
    ----------
    boxes : Boxes, Parts or Spool
        Sorted by the `lead` axis.
    lead, holds, block : as in `Layout`
    """

    boxes: Boxes | Parts | Spool
    lead: Lead
    holds: Holds = "boxes"
    block: int = 0

    @cached_property
    def _plan(self) -> tuple[dict[str, ColumnLayout], int]:
        return _survey(self.boxes, self.lead).plan()

    @property
    def size(self) -> int:
        """Estimated size of the file in bytes."""
        return self._plan[1]

    def write(self, sink: ParquetSink) -> str:
        """Write the file to an empty sink; return the footer's SHA-256 in hex."""
        columns = self._plan[0]
        out = ParquetOut(sink, {name: how for name, how in columns.items() if how.width}, PAGE_ROWS)
        extents: dict[str, list[Int64]] = {name: [] for name in EXTENTS}

        def arrays() -> Iterator[dict[str, Int64]]:
            for group in _groups(self.boxes):
                for name, values in group.extents(self.lead).items():
                    extents[name].append(values)
                kept = {n: group.values(n, how.form) for n, how in columns.items() if how.width}
                yield {n: _zigzag(v) if columns[n].form == "gap" else v for n, v in kept.items()}

        out.write(arrays())
        spans = out.spans()
        none = np.zeros(0, dtype=np.int64)
        joined = {name: np.concatenate(parts) if parts else none for name, parts in extents.items()}
        rows = len(self.boxes)
        layout = Layout(TENSOR_FORMAT, self.lead, self.holds, self.block, rows, PAGE_ROWS, columns, spans, **joined)
        index = dump_index([*joined.values(), *(line for s in spans.values() for line in s.lists)])
        where = {"at": out.at, "size": len(index), "sha256": hashlib.sha256(index).hexdigest()}
        sink.write(index)
        footer = out.footer({META_KEY: dump_layout(layout, where)}, empty=self.lead)
        sink.write(footer)
        return hashlib.sha256(footer).hexdigest()

    def data(self) -> tuple[bytes, str]:
        """Return the content of the file, and the footer's SHA-256 in hex."""
        sink = io.BytesIO()
        footer = self.write(sink)
        return sink.getvalue(), footer


def group_rows() -> int:
    """Return the number of boxes per row group."""
    return PAGE_ROWS * _GROUP_PAGES


@dataclass(frozen=True, slots=True)
class _BoxGroup:
    """A row group, and the end of the box before it on each axis."""

    boxes: Boxes
    before: dict[str, int]

    def values(self, name: str, form: Form) -> Int64:
        """Return a column as it is stored, except that gaps are not yet zigzag-encoded."""
        if name == "diagonal":
            return _flags(self.boxes)
        if form != "gap":
            return cast(Int64, getattr(self.boxes, name))
        starts, lengths = self.axis(name)
        gaps = np.empty_like(starts)
        gaps[0] = starts[0] - self.before[name]
        np.subtract(starts[1:], starts[:-1], out=gaps[1:])
        gaps[1:] -= lengths[0] if is_constant(lengths) else lengths[:-1]
        return gaps

    def axis(self, name: str) -> tuple[Int64, Int64]:
        """Return the starts and lengths on an axis."""
        return getattr(self.boxes, name), getattr(self.boxes, f"n_{name}")

    def extents(self, lead: Lead) -> dict[str, Int64]:
        """Return the extents of each page on both axes, and the ends of the box before it."""
        heads = np.arange(0, len(self.boxes), PAGE_ROWS)
        extents = {}
        for axis in ("out", "src"):
            starts, lengths = self.axis(axis)
            extents[f"{axis}_low"] = starts[heads] if axis == lead else np.minimum.reduceat(starts, heads)
            if is_constant(lengths):
                extents[f"{axis}_high"] = np.maximum.reduceat(starts, heads) + lengths[0]
            else:
                extents[f"{axis}_high"] = np.maximum.reduceat(starts + lengths, heads)
            last = heads[1:] - 1
            extents[f"{axis}_base"] = np.concatenate([[self.before[axis]], starts[last] + lengths[last]])
        return extents


def _groups(boxes: Boxes | Parts | Spool) -> Iterator[_BoxGroup]:
    per = group_rows()
    parts: Iterable[Boxes]
    if isinstance(boxes, Boxes):
        parts = (take(boxes, slice(start, start + per)) for start in range(0, len(boxes), per))
    else:
        parts = recut(boxes.parts(), per)
    before = {"out": 0, "src": 0}
    for part in parts:
        yield _BoxGroup(part, before)
        before = {"out": int(part.out[-1] + part.n_out[-1]), "src": int(part.src[-1] + part.n_src[-1])}


def _flags(boxes: Boxes) -> Int64:
    """Return `diagonal` as stored: set for boxes of one pair, for which it means nothing."""
    return cast(Int64, (boxes.diagonal | ((boxes.n_out == 1) & (boxes.n_src == 1))).astype(np.int64))


@dataclass(slots=True)
class _BoxesSeen:
    """Minimum and maximum of a column in one form, and its values in some pages."""

    low: int
    high: int
    sample: list[Int64] = field(default_factory=list)

    def size(self, how: ColumnLayout, rows: int) -> float:
        """Estimate the number of bytes of the column."""
        if how.codec == "none":
            return rows * how.width
        sample = np.concatenate(self.sample)
        coded = _zigzag(sample) if how.form == "gap" else sample
        return sum(map(len, pages_of(coded, how, PAGE_ROWS))) * (rows / len(sample))


@dataclass(slots=True)
class _Survey:
    """Statistics of the boxes from which the column layouts are chosen."""

    rows: int
    seen: dict[tuple[str, Form], _BoxesSeen] = field(default_factory=dict)
    square: bool = True
    diagonal: set[bool] = field(default_factory=set)
    """Values of the flag among boxes of more than one pair."""

    def add(self, name: str, form: Form, values: Int64, pages: list[slice], *, rising: bool = False) -> None:
        """Add some values of a column to the statistics."""
        if rising or alike(values):
            low, high = int(values[0]), int(values[-1])
        else:
            low, high = int(values.min()), int(values.max())
        known = self.seen.setdefault((name, form), _BoxesSeen(low, high))
        known.low, known.high = min(known.low, low), max(known.high, high)
        known.sample += [values[p].copy() for p in pages]  # copied so that a sample does not keep its part in memory

    def plan(self) -> tuple[dict[str, ColumnLayout], int]:
        """Choose the column layouts; return them and the estimated number of bytes."""
        columns: dict[str, ColumnLayout] = {}
        total = 0.0
        for name in COLUMNS:
            forms = {form: seen for (n, form), seen in self.seen.items() if n == name}
            if name == "n_src" and self.square and columns["n_out"].constant is None:
                columns[name] = ColumnLayout("same")
            elif name == "diagonal" and len(self.diagonal) < 2:
                columns[name] = ColumnLayout("plain", int(self.diagonal == {True}))
            else:
                columns[name], size = self.best(forms)
                total += size
        return columns, round(total)

    def best(self, forms: dict[Form, _BoxesSeen]) -> tuple[ColumnLayout, float]:
        """Choose the layout of a column; return it and the estimated number of bytes."""
        if not forms:
            return ColumnLayout("plain", 0), 0
        for form, seen in forms.items():
            if seen.low == seen.high:
                return ColumnLayout(form, seen.low), 0
        trials: dict[ColumnLayout, float] = {}
        for (form, seen), codec in product(forms.items(), CODECS):
            most = max(2 * seen.high, -2 * seen.low - 1) if form == "gap" else seen.high
            how = ColumnLayout(form, None, max(1, -(-most.bit_length() // 8)), codec)
            trials[how] = seen.size(how, self.rows) * _WORTH[codec]
        best = min(trials, key=lambda how: (trials[how], how.form == "gap"))  # plain values can be read singly
        return best, trials[best] / _WORTH[best.codec]


def _survey(boxes: Boxes | Parts | Spool, lead: Lead) -> _Survey:
    """Collect the statistics of boxes that are sorted by the lead axis."""
    survey = _Survey(len(boxes))
    pages = -(-len(boxes) // PAGE_ROWS)
    sampled = np.unique(np.linspace(0, pages - 1, _SAMPLE_PAGES).astype(np.int64)) * PAGE_ROWS
    start = 0
    # A flag that is the same for all boxes is not stored, so it needs no sample.
    alone = isinstance(boxes, Boxes) and all(map(is_constant, (boxes.n_out, boxes.n_src, boxes.diagonal)))
    for group in _groups(boxes):
        part = group.boxes
        mine = [slice(p, p + PAGE_ROWS) for p in (sampled - start).tolist() if 0 <= p < len(part)]
        start += len(part)
        for name in COLUMNS[:-1]:
            for form in FORMS[name]:
                if form != "same":
                    rising = name == lead and form == "plain"
                    survey.add(name, form, group.values(name, form), mine, rising=rising)
        survey.square = survey.square and (part.n_out is part.n_src or bool((part.n_out == part.n_src).all()))
        if alike(part.diagonal):
            if int(part.n_out.max()) > 1 or int(part.n_src.max()) > 1:
                survey.diagonal.add(bool(part.diagonal[0]))
        else:
            large = (part.n_out > 1) | (part.n_src > 1)
            slanted = int(np.count_nonzero(large & part.diagonal))
            survey.diagonal |= {way for way, n in ((True, slanted), (False, np.count_nonzero(large) - slanted)) if n}
        for page in () if alone else mine:
            survey.add("diagonal", "plain", _flags(take(part, page)), [slice(None)])
    return survey


def _zigzag(values: Int64) -> Int64:
    """Zigzag-encode values in place; no other code may use the array."""
    signs = values >> 63
    values <<= 1
    values ^= signs
    return values
