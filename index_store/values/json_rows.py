"""Rows of JSON lines: a line is a row, an array of objects is a row per object, a blank line is no row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from provspark.index_store.values.files import DataFile
from provspark.index_store.values.json_tokens import JsonReader, JsonSyntaxError, Rules
from provspark.index_store.values.json_values import json_converter, struct
from provspark.index_store.values.lines import lines_of
from provspark.index_store.values.options import boolean, charset, decode, refusal, refuse
from provspark.index_store.values.types import arrow_type
from provspark.model.datasets import Field, Version

__all__ = ["JsonFormat"]

_SPACE = b" \t\r\n"
_BAD_ROW = b"null"
_FLAGS = ("multiLine", "allowComments", "allowUnquotedFieldNames", "allowNumericLeadingZeros")


class JsonFormat:
    """Spark's ``json`` source without ``multiLine``.

    Raises
    ------
    ValuesUnavailableError
        An option is not supported; the message names it.
    """

    def __init__(self, version: Version) -> None:
        self._options = dict(version.options)
        refuse(self._options, flags=_FLAGS, settings=["singleVariantColumn", "explodeEmbeddedArray"])
        self._charset = charset(self._options)
        self._strict = "encoding" not in self._options and "charset" not in self._options
        self._separator = self._options.get("linesep", "").encode(self._charset)
        self._corrupt = self._options.get("columnnameofcorruptrecord", "_corrupt_record")
        self._rules = Rules(
            single_quotes=boolean(self._options, "allowsinglequotes", True),
            non_numeric=boolean(self._options, "allownonnumericnumbers", True),
            any_escape=boolean(self._options, "allowbackslashescapinganycharacter"),
            control_characters=boolean(self._options, "allowunquotedcontrolchars"),
        )

    def records(self, file: DataFile) -> Iterator[list[bytes]]:
        for lines in lines_of(file, self._separator):
            out: list[bytes] = []
            for line in lines:
                text = line.strip(_SPACE)
                if text.startswith(b"["):
                    out.extend(self._elements(file, text))
                elif text:
                    out.append(text)
            yield out

    def lines_may_differ(self, file: DataFile) -> bool:
        """Return whether written values may contain the separator; JSON escapes line ends, but no other separators."""
        return file.written and bool(self._separator)

    def parse(self, file: DataFile, records: Sequence[bytes], fields: Sequence[Field]) -> pa.Table:
        if any(f.name == self._corrupt for f in fields):
            raise refusal("columnNameOfCorruptRecord", self._corrupt)
        converters = {f.name: json_converter(f.type, self._options) for f in fields}
        rows = [self._row(file, record, converters) for record in records]
        columns = [pa.array([row.get(f.name) for row in rows], arrow_type(f.type)) for f in fields]
        return pa.Table.from_arrays(columns, names=[f.name for f in fields])

    def _decode(self, file: DataFile, record: bytes) -> str:
        try:
            return record.decode(self._charset) if self._strict else decode(record, self._charset)
        except UnicodeDecodeError as e:
            raise file.unreadable(f"the line {record[:80]!r} is not valid {self._charset} ({e.reason})") from None

    def _row(self, file: DataFile, record: bytes, converters: dict[str, Any]) -> dict[str, Any]:
        text = self._decode(file, record)
        try:
            node = JsonReader(text, self._rules).read()
        except JsonSyntaxError:
            return {}
        if node is None or node.kind != "object":
            return {}
        return struct(node.value, converters, text)

    def _elements(self, file: DataFile, line: bytes) -> list[bytes]:
        """Return the objects of an array as rows; an invalid array, or one with other elements, is one bad row."""
        text = self._decode(file, line)
        try:
            node = JsonReader(text, self._rules).read()
        except JsonSyntaxError:
            return [_BAD_ROW]
        if node is None or any(item.kind != "object" for item in node.value):
            return [_BAD_ROW]
        return [text[item.start : item.end].encode(self._charset) for item in node.value]
