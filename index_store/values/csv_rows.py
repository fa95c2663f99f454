"""Rows of CSV files: the lines that Spark does not skip, split and converted as in its permissive mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from provspark.index_store.values.converters import Converter, text_converter
from provspark.index_store.values.files import DataFile
from provspark.index_store.values.lines import lines_of
from provspark.index_store.values.options import boolean, charset, decode, refusal, refuse
from provspark.index_store.values.types import arrow_type
from provspark.index_store.values.univocity import UnivocityFormat, split_line
from provspark.model.datasets import Field, Version
from provspark.model.errors import ValuesUnavailableError

__all__ = ["CsvFormat", "csv_format"]

_BLANKS = bytes(range(33))
_QUOTE_HANDLING = ("STOP_AT_DELIMITER", "STOP_AT_CLOSING_QUOTE")
_ESCAPED = {"\\t": "\t", "\\r": "\r", "\\b": "\b", "\\f": "\f", '\\"': '"', "\\'": "'", "\\\\": "\\", "\\0": "\0"}


def csv_format(options: dict[str, str]) -> UnivocityFormat:
    """Return the settings of Spark's CSV parser under these options (``CSVOptions.asParserSettings``).

    Raises
    ------
    ValuesUnavailableError
        An option is not supported; the message names it.
    """
    refuse(options, flags=["multiLine"], settings=["singleVariantColumn"])
    handling = options.get("unescapedquotehandling", _QUOTE_HANDLING[0]).upper()
    if handling not in _QUOTE_HANDLING:
        raise refusal("unescapedQuoteHandling", handling)
    quote, escape = options.get("quote", '"') or "\0", options.get("escape", "\\") or "\0"
    delimiter = _delimiter(options.get("sep", options.get("delimiter", ",")))
    out = UnivocityFormat(
        delimiter=delimiter,
        quote=quote,
        escape=escape,
        escape_escape=options.get("chartoescapequoteescaping") or ("\0" if quote == escape else escape),
        null_value=options.get("nullvalue", ""),
        empty_value=options.get("emptyvalue", ""),
        trim_leading=boolean(options, "ignoreleadingwhitespace"),
        trim_trailing=boolean(options, "ignoretrailingwhitespace"),
        stop_at_delimiter=handling == _QUOTE_HANDLING[0],
    )
    if len(delimiter) > 1:
        if out.trim_leading or out.trim_trailing:
            raise refusal("ignoreLeadingWhiteSpace or ignoreTrailingWhiteSpace together with sep", delimiter)
        if len(set(delimiter)) > 1 and delimiter[0] in delimiter[1:-1]:
            raise refusal("sep", delimiter)
    return out


def _delimiter(text: str) -> str:
    """Undo the escapes that Spark allows in ``sep`` (``CSVExprUtils.toDelimiterStr``)."""
    out, at = "", 0
    while at < len(text):
        pair = text[at : at + 2]
        if text[at] == "\\" and text[at:] == "\\u0000":
            return out + "\0"
        if text[at] == "\\" and len(pair) == 2:
            if pair not in _ESCAPED:
                raise refusal("sep", text)
            out += _ESCAPED[pair]
            at += 2
        else:
            out += text[at]
            at += 1
    return out


class CsvFormat:
    """Spark's ``csv`` source without ``multiLine``.

    Raises
    ------
    ValuesUnavailableError
        An option is not supported; the message names it.
    """

    def __init__(self, version: Version) -> None:
        self._options = dict(version.options)
        self._format = csv_format(self._options)
        self._charset = charset(self._options)
        self._separator = self._options.get("linesep", "").encode(self._charset)
        self._header = boolean(self._options, "header")
        comment = self._options.get("comment", "")
        self._comment = comment.encode(self._charset) if len(comment) == 1 else b""
        self._columns = {f.name: i for i, f in enumerate(version.fields) if f.name not in version.partitions}
        self._partitions = {p.lower() for p in version.partitions}
        self._corrupt = self._options.get("columnnameofcorruptrecord", "_corrupt_record")
        self._max_columns = int(self._options.get("maxcolumns", "20480"))
        self._max_chars = int(self._options.get("maxcharspercolumn", "-1"))

    def records(self, file: DataFile) -> Iterator[list[bytes]]:
        header = self._header
        for lines in lines_of(file, self._separator):
            if header:
                at = self._header_at(lines)
                if at is None:
                    continue
                self._check_header(file, lines[at])
                lines = lines[at + 1 :]
                header = False
            kept = [line for line in lines if line.strip(_BLANKS)]
            if self._comment:
                kept = [line for line in kept if not line.startswith(self._comment)]
            if file.written and len(kept) != len(lines):
                raise file.unreadable("Spark wrote lines to it that it skips on reading, so its lines are not its rows")
            if len(self._format.delimiter) > 1:
                self._refuse_torn_delimiters(file, kept)
            yield kept

    def lines_may_differ(self, file: DataFile) -> bool:
        """Return whether written values may contain the separator, in quotes."""
        return file.written

    def parse(self, file: DataFile, records: Sequence[bytes], fields: Sequence[Field]) -> pa.Table:
        if any(f.name == self._corrupt for f in fields):
            raise refusal("columnNameOfCorruptRecord", self._corrupt)
        rows = [self._split(decode(line, self._charset)) for line in records]
        null = self._format.null_value
        columns = []
        for field in fields:
            at = self._place(field.name)
            convert = text_converter(field.type, self._options)
            texts = [row[at] if at < len(row) else null for row in rows]
            columns.append(_convert(texts, null, convert, field.type))
        return pa.Table.from_arrays(columns, names=[f.name for f in fields])

    def _place(self, name: str) -> int:
        """Return the index of a column among a line's values, which exclude the column of bad records."""
        at = self._columns[name]
        return at - 1 if self._columns.get(self._corrupt, at) < at else at

    def _split(self, line: str) -> list[str]:
        values = split_line(line, self._format)
        if len(values) > self._max_columns:
            raise refusal("maxColumns", str(self._max_columns))
        if self._max_chars >= 0 and any(len(v) > self._max_chars for v in values):
            raise refusal("maxCharsPerColumn", str(self._max_chars))
        return values

    def _header_at(self, lines: list[bytes]) -> int | None:
        for at, line in enumerate(lines):
            if line.strip(_BLANKS) and not (self._comment and line.startswith(self._comment)):
                return at
        return None

    def _check_header(self, file: DataFile, line: bytes) -> None:
        fmt = replace(self._format, trim_leading=False, trim_trailing=False)
        names = {n.lower() for n in split_line(decode(line, self._charset), fmt)} if self._partitions else set()
        if both := names & self._partitions:
            raise ValuesUnavailableError(
                f"{file.full} has a column {both.pop()!r} that is also a partition column, so the places of its values "
                f"are unknown. The row ids are still valid."
            )

    def _refuse_torn_delimiters(self, file: DataFile, lines: list[bytes]) -> None:
        quote = self._format.quote.encode(self._charset)
        delimiter = self._format.delimiter.encode(self._charset)
        heads = tuple(delimiter[:n] for n in range(1, len(delimiter)))
        for line in lines:
            if quote in line and line.endswith(heads) and not line.endswith(delimiter):
                raise ValuesUnavailableError(
                    f"{file.full} has a line with quotes that ends in the middle of the delimiter {delimiter!r}, so "
                    f"the next line can't be read as Spark reads it. The row ids are still valid."
                )


def _convert(texts: list[str], null: str, convert: Converter, kind: str) -> Any:
    if convert is str:
        return pa.array([None if t == null else t for t in texts], arrow_type(kind))
    return pa.array([None if t == null else convert(t) for t in texts], arrow_type(kind))
