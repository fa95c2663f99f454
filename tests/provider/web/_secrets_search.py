"""Finds values of masked columns in the bytes of an answer, whatever they are spelt like there."""

from __future__ import annotations

import html
import json
import re
import statistics
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from _secrets_dag import BAND, CEILING, LEAST, MISSING, World

STATISTICS = "mean, deviation or sum of"
_LEAST_NUMBER = 100_000
"""Smaller ones may be sizes, counts or times."""
_PIECE = 4
_ARROW = b"\xff\xff\xff\xff"
_RUN = re.compile(r"[QXZJKVW]{4,}")
_NUMBER = re.compile(r"(?<![0-9A-Za-z_.])\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?(?![0-9A-Za-z_]*[a-zA-Z_])")
_GROUPED = re.compile(r"(?<![0-9A-Za-z_.])\d{1,3}(?:[,_ ']\d{3})+(?:\.\d+)?(?![0-9])")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_HEX = re.compile(r"[0-9a-f]{32,}")


@dataclass(frozen=True)
class Leak:
    """A value that an answer contains."""

    secret: str
    origin: str
    excerpt: str


class Secrets:
    """Values of masked columns, and what they could be recognised by.

    Texts are searched for whole and in pieces of four characters, numbers by value, hashes by their first 12 digits.
    """

    def __init__(self, world: World, also: Iterable[str] = ()) -> None:
        self.texts: dict[str, str] = {}
        self.pieces: dict[str, str] = {}
        self.numbers: dict[str, str] = {}
        for name, columns in world.masked.items():
            for column in columns:
                values = [v for row in world.values[name] for v in _leaves(row[column])]
                self._add(values, f"{name}.{column}")
        for number, origin in ((LEAST, "filter on salary"), (CEILING, "least of salary"), (BAND, "case of salary")):
            self.numbers.setdefault(_key(number), origin)
        self._add([MISSING], "filter on person.ssn")
        shown = [
            v
            for name, columns in world.open.items()
            for c in columns
            for row in world.values[name]
            for v in _leaves(row[c])
        ]
        assert not [v for v in shown if self.find(str(v).encode())], "an open column contains a masked value"
        self.texts.update(dict.fromkeys(also, "values of open columns"))

    @property
    def origins(self) -> set[str]:
        """The columns and conditions that the values come from."""
        return {*self.texts.values(), *self.pieces.values(), *self.numbers.values()}

    def __len__(self) -> int:
        return len(self.texts) + len(self.pieces) + len(self.numbers)

    def _add(self, values: list[Any], origin: str) -> None:
        numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
        numbers += [float(v) for v in values if isinstance(v, str) and _NUMBER.fullmatch(v)]
        about = [(number, origin) for number in numbers]
        if len(numbers) > 1:
            several = statistics.fmean, statistics.stdev, statistics.pstdev, sum
            about += [(of(numbers), f"{STATISTICS} {origin}") for of in several]
        for number, found in about:
            if abs(number) >= _LEAST_NUMBER:
                self.numbers.setdefault(_key(number), found)
        for text in (v for v in values if isinstance(v, str) and not _NUMBER.fullmatch(v)):
            runs = _runs(text)
            if _HEX.fullmatch(text):
                self.texts.setdefault(text[:12], origin)
            elif (len(text) >= _PIECE and not runs) or len(text) > _PIECE:
                self.texts.setdefault(text, origin)
            for piece in runs:
                self.pieces.setdefault(piece, origin)

    def find(self, body: bytes, known: Iterable[str] = ()) -> list[Leak]:
        """Return the values that some bytes contain, but for those that the question contained itself."""
        found: dict[str, Leak] = {}
        for text in _views(body):
            for secret, origin in self.texts.items():
                at = text.find(secret)
                if at >= 0:
                    found.setdefault(secret, Leak(secret, origin, _excerpt(text, at)))
            upper = text.upper()
            for run in _RUN.finditer(upper):
                for piece in _runs(run[0]):
                    if piece in self.pieces:
                        found.setdefault(piece, Leak(piece, self.pieces[piece], _excerpt(text, run.start())))
            for match in (*_NUMBER.finditer(text), *_GROUPED.finditer(text)):
                key = _key(float(re.sub("[,_ ']", "", match[0])))
                if key in self.numbers:
                    found.setdefault(key, Leak(match[0], self.numbers[key], _excerpt(text, match.start())))
        asked = " ".join(known)
        return [leak for leak in found.values() if leak.secret not in asked]

    def find_packed(self, body: bytes) -> list[Leak]:
        """Return the numbers that binary formats contain, as whole numbers or floats of 64 bits."""
        found = []
        for key, origin in self.numbers.items():
            number = float(key)
            packed = [struct.pack("<d", number)] + ([struct.pack("<q", int(number))] if number.is_integer() else [])
            found += [Leak(key, origin, f"packed at {body.find(p)}") for p in packed if p in body]
        return found


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for v in value.values():
            yield from _leaves(v)
    elif isinstance(value, list | tuple):
        for v in value:
            yield from _leaves(v)
    elif value is not None:
        yield value


def _runs(text: str) -> list[str]:
    return [run[0][i : i + _PIECE] for run in _RUN.finditer(text.upper()) for i in range(len(run[0]) - _PIECE + 1)]


def _key(number: float) -> str:
    """Equal for all spellings of a number, to nine digits."""
    return f"{abs(number):.9g}"


def _views(body: bytes) -> Iterator[str]:
    """The text as it is, and without the escapes of URLs, of XML and of JSON."""
    text = body.decode("utf-8", "replace")
    seen = {text}
    yield text
    for view in (
        unquote(text),
        html.unescape(text),
        _ESCAPED.sub(_unescaped, text).replace('\\"', '"').replace("\\/", "/"),
    ):
        if view not in seen:
            seen.add(view)
            yield view
    if body.startswith(_ARROW):
        yield readable(body)


def readable(body: bytes) -> str:
    """The text of an answer; the rows of an Arrow stream as JSON."""
    if not body.startswith(_ARROW):
        return body.decode("utf-8", "replace")
    rows = pa.ipc.open_stream(BytesIO(body)).read_all().to_pylist()
    return json.dumps(rows, ensure_ascii=False, default=str)


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1] or match[2], 16))


def _excerpt(text: str, at: int) -> str:
    return text[max(at - 90, 0) : at + 60].replace("\n", " ")
