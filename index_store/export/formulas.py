"""Protection against text in CSV that a spreadsheet would run as a formula."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["neutral", "neutral_column"]

_FORMULA = r"\A([=+\-@\t\r])"
_QUOTED = r"'\1"


def neutral(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would take for a formula.

    >>> neutral("=1+2"), neutral("-5 degrees"), neutral("a=b")
    ("'=1+2", "'-5 degrees", 'a=b')
    """
    return re.sub(_FORMULA, _QUOTED, text)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def neutral_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Apply `neutral` to each text of a column; columns of other types stay unchanged."""
    if pa.types.is_dictionary(column.type) and _is_text(column.type.value_type):
        column = column.cast(column.type.value_type)
    if not _is_text(column.type):
        return column
    return pc.replace_substring_regex(column, _FORMULA, _QUOTED)
