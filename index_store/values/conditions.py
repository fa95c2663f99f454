"""Parser of conditions in text form, in time linear in their length."""

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
        Name of the column, or ``column.field`` for a field of a struct.
    operator : str
        One of `provspark.index_store.values.selection.OPERATORS`.
    value : object
        Text, which is converted to the column's type, or a Python value of that type; for ``in`` a sequence of them;
        None for ``is null`` and ``is not null``. For ``like``, a pattern: ``%`` matches any text, ``_`` matches any
        character, and a backslash escapes either of them.
    """

    column: str
    operator: str
    value: Any = None


_SIGNS = re.compile(r"[`=<>!]")
_OPERATOR = re.compile(r"<=|>=|!=|=|<|>")
_WORD = re.compile(r"\S+")
_HOW = (
    "Write column=value, with one of = != < <= > >=, or `column in (a, b)`, `column like 'a%'`, `column startswith a`, "
    "`column is null`, `column is not null`. "
    "Quote a value that begins or ends with a space, or contains a comma or one of these operators, "
    "and write a column name that contains one of them in backticks."
)


def parse_condition(text: str) -> Condition:
    """Parse a condition.

    Raises
    ------
    ConditionError
        The text is not a condition.

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
        raise ConditionError(f"{text!r} is not a condition. {_HOW}")
    operator, rest = parsed
    values = _values(rest)
    if values is None:
        raise ConditionError(f"{text!r} has no valid value. {_HOW}")
    if operator == "in":
        return Condition(column.name, operator, tuple(values))
    if len(values) > 1 and rest[0] in "'\"":
        raise ConditionError(f"{text!r} has more than one value. {_HOW}")
    # A comma in a bare value is part of the value.
    return Condition(column.name, operator, values[0] if len(values) == 1 else rest)


class _Column:
    """A text that begins with a column's name: in backticks, or without backticks and signs of operators.

    Each method looks for one kind of condition after the name. If it finds one, it sets `name` and returns the
    operator, and the text of the values if there are any.
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
        """End of a name in backticks, 0 if it is not closed; else the last possible end of the name."""

    def null(self) -> str:
        """Return ``is null`` or ``is not null`` if the text ends with it."""
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
        """Return the first ``in (…)`` that follows a name."""
        if not self._text.endswith(")"):
            return None
        for at in self._openings():
            end = self._blanks_before(at)
            if self._text[end - 2 : end].lower() == "in" and self._named(self._blanks_before(end - 2), end - 2):
                return "in", self._text[at + 1 : -1].strip()
        return None

    def compares(self) -> tuple[str, str] | None:
        """Return an operator that consists of signs."""
        at = self._end
        while at < len(self._text) and self._text[at].isspace():
            at += 1
        sign = _OPERATOR.match(self._text, at)
        if sign is None or not self._named(self._end if self._quoted else self._blanks_before(at)):
            return None
        return sign[0], self._text[sign.end() :].strip()

    def word(self) -> tuple[str, str] | None:
        """Return the first ``like`` or ``startswith`` that follows a name."""
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
        """Return the start of the blanks before a place."""
        while at > 0 and self._text[at - 1].isspace():
            at -= 1
        return at

    def _named(self, end: int, behind: int | None = None) -> bool:
        """Return whether the text up to `end` is a name; blanks must follow it up to `behind`."""
        if end <= 0 or end > self._end or (behind is not None and end == behind):
            return False
        if self._quoted:
            self.name = self._text[1 : end - 1].replace("``", "`")
            return end == self._end and bool(self.name)
        self.name = self._text[:end]
        return True


def _without(text: str, word: str) -> str | None:
    """Return a text without its last word and the blanks before it; None if it does not end with that word."""
    at = len(text) - len(word)
    if at < 1 or text[at:].lower() != word or not text[at - 1].isspace():
        return None
    return text[:at].rstrip()


def _closing(text: str, quote: str, begin: int = 0) -> int | None:
    """Return the end of the quoted part that begins here, in which quotes are doubled; None if it is not closed."""
    at = text.find(quote, begin + 1)
    while at >= 0 and text.startswith(quote, at + 1):
        at = text.find(quote, at + 2)
    return at + 1 if at >= 0 else None


def _values(text: str) -> list[str] | None:
    """Parse values separated by commas, each quoted or bare; None if there is none or one is not valid."""
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
