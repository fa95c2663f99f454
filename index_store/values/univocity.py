"""Splitting of a CSV line into its values exactly like Spark.

Spark reads a line with univocity-parsers 2.9.1 (`CsvParser.parseLine`), which treats escapes, unclosed quotes and
blanks around quotes in its own way. So its state machine is followed here step by step, with its method names. A line
ends where its text ends; ``\\n`` can occur in it only if another line separator is set, and then ends the record as in
univocity.
"""

from __future__ import annotations

from dataclasses import dataclass

from provspark.model.errors import ValuesUnavailableError

_NUL = "\0"
_NEWLINE = "\n"


@dataclass(frozen=True, slots=True)
class UnivocityFormat:
    """Settings of univocity from Spark's options. `stop_at_delimiter` is how an unescaped quote is handled."""

    delimiter: str = ","
    quote: str = '"'
    escape: str = "\\"
    escape_escape: str = "\\"
    null_value: str = ""
    empty_value: str = ""
    trim_leading: bool = False
    trim_trailing: bool = False
    stop_at_delimiter: bool = True


class _End(Exception):  # noqa: N818 - not an error: the end of the line, like univocity's EOFException
    pass


def split_line(line: str, fmt: UnivocityFormat) -> list[str]:
    """Return the values of a line that is not blank, unquoted and unescaped; nulls as `UnivocityFormat.null_value`."""
    if len(fmt.delimiter) > 1:
        if fmt.quote in line or _NEWLINE in line:
            raise ValuesUnavailableError(
                f"The line {line[:200]!r} has a quote beside the delimiter {fmt.delimiter!r}: with delimiters of "
                f"several characters, Spark's reading of it depends on the lines before. The row ids are still valid."
            )
    elif fmt.quote in line or _NEWLINE in line:
        return LineParser(fmt).parse(line)
    cells = values = line.split(fmt.delimiter)
    if fmt.trim_trailing and not fmt.trim_leading and line[0] <= " ":
        _refuse_blank_start(line, fmt.delimiter)
    if fmt.trim_leading:
        values = [v.lstrip(_CONTROLS) for v in values]
    if fmt.trim_trailing:
        values = [_rtrim(v) for v in values]
    if fmt.null_value or fmt.empty_value:
        values = [v or fmt.null_value for v in values]
        if cells[-1] and fmt.trim_trailing and not (fmt.trim_leading or _rtrim(cells[-1])):
            values[-1] = fmt.empty_value
    return values


