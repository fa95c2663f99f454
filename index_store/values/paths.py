"""Columns, and fields of structs in columns, by a dotted name."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provspark.index_store.values.row_reader import find_column, read_rows, scan_rows
from provspark.index_store.values.types import parts_of
from provspark.model.arrays import Int64
from provspark.model.datasets import Field, Files, Version
from provspark.model.errors import UnknownColumnError, ValuesUnavailableError
from provspark.model.runs import Runs

__all__ = ["ColumnPath", "find_path", "read_column"]


@dataclass(frozen=True, slots=True)
class ColumnPath:
    """A column, the names that lead to a field in it, and the field."""

    column: Field
    steps: tuple[str, ...]
    leaf: Field
    """The field, with its dotted name."""

    def of(self, values: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return the field's values from those of the column; they are null where a struct is null."""
        return pc.struct_field(values, list(self.steps)) if self.steps else values


def find_path(version: Version, name: str) -> ColumnPath:
    """Return a column by its name, or a field of a struct by ``column.field``.

    Raises
    ------
    UnknownColumnError
        There is no such column; the message suggests similar names.
    """
    try:
        column = find_column(version, name)
        return ColumnPath(column, (), column)
    except UnknownColumnError:
        top, dot, rest = name.partition(".")
        while dot:
            same = [f for f in version.fields if f.name.lower() == top.lower()]
            if same:
                return _within(version, find_column(version, top), rest)
            more, dot, rest = rest.partition(".")
            top = f"{top}.{more}"
        raise


def read_column(version: Version, files: Files, path: ColumnPath, rows: Runs, *, every: bool) -> pa.Array:
    """Read a column, or field, for rows in ascending order; with `every`, scan the whole version for them."""
    if not every:
        return path.of(read_rows(version, files, rows.rows(), [path.column.name]).column(0)).combine_chunks()
    parts = []
    for start, table in scan_rows(version, files, [path.column.name], lambda bounds: True):
        here = rows & Runs.united(*_span(start, len(table)))
        if here:
            parts.append(path.of(table.column(0)).take(pa.array(here.rows() - start)))
    return pa.chunked_array([c for p in parts for c in p.chunks], parts[0].type).combine_chunks()


def _within(version: Version, column: Field, rest: str) -> ColumnPath:
    steps: list[str] = []
    kind, full = column.type, column.name
    for step in rest.split("."):
        fields = _fields(kind)
        matches = [n for n in fields if n == step] or [n for n in fields if n.lower() == step.lower()]
        if len(matches) != 1:
            raise UnknownColumnError(f"{full} of {version.dataset} is {kind}{_missing(step, full, list(fields))}")
        steps.append(matches[0])
        kind, full = fields[matches[0]], f"{full}.{matches[0]}"
    return ColumnPath(column, tuple(steps), Field(full, kind))


def _fields(kind: str) -> dict[str, str]:
    if not kind.startswith("struct<"):
        return {}
    try:
        return dict(parts_of(kind)[1])
    except ValuesUnavailableError:
        return {}


def _missing(step: str, full: str, names: list[str]) -> str:
    if not names:
        return ", which has no named fields"
    near = get_close_matches(step, names, 3, 0.6)
    hint = " or ".join(f"{full}.{n}" for n in near)
    return f", without a field {step!r}; " + (f"did you mean {hint}?" if near else f"it has {', '.join(names)}")


def _span(start: int, length: int) -> tuple[Int64, Int64]:
    return np.array([start], dtype=np.int64), np.array([length], dtype=np.int64)
