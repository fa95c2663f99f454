"""What a task expects of an answer, and whether the answer confirms it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from provspark.index_store.query.answer import End, ends_of, possible_of
from provspark.index_store.values.json_cells import plain
from provspark.model.errors import ExpectationError, SettingsError
from provspark.model.stops import Doubt, Stop, sentence, stop_kind

__all__ = ["Answered", "Expect", "check_expect", "confirm"]

Expect = Literal["nothing", "something"] | int
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Answered:
    """What a question found.

    Parameters
    ----------
    lines : pyarrow.Table
        The certain edges.
    possible : pyarrow.Table
    ends : tuple of End
        Data sets on drivers that the rows reached; empty where the question names the data set that it is about.
    stops : tuple of Stop
        Those that are not trusted.
    """

    lines: pa.Table
    possible: pa.Table
    ends: tuple[End, ...]
    stops: tuple[Stop, ...]

    @classmethod
    def of(cls, table: pa.Table, stops: tuple[Stop, ...], *, to: bool) -> Answered:
        """Take an answer's table apart; `to` says whether the question names a data set to arrive at."""
        return cls(table, possible_of(table), () if to else ends_of(table), stops)


def check_expect(expect: object) -> Expect | None:
    """Return what may be expected.

    Raises
    ------
    SettingsError
        It is neither ``nothing`` nor ``something`` nor a number of lines.
    """
    if expect is None or expect == "nothing" or expect == "something":
        return expect
    if isinstance(expect, int) and not isinstance(expect, bool) and expect >= 0:
        return expect
    raise SettingsError(f"expect is {expect!r}; it must be 'nothing', 'something' or a number of lines")


def confirm(asked: str, expect: Expect, answer: Answered) -> None:
    """Check an answer against what is expected.

    Parameters
    ----------
    asked : str
        The question, for the message.

    Raises
    ------
    ExpectationError
        The answer is another, or can't confirm it.
    """
    lines = answer.lines.num_rows
    if expect == "nothing" and lines:
        raise ExpectationError(f"{asked} should find nothing, and found {lines:,} lines: {_first(answer.lines)}")
    if expect == "something" and not lines:
        raise ExpectationError(f"{asked} should find something, and found nothing")
    if isinstance(expect, int) and lines != expect:
        raise ExpectationError(f"{asked} should find {expect:,} lines, and found {lines:,}: {_first(answer.lines)}")
    for doubt in _doubts(expect, answer):
        raise ExpectationError(f"{asked} can't confirm {_said(expect)}: {doubt}")


def _doubts(expect: Expect, answer: Answered) -> list[str]:
    kind: Doubt = "count" if isinstance(expect, int) else expect
    said = []
    if kind != "something":
        if answer.possible.num_rows:
            n = answer.possible.num_rows
            said.append(f"{n:,} possible edges, through values that capture can't see into: {_first(answer.possible)}")
        said += [f"{end}. If no row goes on from there, add the line of the script to trust=[…]" for end in answer.ends]
    for stop in answer.stops:
        if kind in stop_kind(stop.what).fails:
            said.append(f"[{stop.what}] {sentence(stop) if stop.dataset else stop.why}")
    return said


def _said(expect: Expect) -> str:
    return f"{expect:,} lines" if isinstance(expect, int) else f"'{expect}'"


def _first(table: pa.Table) -> object:
    return plain(table.slice(0, _SHOWN).to_pylist())
