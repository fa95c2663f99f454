"""Arrow types for Spark's types, which are given as ``simpleString`` or ``catalogString``."""

from __future__ import annotations

import re
from functools import lru_cache

import pyarrow as pa

from provspark.model.errors import ValuesUnavailableError

__all__ = ["arrow_type", "parts_of"]

_SIMPLE = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}
_DECIMAL = re.compile(r"decimal\((\d+),\s*(-?\d+)\)")
_TEXT = re.compile(r"(char|varchar)\(\d+\)|string collate \w+")


@lru_cache(maxsize=1024)
def arrow_type(text: str) -> pa.DataType:
    """Return the Arrow type of values of a Spark type. Timestamps are instants in UTC, in microseconds.

    Raises
    ------
    ValuesUnavailableError
        The type has no exact counterpart (intervals, variant, user-defined types, truncated text).

    Examples
    --------
    >>> arrow_type("struct<a:int,b:array<decimal(10,2)>>")
    StructType(struct<a: int32, b: list<element: decimal128(10, 2)>>)
    """
    if text in _SIMPLE:
        return _SIMPLE[text]
    if match := _DECIMAL.fullmatch(text):
        return pa.decimal128(int(match[1]), int(match[2]))
    if _TEXT.fullmatch(text):
        return pa.string()
    kind, parts = parts_of(text)
    if kind == "array":
        return pa.list_(pa.field("element", arrow_type(parts[0][1])))
    if kind == "map":
        return pa.map_(arrow_type(parts[0][1]), arrow_type(parts[1][1]))
    return pa.struct([pa.field(name, arrow_type(inner)) for name, inner in parts])


@lru_cache(maxsize=1024)
def parts_of(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Split ``array<…>``, ``map<…,…>`` or ``struct<name:…>`` into its kind and its (name, type) parts."""
    kind, _, rest = text.partition("<")
    pieces = _split(rest[:-1]) if rest.endswith(">") else []
    if kind == "array" and len(pieces) == 1:
        return kind, (("", pieces[0]),)
    if kind == "map" and len(pieces) == 2:
        return kind, (("", pieces[0]), ("", pieces[1]))
    if kind == "struct" and rest.endswith(">"):
        named = [p.partition(":") for p in pieces]
        if all(colon and name and inner for name, colon, inner in named):
            return kind, tuple((name, inner) for name, _, inner in named)
    raise ValuesUnavailableError(f"Values of type {text!r} can't be read exactly outside Spark. Select other columns.")


def _split(text: str) -> list[str]:
    pieces, depth, start = [], 0, 0
    for at, c in enumerate(text):
        if c in "<(":
            depth += 1
        elif c in ">)":
            depth -= 1
        elif c == "," and depth == 0:
            pieces.append(text[start:at])
            start = at + 1
    return [*pieces, text[start:]] if text else []
