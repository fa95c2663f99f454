"""Conditions as people type them, read in time linear in their length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from provspark.model.errors import ConditionError

__all__ = ["Condition", "parse_condition"]


class Condition(NamedTuple):
    """One condition on one column.

    Parameters
    ----------
    column : str
        Its name, or ``column.field`` for a field of a struct.
    operator : str
        One of `provspark.index_store.values.selection.OPERATORS`.
    value : object
        Text, that is read by the column's type, or a Python value of that type; for ``in`` a sequence of them; None
        for ``is null`` and ``is not null``. For ``like``, a pattern: ``%`` matches any text, ``_`` matches any
        character, and a backslash escapes either of them.
    """

    column: str
    operator: str
    value: Any = None


_SIGNS = re.compile(r"[`=<>!]")
_OPERATOR = re.compile(r"<=|>=|!=|=|<|>")
_WORD = re.compile(r"\S+")
_HOW = (
    "write column=value, with one of = != < <= > >=, or `column in (a, b)`, `column like 'a%'`, `column startswith a`, "
    "`column is null`, `column is not null`; "
    "quote a value that begins or ends with a space, or contains a comma or one of these operators, "
    "and write a column name that contains one of them in backticks"
)


def parse_condition(text: str) -> Condition:
    """Read a condition as people type it.

    Raises
    ------
    ConditionError
        The text is no condition.

    Examples
    --------
    >>> parse_condition("hours >= 40")
    Condition(column='hours', operator='>=', value='40')
    >>> parse_condition("state in (Ohio, 'New York')")
    Condition(column='state', operator='in', value=('Ohio', 'New York'))
    >>> parse_condition("note is not null")
    Condition(column='note', operator='is not null', value=None)
    """
    text = text.strip()
    column = _Column(text)
    if operator := column.null():
        return Condition(column.name, operator)
    parsed = column.within() or column.compares() or column.word()
    if not parsed:
        raise ConditionError(f"{text!r} is no condition; {_HOW}")
    operator, rest = parsed
    values = _values(rest)
    if values is None:
        raise ConditionError(f"{text!r} has no value that can be read; {_HOW}")
    if operator == "in":
        return Condition(column.name, operator, tuple(values))
    if len(values) > 1 and rest[0] in "'\"":
        raise ConditionError(f"{text!r} has more than one value; {_HOW}")
    # A comma in a bare value belongs to it.
    return Condition(column.name, operator, values[0] if len(values) == 1 else rest)


class _Column:
    """A text that begins with a column's name: in backticks, or without any of their and the operators' signs.

    Each method looks for one kind of condition behind it, sets `name` if it finds one, and returns the operator, and
    the text of the values where there are any.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.name = ""
        self._quoted = text.startswith("`")
        if self._quoted:
            end = _closing(text, "`") or 0
        else:
            sign = _SIGNS.search(text)
            end = sign.start() if sign else len(text)
        self._end = end
        """Where a name in backticks ends, 0 if it does not; where one without them ends at the latest."""

    def null(self) -> str:
        """``is null`` or ``is not null``, which end the text."""
        before = _without(self._text, "null")
        if before is None:
            return ""
        negated = _without(before, "not")
        for operator, rest in (("is not null", negated), ("is null", before)):
            column = None if rest is None else _without(rest, "is")
            if column is not None and self._named(len(column)):
                return operator
        return ""

    def within(self) -> tuple[str, str] | None:
        """``in (…)``, the first one before which a name stands."""
        if not self._text.endswith(")"):
            return None
        for at in self._openings():
            end = self._blanks_before(at)
            if self._text[end - 2 : end].lower() == "in" and self._named(self._blanks_before(end - 2), end - 2):
                return "in", self._text[at + 1 : -1].strip()
        return None

    def compares(self) -> tuple[str, str] | None:
        """One of the operators that are signs."""
        at = self._end
        while at < len(self._text) and self._text[at].isspace():
            at += 1
        sign = _OPERATOR.match(self._text, at)
        if sign is None or not self._named(self._end if self._quoted else self._blanks_before(at)):
            return None
        return sign[0], self._text[sign.end() :].strip()

    def word(self) -> tuple[str, str] | None:
        """``like`` or ``startswith``, the first one before which a name stands."""
        for word in _WORD.finditer(self._text, self._end if self._quoted else 0):
            if not self._quoted and word.start() >= self._end:
                return None
            operator = word[0].lower()
            if operator in ("like", "startswith") and self._named(self._blanks_before(word.start()), word.start()):
                return operator, self._text[word.end() :].strip()
            if self._quoted:
                return None
        return None

    def _openings(self) -> Iterator[int]:
        at = self._text.find("(", self._end if self._quoted else 0)
        while at >= 0 and (self._quoted or at < self._end):
            yield at
            at = -1 if self._quoted else self._text.find("(", at + 1)

    def _blanks_before(self, at: int) -> int:
        """Return where the blanks before a place begin."""
        while at > 0 and self._text[at - 1].isspace():
            at -= 1
        return at

    def _named(self, end: int, behind: int | None = None) -> bool:
        """Whether the text up to here is a name; up to `behind` there must be blanks."""
        if end <= 0 or end > self._end or (behind is not None and end == behind):
            return False
        if self._quoted:
            self.name = self._text[1 : end - 1].replace("``", "`")
            return end == self._end and bool(self.name)
        self.name = self._text[:end]
        return True


def _without(text: str, word: str) -> str | None:
    """Take a word from the end of a text, and the blanks before it; None if it does not end so."""
    at = len(text) - len(word)
    if at < 1 or text[at:].lower() != word or not text[at - 1].isspace():
        return None
    return text[:at].rstrip()


def _closing(text: str, quote: str, begin: int = 0) -> int | None:
    """Return where a quoted part that begins here ends, in which a quote is doubled; None if it does not end."""
    at = text.find(quote, begin + 1)
    while at >= 0 and text.startswith(quote, at + 1):
        at = text.find(quote, at + 2)
    return at + 1 if at >= 0 else None


def _values(text: str) -> list[str] | None:
    """Read values that commas divide, each in quotes or bare; None if there is none or one can't be read."""
    out = []
    at = 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text) or text[at] in "=<>!,":
            return None
        quote = text[at]
        if quote in "'\"":
            end = _closing(text, quote, at)
            if end is None:
                return None
            out.append(text[at + 1 : end - 1].replace(quote * 2, quote))
            while end < len(text) and text[end].isspace():
                end += 1
            if end < len(text) and text[end] != ",":
                return None
        else:
            end = text.find(",", at)
            end = len(text) if end < 0 else end
            out.append(text[at:end].rstrip())
        if end == len(text):
            return out
        at = end + 1
