"""Layout of a tensor file, stored in its footer and its page index (docs/format.md, "Tensor files")."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from provspark.index_store.store.tensors.gaps import Even
from provspark.model.arrays import Int64
from provspark.model.boxes.cutting import CuttingRuns
from provspark.model.boxes.lists import spread
from provspark.model.errors import StoreFormatError
from provspark.model.steps import TENSOR_FORMAT

__all__ = [
    "CODECS",
    "COLUMNS",
    "EXTENTS",
    "FORMS",
    "META_KEY",
    "SPANS",
    "Codec",
    "ColumnLayout",
    "Form",
    "Holds",
    "Layout",
    "Lead",
    "Spans",
    "dump_layout",
    "load_layout",
]

COLUMNS = ("out", "n_out", "src", "n_src", "diagonal")
META_KEY = b"provspark"

Lead = Literal["out", "src"]
Holds = Literal["boxes", "guide"]
Form = Literal["plain", "gap", "same"]
Codec = Literal["zstd", "none"]
CODECS: tuple[Codec, ...] = ("zstd", "none")
_STARTS: tuple[Form, ...] = ("gap", "plain")
FORMS: dict[str, tuple[Form, ...]] = {
    "out": _STARTS,
    "n_out": ("plain",),
    "src": _STARTS,
    "n_src": ("plain", "same"),
    "diagonal": ("plain",),
}
EXTENTS = ("out_low", "out_high", "src_low", "src_high", "out_base", "src_base")
SPANS = ("at", "size", "head", "body", "crc")


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """Layout of one column.

    Parameters
    ----------
    form : {"plain", "gap", "same"}
        Plain values; zigzag-encoded distance from the end of the box before; or, for a length, the same as on the
        other axis.
    constant : int or None
        The value that all rows share (the gap if `form` is ``gap``); the column is then not in the file.
    width : int
        Bytes per stored value; 0 if the column is not stored, and in format 1.
    codec : {"zstd", "none"}
        Compression of the pages: zstd over split byte planes, or none.
    """

    form: Form
    constant: int | None = None
    width: int = 0
    codec: Codec = "zstd"

    @property
    def item(self) -> int:
        """Bytes per value in a page before compression."""
        if self.codec == "none":
            return self.width
        return 4 if self.width < 4 else 8


@dataclass(frozen=True, slots=True)
class Spans:
    """Byte ranges of a column's pages in the file.

    Parameters
    ----------
    lists : int64 array
        Five rows with a number for each page: ``at`` and ``size``, offset and size of the bytes that belong to it, from
        its header up to the next page; ``head`` and ``body``, bytes before its compressed values, and bytes of these;
        ``crc``, CRC-32 of all.
    """

    lists: Int64

    @property
    def at(self) -> Int64:
        """Offset of each page."""
        first: Int64 = self.lists[0]
        return first

    @property
    def size(self) -> Int64:
        """Number of bytes of each page."""
        sizes: Int64 = self.lists[1]
        return sizes

    def of(self, pages: list[int]) -> list[list[int]]:
        """Return the five lists for some pages."""
        lists: list[list[int]] = self.lists[:, pages].tolist()
        return lists


@dataclass(frozen=True)
class Layout:
    """Layout of a tensor file, as its footer and page index describe it.

    Parameters
    ----------
    format : int
        Format version of the file.
    lead : {"out", "src"}
        Axis that the boxes are sorted by.
    holds : {"boxes", "guide"}
        Whether the other axis is the tensor's, or counts blocks of pages of the tensor's other file.
    block : int
        Pages of the other file per block; 0 for boxes.
    rows : int
        Number of boxes.
    page_rows : int
        Boxes in each page but the last. In format 1 a page is a row group with all columns.
    columns : dict of ColumnLayout
        Column layouts by name.
    spans : dict of Spans
        Byte ranges of each stored column, by name. Format 1 has one entry, "", for all columns.
    out_low, out_high, src_low, src_high : int64 arrays, one a page
        Smallest start and largest end of each page's boxes.
    out_base, src_base : int64 arrays
        End of the box before each page, from which its first gap counts.
    """

    format: int
    lead: Lead
    holds: Holds
    block: int
    rows: int
    page_rows: int
    columns: dict[str, ColumnLayout]
    spans: dict[str, Spans]
    out_low: Int64
    out_high: Int64
    src_low: Int64
    src_high: Int64
    out_base: Int64
    src_base: Int64

    @property
    def pages(self) -> int:
        """Number of pages."""
        return len(self.out_low)

    def boxes(self, page: int) -> int:
        """Return the number of boxes in a page."""
        return min(self.page_rows, self.rows - page * self.page_rows)

    def meet(self, runs: CuttingRuns, axis: Lead) -> Int64:
        """Return the pages that may contain boxes overlapping any run of an axis."""
        low, high = (self.out_low, self.out_high) if axis == "out" else (self.src_low, self.src_high)
        if len(runs) * 4 > len(low) or not self._rise[axis]:
            return runs.meet(low, high)
        page, _ = spread(high.searchsorted(runs.starts, "right"), low.searchsorted(runs.ends, "left"))
        return page if len(runs) == 1 else np.unique(page)

    def even(self, axis: Lead) -> Even | None:
        """Return the boxes' places on an axis if all boxes have one gap and one length; else None."""
        start, length = self.columns[axis], self.columns[self.length(axis)]
        if not self.rows or start.form != "gap" or start.constant is None or length.constant is None:
            return None
        return Even(start.constant, length.constant, self.rows)

    def length(self, axis: Lead) -> str:
        """Return the name of the column that stores the boxes' lengths on an axis."""
        return "n_out" if axis == "out" or self.columns["n_src"].form == "same" else "n_src"

    @cached_property
    def _rise(self) -> dict[Lead, bool]:
        """Whether, on each axis, the pages' lows and highs are sorted."""
        rise: dict[Lead, bool] = {}
        for axis in ("out", "src"):
            ends = [getattr(self, f"{axis}_{end}") for end in ("low", "high")]
            rise[axis] = all(bool((a[1:] >= a[:-1]).all()) for a in ends)
        return rise