class LineParser:
    """univocity's `CsvParser` for one line and delimiters of one character."""

    def __init__(self, fmt: UnivocityFormat) -> None:
        self._fmt = fmt
        self._delimiter = fmt.delimiter

    def parse(self, line: str) -> list[str]:
        """Return the line's values."""
        self._text, self._at = line, 0
        self._ch = self._prev = _NUL
        self._unescaped = self._trim = False
        self._values: list[str] = []
        self._cell = ""
        try:
            while not self._values:
                self._next()
                self._parse_record()
        except _End:
            self._handle_end()
        return self._values

    def _next(self) -> None:
        if self._at >= len(self._text):
            raise _End
        self._ch = self._text[self._at]
        self._at += 1

    def _append_until(self, *stops: str) -> None:
        at = self._at - 1
        ends = [e for e in (self._text.find(s, at) for s in stops) if e >= 0]
        end = min(ends, default=len(self._text))
        self._cell += self._text[at:end]
        self._at = end
        self._next()

    def _value(self) -> None:
        if self._trim:
            self._cell = _rtrim(self._cell)
        self._values.append(self._cell or self._fmt.empty_value)
        self._cell = ""

    def _empty(self) -> None:
        self._values.append(self._fmt.null_value)

    def _handle_end(self) -> None:
        consume = self._consume_at_end()
        if self._cell or consume:
            self._value()
        else:
            self._empty()

    def _consume_at_end(self) -> bool:
        if self._ch == self._fmt.quote:
            if self._prev == self._fmt.quote:
                return True
            if not self._unescaped:
                self._cell += self._fmt.quote
        return self._prev != _NUL and self._ch not in (self._delimiter, _NEWLINE)

    def _skip_blanks(self) -> None:
        while self._ch <= " " and self._ch not in (self._delimiter, _NEWLINE, self._fmt.quote):
            self._next()

    def _parse_record(self) -> None:
        fmt = self._fmt
        if fmt.trim_leading:
            self._skip_blanks()
        while self._ch != _NEWLINE:
            if fmt.trim_leading:
                self._skip_blanks()
            if self._ch in (self._delimiter, _NEWLINE):
                self._empty()
            else:
                self._unescaped, self._prev = False, _NUL
                if self._ch == fmt.quote:
                    value = self._quoted_string()
                    if value is not None:
                        self._values.append(value or fmt.empty_value)
                        if self._after_quoted_string():
                            return
                        continue
                    self._trim = False
                    self._parse_quoted_value()
                    self._value()
                else:
                    self._unquoted()
            if self._ch != _NEWLINE:
                self._next_after_delimiter()

    def _after_quoted_string(self) -> bool:
        """Skip the delimiter that follows; return whether the line ends there."""
        try:
            self._next()
        except _End:
            return True
        if self._ch == self._delimiter:
            try:
                self._next()
            except _End:
                self._empty()
                return True
            if self._ch == _NEWLINE:
                self._empty()
        return False

    def _next_after_delimiter(self) -> None:
        self._next()
        if self._ch == _NEWLINE:
            self._empty()

    def _quoted_string(self) -> str | None:
        """Return the value of a quoted cell if it contains no quote or escape and a delimiter follows; else None."""
        fmt, text, start = self._fmt, self._text, self._at
        end = text.find(fmt.quote, start)
        if end < 0 or end + 1 >= len(text) or text[end - 1] == fmt.escape:
            return None
        if text[end + 1] not in (self._delimiter, _NEWLINE):
            return None
        value = text[start:end]
        if fmt.escape + fmt.escape_escape in value:
            return None
        self._at = end + 1
        return value

    def _unquoted(self) -> None:
        end = self._text.find(self._delimiter, self._at - 1)
        if end >= 0:
            value = self._text[self._at - 1 : end]
            if self._fmt.trim_trailing:
                if not _rtrim(self._text[:end]):
                    _refuse_blank_start(self._text, self._delimiter)
                value = _rtrim(value)
            self._values.append(value or self._fmt.null_value)
            self._at = end
            self._next()
        else:
            self._trim = self._fmt.trim_trailing
            self._append_until(self._delimiter, _NEWLINE)
            self._value()

    def _process_quote_escape(self) -> None:
        fmt = self._fmt
        if self._ch == fmt.escape and self._prev == fmt.escape_escape and fmt.escape_escape != _NUL:
            self._cell += fmt.escape
            self._ch = _NUL
        elif self._prev == fmt.escape:
            if self._ch == fmt.quote:
                self._cell += fmt.quote
                self._ch = _NUL
            else:
                self._cell += self._prev
        elif self._ch == fmt.quote and self._prev == fmt.quote:
            self._cell += fmt.quote
        elif self._prev == fmt.quote:
            self._cell += fmt.quote
            self._prev = self._ch
            self._parse_value_processing_escape()

    def _parse_value_processing_escape(self) -> None:
        while self._ch not in (self._delimiter, _NEWLINE):
            if self._ch not in (self._fmt.quote, self._fmt.escape):
                if self._prev == self._fmt.quote:
                    self._cell += self._fmt.quote
                    self._prev = self._ch
                    self._parse_value_processing_escape()
                    return
                self._cell += self._ch
            else:
                self._process_quote_escape()
            self._prev = self._ch
            self._next()

    def _handle_unescaped_quote(self) -> None:
        self._unescaped = True
        self._cell += self._fmt.quote + self._ch
        self._prev = self._ch
        self._parse_quoted_value()

    def _reopen(self) -> None:
        """Take the rest of a cell literally after its quotes proved wrong."""
        self._cell = self._fmt.quote + self._cell
        self._next()
        self._trim = self._fmt.trim_trailing

    def _parse_quoted_value(self) -> None:
        fmt = self._fmt
        if self._prev != _NUL and fmt.stop_at_delimiter:
            self._reopen()
            self._append_until(self._delimiter, _NEWLINE)
            return
        self._next()
        while not (self._prev == fmt.quote and (self._ch <= " " or self._ch == self._delimiter)):
            if self._ch not in (fmt.quote, fmt.escape):
                if self._prev == fmt.quote:
                    self._handle_unescaped_quote()
                    return
                self._inside_quotes()
            else:
                self._process_quote_escape()
                self._prev = self._ch
                self._next()
                if self._unescaped and self._ch in (self._delimiter, _NEWLINE):
                    return
        if self._ch not in (self._delimiter, _NEWLINE) and self._ch <= " ":
            blanks = ""
            while self._ch <= " " and (not blanks or self._ch != self._delimiter):
                blanks += self._ch
                self._next()
                if self._ch == _NEWLINE:
                    return
            if self._ch != self._delimiter:
                self._restore(blanks)
                self._parse_quoted_value()
        if self._ch not in (self._delimiter, _NEWLINE):
            raise ValuesUnavailableError(
                f"The line {self._text[:200]!r} has {self._ch!r} after a closing quote, which Spark does not read "
                f"either. The row ids are still valid."
            )

    def _inside_quotes(self) -> None:
        fmt = self._fmt
        if self._prev == fmt.escape and fmt.escape != _NUL:
            self._cell += fmt.escape
        self._append_until(fmt.quote, fmt.escape, fmt.escape_escape)
        self._prev = self._ch
        self._next()

    def _restore(self, blanks: str) -> None:
        """Restore a quote and blanks that turned out to be part of the cell."""
        self._cell += self._fmt.quote + blanks
        if self._fmt.stop_at_delimiter or self._ch not in (self._fmt.quote, self._fmt.escape):
            self._cell += self._ch
        self._prev = self._ch


def _refuse_blank_start(line: str, delimiter: str) -> None:
    head = line[: len(line) - len(line.lstrip(_CONTROLS)) + 1]
    if any(c == delimiter and at and head[at - 1] != delimiter for at, c in enumerate(head)):
        raise ValuesUnavailableError(
            f"The line {line[:200]!r} starts with a blank cell, which Spark's CSV parser can't read with only "
            f"ignoreTrailingWhiteSpace. The row ids are still valid."
        )


def _rtrim(text: str) -> str:
    return text.rstrip(_CONTROLS)


_CONTROLS = "".join(map(chr, range(33)))
