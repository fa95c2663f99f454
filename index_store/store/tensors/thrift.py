"""The part of Thrift's compact protocol that the headers and footer of a Parquet file need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["ThriftField", "binary", "i32", "i32_fields", "i64", "list_of", "struct", "structs"]

_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
_NEXT_I32 = bytes([1 << 4 | _I32])

ThriftField = tuple[int, bytes]
"""Type of a field, and its serialized value."""


def i32(value: int) -> ThriftField:
    """Serialize a 32-bit integer."""
    return _I32, _varint(value << 1 ^ value >> 31)


def i32_fields(values: Iterable[int]) -> bytes:
    """Serialize 32-bit integers as fields of a struct with consecutive ids."""
    return b"".join(_NEXT_I32 + i32(value)[1] for value in values)


def i64(value: int) -> ThriftField:
    """Serialize a 64-bit integer."""
    return _I64, _varint(value << 1 ^ value >> 63)


def binary(value: bytes) -> ThriftField:
    """Serialize bytes, or a string in UTF-8."""
    return _BINARY, _varint(len(value)) + value


def list_of(values: Sequence[ThriftField]) -> ThriftField:
    """Serialize one or more values of the same type."""
    head = bytes([len(values) << 4 | values[0][0]]) if len(values) < 15 else bytes([15 << 4 | values[0][0]])
    return _LIST, b"".join([head, b"" if len(values) < 15 else _varint(len(values)), *(v for _, v in values)])


def struct(fields: Iterable[tuple[int, ThriftField]]) -> ThriftField:
    """Serialize fields by id; each id is 1 to 15 above the one before."""
    out, last = [], 0
    for number, (kind, value) in fields:
        out += [bytes([(number - last) << 4 | kind]), value]
        last = number
    return _STRUCT, b"".join([*out, b"\0"])


def structs(values: Iterable[Iterable[tuple[int, ThriftField]]]) -> ThriftField:
    """Serialize a list of structs, which may be empty."""
    made = [struct(v) for v in values]
    return list_of(made) if made else (_LIST, bytes([_STRUCT]))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
