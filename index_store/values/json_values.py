"""Converters from JSON to values of Spark's types (``JacksonParser.makeConverter``); misfits become null."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa

from provspark.index_store.values.converters import decimal_of, temporal, text_converter
from provspark.index_store.values.json_tokens import JsonNode
from provspark.index_store.values.types import arrow_type, parts_of
from provspark.model.errors import ValuesUnavailableError

__all__ = ["JsonConverter", "MisfitError", "json_converter"]

JsonConverter = Callable[[JsonNode, str], Any]
"""Takes a value, and the text that contains it."""

_RANGES = {"tinyint": (-(1 << 7), 1 << 8), "smallint": (-(1 << 15), 1 << 15)}
_RANGES |= {"int": (-(1 << 31), 1 << 31), "bigint": (-(1 << 63), 1 << 63)}
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class MisfitError(ValueError):
    """A value does not fit its field's type."""


def json_converter(kind: str, options: Mapping[str, str]) -> JsonConverter:
    """Return the converter of one column; JSON's null is null for every type.

    Raises
    ------
    ValuesUnavailableError
        Values of this type can't be read exactly outside Spark.
    """
    inner = _converter(kind, options)
    return lambda node, text: None if node.kind == "word" and node.value == "null" else inner(node, text)


def _converter(kind: str, options: Mapping[str, str]) -> JsonConverter:
    target = arrow_type(kind)
    if kind in _RANGES:
        return _integer(kind)
    if kind in ("float", "double"):
        return _floating(kind, options)
    if kind == "boolean":
        return _boolean
    if kind == "binary":
        return _binary
    if kind == "void":
        return lambda node, text: None
    if pa.types.is_string(target):
        plain = "encoding" not in options
        return lambda node, text: _text(node, text, plain)
    if pa.types.is_decimal(target):
        return _decimal(kind, options, target)
    if kind in ("date", "timestamp", "timestamp_ntz"):
        return _temporal(kind, options)
    return _nested(kind, options)


def _nested(kind: str, options: Mapping[str, str]) -> JsonConverter:
    outer, parts = parts_of(kind)
    if outer == "array":
        item = json_converter(parts[0][1], options)
        return lambda node, text: [item(n, text) for n in _must(node, "array")]
    if outer == "map":
        if not pa.types.is_string(arrow_type(parts[0][1])):
            raise ValuesUnavailableError(f"JSON can't contain values of type {kind!r}. Select other columns.")
        value = json_converter(parts[1][1], options)
        return lambda node, text: [(name, value(n, text)) for name, n in _must(node, "object")]
    fields = {name: json_converter(inner, options) for name, inner in parts}
    return lambda node, text: struct(_must(node, "object"), fields, text)


def struct(pairs: list[tuple[str, JsonNode]], fields: Mapping[str, JsonConverter], text: str) -> dict[str, Any]:
    """Return the fields of an object; if a name occurs twice, the last value that fits wins."""
    out: dict[str, Any] = dict.fromkeys(fields)
    for name, node in pairs:
        if name in fields:
            try:
                out[name] = fields[name](node, text)
            except MisfitError:
                continue
    return out


def _must(node: JsonNode, kind: str) -> Any:
    if node.kind != kind:
        raise MisfitError(kind)
    return node.value


def _integer(kind: str) -> JsonConverter:
    low, high = _RANGES[kind]

    def convert(node: JsonNode, text: str) -> int:
        value = int(_must(node, "integer"))
        if not low <= value < high:
            raise MisfitError(kind)
        # Jackson accepts bytes up to 255, and Java wraps them.
        return value - 256 if kind == "tinyint" and value > 127 else value

    return convert


def _floating(kind: str, options: Mapping[str, str]) -> JsonConverter:
    words = {"NaN": "nan", "INF": "inf", "Infinity": "inf"}
    number = text_converter(kind, {"nanvalue": "NaN"})
    lenient = options.get("allownonnumericnumbers", "true").lower() == "true"

    def convert(node: JsonNode, text: str) -> Any:
        sign = "-" if node.kind in ("float", "string") and node.value.startswith("-") else ""
        word = words.get(node.value.lstrip("+-")) if node.kind in ("float", "string") else None
        if word and node.value in ("NaN", "+INF", "-INF", "+Infinity", "-Infinity", "Infinity"):
            if node.kind == "string" and not lenient:
                raise MisfitError(kind)
            return float(sign + word)
        if node.kind not in ("integer", "float"):
            raise MisfitError(kind)
        return number(node.value)

    return convert


def _boolean(node: JsonNode, text: str) -> bool:
    if node.kind != "word":
        raise MisfitError("boolean")
    return bool(node.value == "true")


def _binary(node: JsonNode, text: str) -> bytes:
    try:
        return base64.b64decode(_must(node, "string"), validate=True)
    except binascii.Error:
        raise ValuesUnavailableError(
            f"{node.value[:80]!r} is not base64 in its strict form. Select other columns."
        ) from None


def _text(node: JsonNode, text: str, plain: bool) -> str:
    if node.kind == "string":
        return str(node.value)
    if not plain:
        raise ValuesUnavailableError(
            "A text column contains JSON that is not a string, which Spark rewrites under the option encoding. "
            "Select other columns."
        )
    return text[node.start : node.end]


def _decimal(kind: str, options: Mapping[str, str], target: pa.Decimal128Type) -> JsonConverter:
    from_text = text_converter(kind, options)

    def convert(node: JsonNode, text: str) -> Any:
        if node.kind == "string" and node.value:
            value = from_text(node.value)
        elif node.kind in ("integer", "float") and node.value[-1].isdigit():
            value = decimal_of(Decimal(node.value), target)
        else:
            raise MisfitError(kind)
        if value is None:
            raise MisfitError(kind)
        return value

    return convert


def _temporal(kind: str, options: Mapping[str, str]) -> JsonConverter:
    read = temporal(kind, options)

    def convert(node: JsonNode, text: str) -> Any:
        if kind == "timestamp" and node.kind == "integer":
            try:
                return _EPOCH + timedelta(seconds=int(node.value))
            except OverflowError:
                raise ValuesUnavailableError(
                    f"The time {node.value} is outside of the years 1 to 9999. Select other columns."
                ) from None
        if node.kind != "string" or not node.value:
            raise MisfitError(kind)
        value = read(node.value)
        if value is None and kind != "timestamp_ntz":
            return _legacy(kind, node.value, options)
        if value is None:
            raise MisfitError(kind)
        return value

    return convert


def _legacy(kind: str, text: str, options: Mapping[str, str]) -> Any:
    """Raise an error for text that Spark parses as its first versions did; all other text does not fit."""
    has_pattern = "dateformat" if kind == "date" else "timestampformat"
    if not options.get(has_pattern) and (text.lstrip("+-").isdigit() or "GMT" in text):
        raise ValuesUnavailableError(
            f"{text!r} is a {kind} of Spark 1, which can't be read outside Spark. Select other columns."
        )
    raise MisfitError(kind)
