"""Just enough of Thrift's compact protocol to find the pages of a Parquet file that was just written."""

from __future__ import annotations

__all__ = ["read_struct"]

_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 12


def read_struct(data: bytes, at: int) -> tuple[dict[int, object], int]:
    """Read a struct: its fields by id, integers and structs as they are, and where it ends.

    Raises
    ------
    ValueError
        It holds a map; no header of Parquet's does.
    """
    fields: dict[int, object] = {}
    last = 0
    while True:
        head = data[at]
        at += 1
        kind = head & 15
        if kind == _STOP:
            return fields, at
        if head >> 4:
            last += head >> 4
        else:
            last, at = _number(data, at)
        if kind in (_TRUE, _FALSE):
            fields[last] = kind == _TRUE
        else:
            fields[last], at = _value(data, at, kind)


def _value(data: bytes, at: int, kind: int) -> tuple[object, int]:
    if kind == _STRUCT:
        return read_struct(data, at)
    if kind in (_TRUE, _FALSE, _BYTE):
        return data[at], at + 1
    if kind == _DOUBLE:
        return data[at : at + 8], at + 8
    if kind == _BINARY:
        size, at = _varint(data, at)
        return data[at : at + size], at + size
    if kind in (_LIST, _SET):
        size, inner = data[at] >> 4, data[at] & 15
        at += 1
        if size == 15:
            size, at = _varint(data, at)
        found = []
        for _ in range(size):
            value, at = _value(data, at, inner)
            found.append(value)
        return found, at
    if kind > _STRUCT or kind == 11:
        raise ValueError(f"a field of kind {kind} where a page's header should be")
    return _number(data, at)


def _number(data: bytes, at: int) -> tuple[int, int]:
    coded, at = _varint(data, at)
    return (coded >> 1) ^ -(coded & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        byte = data[at]
        at += 1
        found |= (byte & 127) << shift
        if byte < 128:
            return found, at
        shift += 7
