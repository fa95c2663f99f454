"""JSON parser that accepts what Jackson accepts under Spark's options, and stops where it stops."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from provspark.model.errors import ValuesUnavailableError

__all__ = ["JsonNode", "JsonReader", "JsonSyntaxError", "Rules"]

NodeKind = Literal["object", "array", "string", "integer", "float", "word"]

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"NaN|Infinity|[+-](?:INF|Infinity)")
_WORD = re.compile(r"true|false|null")
_NAME = re.compile(r"[A-Za-z0-9_$]")
_SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_LONE = re.compile("[\ud800-\udfff]")
_DEPTH = 200


@dataclass(frozen=True, slots=True)
class Rules:
    """Spark's JSON options that extend what is accepted."""

    single_quotes: bool = True
    non_numeric: bool = True
    any_escape: bool = False
    control_characters: bool = False


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A value: a list of (name, JsonNode) pairs, a list of JsonNodes, or text; its source is text[start:end]."""

    kind: NodeKind
    value: Any
    start: int
    end: int


class JsonSyntaxError(ValueError):
    """The text is not JSON."""


class JsonReader:
    """Parser of the first value of a text; like Spark, it ignores what follows."""

    def __init__(self, text: str, rules: Rules) -> None:
        self._text, self._rules = text, rules
        self._at = self._depth = 0

    def read(self) -> JsonNode | None:
        """Return the first value, or None if the text is blank.

        Raises
        ------
        JsonSyntaxError
        ValuesUnavailableError
            The value nests deeper than is supported here.
        """
        self._skip()
        return self._value() if self._at < len(self._text) else None

    def _skip(self) -> str:
        self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
        return self._text[self._at : self._at + 1]

    def _fail(self) -> NoReturn:
        raise JsonSyntaxError(f"invalid JSON at character {self._at}")

    def _value(self) -> JsonNode:
        start, c = self._at, self._text[self._at : self._at + 1]
        if c in ("{", "["):
            self._depth += 1
            if self._depth > _DEPTH:
                raise ValuesUnavailableError(
                    f"The line {self._text[:80]!r} nests deeper than {_DEPTH} levels and can't be read outside Spark. "
                    f"The row ids are still valid."
                )
            self._at += 1
            value: Any = self._object() if c == "{" else self._array()
            self._depth -= 1
            return JsonNode("object" if c == "{" else "array", value, start, self._at)
        if c == '"' or (c == "'" and self._rules.single_quotes):
            return JsonNode("string", self._string(c), start, self._at)
        return self._scalar(start)

    def _scalar(self, start: int) -> JsonNode:
        kind: NodeKind = "word"
        match = _WORD.match(self._text, start)
        if not match and self._rules.non_numeric and (match := _NOT_FINITE.match(self._text, start)):
            kind = "float"
        if not match and (match := _NUMBER.match(self._text, start)):
            kind = "float" if match[1] or match[2] else "integer"
        if not match or _NAME.match(self._text, match.end()) or self._text[match.end() : match.end() + 1] == ".":
            self._fail()
        self._at = match.end()
        return JsonNode(kind, match[0], start, self._at)

    def _object(self) -> list[tuple[str, JsonNode]]:
        pairs: list[tuple[str, JsonNode]] = []
        c = self._skip()
        if c == "}":
            self._at += 1
            return pairs
        while True:
            if not (c == '"' or (c == "'" and self._rules.single_quotes)):
                self._fail()
            name = self._string(c)
            if self._skip() != ":":
                self._fail()
            self._at += 1
            self._skip()
            pairs.append((name, self._value()))
            if self._after("}"):
                return pairs
            c = self._skip()

    def _array(self) -> list[JsonNode]:
        items: list[JsonNode] = []
        if self._skip() == "]":
            self._at += 1
            return items
        while True:
            self._skip()
            items.append(self._value())
            if self._after("]"):
                return items

    def _after(self, close: str) -> bool:
        c = self._skip()
        if c not in (",", close) or not c:
            self._fail()
        self._at += 1
        return c == close

    def _string(self, quote: str) -> str:
        out: list[str] = []
        self._at += 1
        while True:
            c = self._text[self._at : self._at + 1]
            if not c or (c < " " and not self._rules.control_characters):
                self._fail()
            self._at += 1
            if c == quote:
                break
            out.append(self._escape() if c == "\\" else c)
        joined = "".join(out)
        if _LONE.search(joined):
            joined = joined.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
            joined = _LONE.sub("?", joined)
        return joined

    def _escape(self) -> str:
        c = self._text[self._at : self._at + 1]
        self._at += 1
        if c in _SIMPLE:
            return _SIMPLE[c]
        if c == "u":
            digits = self._text[self._at : self._at + 4]
            if not re.fullmatch("[0-9A-Fa-f]{4}", digits):
                self._fail()
            self._at += 4
            return chr(int(digits, 16))
        if not (c and (self._rules.any_escape or (c == "'" and self._rules.single_quotes))):
            self._fail()
        return c