def dump_layout(layout: Layout, index: dict[str, Any]) -> bytes:
    """Serialize a layout as the JSON in the footer; `index` is the location and hash of the page index."""
    columns = {
        n: {"form": c.form}
        | ({} if c.constant is None else {"constant": c.constant})
        | ({"width": c.width, "codec": c.codec} if c.width else {})
        for n, c in layout.columns.items()
    }
    numbers = {"block": layout.block, "rows": layout.rows, "page_rows": layout.page_rows}
    order = {"format": layout.format, "lead": layout.lead, "holds": layout.holds}
    return json.dumps({**order, **numbers, "columns": columns, "index": index}, separators=(",", ":")).encode()


def load_layout(text: bytes, where: str, index: Any) -> Layout:
    """Parse the JSON of `dump_layout`; raise LookupError, TypeError or ValueError if it is malformed.

    Parameters
    ----------
    text : bytes
    where : str
        Name of the file in errors.
    index : callable
        Takes the `index` of `dump_layout` and the numbers of lists and pages; returns the arrays.

    Raises
    ------
    StoreFormatError
        The file's format is newer than this version of the package can read.
    """
    body = json.loads(text)
    format_version = int(body["format"])
    if format_version > TENSOR_FORMAT:
        raise StoreFormatError(where, format_version, TENSOR_FORMAT)
    columns = {
        n: ColumnLayout(c["form"], c.get("constant"), c.get("width", 0), c.get("codec", "zstd"))
        for n, c in body["columns"].items()
    }
    if set(columns) != set(COLUMNS):
        raise ValueError(f"its columns are {sorted(columns)} instead of {sorted(COLUMNS)}")
    if any(c.form not in FORMS[name] or c.codec not in CODECS for name, c in columns.items()):
        raise ValueError("a column has an unknown form or codec")
    if body["lead"] not in ("out", "src") or body["holds"] not in ("boxes", "guide"):
        raise ValueError(f"unknown lead {body['lead']!r} or holds {body['holds']!r}")
    block, rows, page_rows = (
        int(body[k]) for k in ("block", "rows", "group_rows" if format_version == 1 else "page_rows")
    )
    if page_rows < 1:
        raise ValueError(f"its pages have {page_rows} rows")
    least = {"n_out": 1, "n_src": 1}
    for name, column in columns.items() if rows else ():
        if column.constant is not None and column.constant < least.get(name, 0):
            raise ValueError(f"column {name} is always {column.constant}; it must be at least {least.get(name, 0)}")
    pages = -(-rows // page_rows)
    if format_version == 1:
        groups = {name: np.array(values, dtype=np.int64) for name, values in body["groups"].items()}
        extents = [groups[name] for name in EXTENTS]
        starts = np.concatenate([np.zeros(1, dtype=np.int64), groups["ends"]])[:-1]
        size = groups["ends"] - starts
        spans = {"": Spans(np.array([starts, size, size * 0, size, groups["crc"]]))}
    else:
        stored = [n for n in COLUMNS if columns[n].width]
        arrays = index(body["index"], len(EXTENTS) + len(SPANS) * len(stored), pages)
        extents = arrays[: len(EXTENTS)]
        fives = arrays[len(EXTENTS) :].reshape(len(stored), len(SPANS), pages)
        spans = {name: Spans(five) for name, five in zip(stored, fives, strict=True)}
    if {len(a) for a in extents} | {len(s.at) for s in spans.values()} != {pages}:
        raise ValueError(f"its index does not list {pages} pages for {rows} boxes")
    return Layout(format_version, body["lead"], body["holds"], block, rows, page_rows, columns, spans, *extents)
