"""What a tensor file says of itself, in its footer (docs/format.md, "The layout")."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import numpy as np

from provspark.errors import StoreFormatError
from provspark.index_store.model import FORMAT_VERSION, Int64

__all__ = ["COLUMNS", "META_KEY", "Column", "Form", "Holds", "Layout", "Lead", "dump_layout", "load_layout"]

COLUMNS = ("out", "n_out", "src", "n_src", "diagonal")
META_KEY = b"provspark"

Lead = Literal["out", "src"]
Holds = Literal["boxes", "guide"]
Form = Literal["plain", "gap", "same"]
_FORMS = {name: ("gap", "plain") if name in ("out", "src") else ("plain",) for name in COLUMNS} | {
    "n_src": ("plain", "same")
}
_ARRAYS = ("ends", "crc", "out_low", "out_high", "src_low", "src_high", "out_base", "src_base")


@dataclass(frozen=True, slots=True)
class Column:
    """How one column is stored.

    Parameters
    ----------
    form : {"plain", "gap", "same"}
        As it is; as the zigzag-coded distance from the end of the box before; or, for a length, as the other
        axis' length.
    constant : int or None
        The one value that all rows have (of the gap where `form` is ``gap``); the column is not in the file.
    """

    form: Form
    constant: int | None = None


@dataclass(frozen=True)
class Layout:
    """What a tensor file says of itself in its footer.

    Parameters
    ----------
    lead : {"out", "src"}
        The axis that the boxes are sorted by.
    holds : {"boxes", "guide"}
        Whether the other axis is the tensor's, or counts blocks of the sister file's row groups.
    block : int
        Row groups of the sister file to a block; 0 for boxes.
    rows : int
        Boxes.
    group_rows : int
        Boxes of each row group but the last.
    columns : dict of Column
        By name.
    ends : int64 array, one a row group
        Where the row group ends in the file, in bytes; it starts where the one before ends, the first at 0.
    crc : int64 array
        CRC-32 of those bytes.
    out_low, out_high, src_low, src_high : int64 arrays
        Smallest start and largest end of a row group's boxes.
    out_base, src_base : int64 arrays
        End of the box before the row group, from which its first gap counts.
    """

    lead: Lead
    holds: Holds
    block: int
    rows: int
    group_rows: int
    columns: dict[str, Column]
    ends: Int64
    crc: Int64
    out_low: Int64
    out_high: Int64
    src_low: Int64
    src_high: Int64
    out_base: Int64
    src_base: Int64

    def sizes(self, groups: Int64) -> Int64:
        """Boxes of these row groups."""
        return np.minimum(self.group_rows, self.rows - groups * self.group_rows)


def dump_layout(layout: Layout) -> bytes:
    """Write a layout as the JSON that stands in the footer."""
    columns = {
        n: {"form": c.form} | ({} if c.constant is None else {"constant": c.constant})
        for n, c in layout.columns.items()
    }
    arrays = {name: getattr(layout, name).tolist() for name in _ARRAYS}
    numbers = {"block": layout.block, "rows": layout.rows, "group_rows": layout.group_rows}
    order = {"format": FORMAT_VERSION, "lead": layout.lead, "holds": layout.holds}
    body = {**order, **numbers, "columns": columns, "groups": arrays}
    return json.dumps(body, separators=(",", ":")).encode()


def load_layout(text: bytes, where: str) -> Layout:
    """Read what `dump_layout` wrote; LookupError, TypeError or ValueError where it has another shape.

    Raises
    ------
    StoreFormatError
        The file's format is newer than this package reads.
    """
    body = json.loads(text)
    if int(body["format"]) > FORMAT_VERSION:
        raise StoreFormatError(where, int(body["format"]), FORMAT_VERSION)
    columns = {n: Column(c["form"], c.get("constant")) for n, c in body["columns"].items()}
    arrays = {name: np.array(body["groups"][name], dtype=np.int64) for name in _ARRAYS}
    if set(columns) != set(COLUMNS) or len({len(a) for a in arrays.values()}) != 1:
        raise ValueError("columns or row groups are missing")
    if any(column.form not in _FORMS[name] for name, column in columns.items()):
        raise ValueError("a column is of an unknown form")
    if body["lead"] not in ("out", "src") or body["holds"] not in ("boxes", "guide"):
        raise ValueError("an unknown order or content")
    block, rows, group_rows = (int(body[k]) for k in ("block", "rows", "group_rows"))
    if group_rows < 1 or len(arrays["ends"]) != -(-rows // group_rows):
        raise ValueError("rows and row groups disagree")
    return Layout(body["lead"], body["holds"], block, rows, group_rows, columns, **arrays)
