"""Converters from text to values of Spark's types, one per column; they return None where Spark reads null.

The rules are those of Spark's ``UnivocityParser.makeConverter`` in permissive mode: a value that does not fit is null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timezone, tzinfo
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation, localcontext
from typing import Any

import pyarrow as pa

from provspark.index_store.values.datetimes import Pattern, names_zone, parse_date, parse_timestamp, zone_of
from provspark.index_store.values.types import arrow_type
from provspark.model.errors import ValuesUnavailableError

__all__ = ["Converter", "decimal_of", "double_of", "integer_of", "temporal", "text_converter"]

Converter = Callable[[str], Any]

_INTEGER = re.compile(r"[+-]?\d+")
_JAVA_DOUBLE = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?", re.ASCII)
_JAVA_HEX = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d+[fFdD]?", re.ASCII)
_JAVA_WORD = re.compile(r"([+-]?)(NaN|Infinity)")
_JAVA_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_BLANKS = "".join(map(chr, range(33)))
_LARGEST_FLOAT = 3.4028234663852886e38
_BITS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}


def integer_of(text: str, bits: int) -> int | None:
    """Parse a whole number like Java's ``Long.parseLong``; None if it is not one or has more than `bits` bits."""
    if not _INTEGER.fullmatch(text):
        return None
    value = int(text)
    return value if -(1 << bits) <= value < 1 << bits else None


def double_of(text: str) -> float | None:
    """Parse a number like Java's ``Double.parseDouble``; None if it is not one."""
    text = text.strip(_BLANKS)
    if _JAVA_DOUBLE.fullmatch(text):
        return float(text.rstrip("fFdD"))
    if match := _JAVA_WORD.fullmatch(text):
        return float(match[1] + ("nan" if match[2] == "NaN" else "inf"))
    if _JAVA_HEX.fullmatch(text):
        return float.fromhex(text.rstrip("fFdD") if text[-1] in "fFdD" else text)
    return None


def decimal_of(value: Decimal, kind: pa.Decimal128Type) -> Decimal | None:
    """Round half up to the type's scale; None if the type has too few digits."""
    with localcontext(Context(prec=200)):
        try:
            rounded = value.quantize(Decimal(1).scaleb(-kind.scale), rounding=ROUND_HALF_UP)
        except InvalidOperation:
            return None
    return rounded if abs(rounded.scaleb(kind.scale, Context(prec=200))) < 10**kind.precision else None


def temporal(kind: str, options: Mapping[str, str]) -> Converter:
    """Return the parser of a date or a time under the options dateformat, timestampformat and timezone."""
    fallback = options.get("enabledatetimeparsingfallback", "").lower() == "true"
    if kind == "date":
        if not options.get("dateformat"):
            return parse_date
        by_pattern = Pattern("dateFormat", options["dateformat"])
        return lambda text: by_pattern.date(text) or (parse_date(text) if fallback else None)
    if kind == "timestamp_ntz":
        if options.get("timestampntzformat"):
            raise ValuesUnavailableError(
                "Times with timestampNTZFormat can't be read outside Spark. Select other columns."
            )
        return _without_zone
    name = "timestampformat"
    zone: tzinfo | None = zone_of(options["timezone"]) if "timezone" in options else None
    if not options.get(name):
        return lambda text: parse_timestamp(text, zone)
    fixed = Pattern(name, options[name])
    return lambda text: fixed.timestamp(text, zone) or (parse_timestamp(text, zone) if fallback else None)


def text_converter(kind: str, options: Mapping[str, str]) -> Converter:
    """Return the converter of a CSV column (or, with empty options, of a folder's name).

    Parameters
    ----------
    kind : str
        Spark's type, as its ``simpleString``.
    options : mapping
        Reader options, with lower-case names.

    Raises
    ------
    ValuesUnavailableError
        Text of this type can't be read exactly outside Spark.
    """
    target = arrow_type(kind)
    if kind in _BITS:
        bits = _BITS[kind]
        return lambda text: integer_of(text, bits)
    if kind in ("float", "double"):
        return _floating(kind, options)
    if kind == "boolean":
        return lambda text: {"true": True, "false": False}.get(text.lower())
    if pa.types.is_decimal(target):
        if options.get("locale", "en-US").lower() not in ("en-us", "en_us"):
            raise ValuesUnavailableError(
                f"Decimals with locale={options['locale']!r} can't be read outside Spark. Select other columns."
            )
        return lambda text: _decimal(text, target)
    if kind in ("date", "timestamp", "timestamp_ntz"):
        if options.get("locale") and any(o in options for o in ("dateformat", "timestampformat")):
            raise ValuesUnavailableError(
                f"Dates with locale={options['locale']!r} can't be read outside Spark. Select other columns."
            )
        return temporal(kind, options)
    if kind == "binary":
        return str.encode
    if pa.types.is_string(target):
        return str
    raise ValuesUnavailableError(f"Text can't contain values of type {kind!r}. Select other columns.")


def _floating(kind: str, options: Mapping[str, str]) -> Converter:
    words = {
        options.get("positiveinf", "Inf"): float("inf"),
        options.get("negativeinf", "-Inf"): float("-inf"),
        options.get("nanvalue", "NaN"): float("nan"),
    }
    if kind == "double":
        return lambda text: words[text] if text in words else double_of(text)

    def single(text: str) -> float | None:
        value = words[text] if text in words else double_of(text)
        # Rounding a double to a float rounds twice, which can't matter with this few digits.
        if value is not None and len(text) > 15:
            digits = text.strip(_BLANKS).rstrip("fFdD").lstrip("+")
            if abs(value) < _LARGEST_FLOAT and _JAVA_DOUBLE.fullmatch(digits):
                return float(pa.scalar(digits).cast(pa.float32()).as_py())
        return value

    return single


def _decimal(text: str, target: pa.Decimal128Type) -> Decimal | None:
    text = text.replace(",", "")
    return decimal_of(Decimal(text), target) if _JAVA_DECIMAL.fullmatch(text) else None


def _without_zone(text: str) -> datetime | None:
    instant = None if names_zone(text) else parse_timestamp(text, timezone.utc)
    return instant.replace(tzinfo=None) if instant else None
