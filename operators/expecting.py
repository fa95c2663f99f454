"""Expectations of `ProvQueryOperator`, and the check of an answer against them."""

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
    """Parts of an answer that an expectation is checked against.

    Parameters
    ----------
    lines : pyarrow.Table
        The lines of the answer, without possible edges.
    possible : pyarrow.Table
        The possible edges.
    ends : tuple of End
        Datasets on drivers where rows ended; empty if the question names a target dataset with `to`.
    stops : tuple of Stop
        Stops that are not trusted.
    """

    lines: pa.Table
    possible: pa.Table
    ends: tuple[End, ...]
    stops: tuple[Stop, ...]

    @classmethod
    def of(cls, table: pa.Table, stops: tuple[Stop, ...], *, to: bool) -> Answered:
        """Return the parts of an answer's table. `to` is true if the question names a target dataset."""
        return cls(table, possible_of(table), () if to else ends_of(table), stops)


def check_expect(expect: object) -> Expect | None:
    """Return `expect` if it is valid.

    Raises
    ------
    SettingsError
        It is neither ``nothing`` nor ``something`` nor a number of rows.
    """
    if expect is None or expect == "nothing" or expect == "something":
        return expect
    if isinstance(expect, int) and not isinstance(expect, bool) and expect >= 0:
        return expect
    raise SettingsError(f"expect is {expect!r}; it must be 'nothing', 'something' or the expected number of rows")


def confirm(asked: str, expect: Expect, answer: Answered) -> None:
    """Check an answer against an expectation.

    Parameters
    ----------
    asked : str
        The question, for the message.

    Raises
    ------
    ExpectationError
        The answer contradicts the expectation, or can't confirm it.
    """
    lines = answer.lines.num_rows
    if expect == "nothing" and lines:
        raise ExpectationError(f"{asked} should find nothing, but found {lines:,} rows: {_first(answer.lines)}")
    if expect == "something" and not lines:
        raise ExpectationError(f"{asked} should find at least one row, but found none")
    if isinstance(expect, int) and lines != expect:
        raise ExpectationError(f"{asked} should find {expect:,} rows, but found {lines:,}: {_first(answer.lines)}")
    for doubt in _doubts(expect, answer):
        raise ExpectationError(f"{asked} can't confirm {_said(expect)}: {doubt}")


def _doubts(expect: Expect, answer: Answered) -> list[str]:
    kind: Doubt = "count" if isinstance(expect, int) else expect
    said = []
    if kind != "something":
        if answer.possible.num_rows:
            n = answer.possible.num_rows
            said.append(f"{n:,} possible edges, through code that capture can't see into: {_first(answer.possible)}")
        said += [
            f"{end}. If no row was passed on from there, add the line of the script to trust=[…]" for end in answer.ends
        ]
    for stop in answer.stops:
        if kind in stop_kind(stop.what).fails:
            said.append(f"[{stop.what}] {sentence(stop) if stop.dataset else stop.why}")
    return said


def _said(expect: Expect) -> str:
    return f"{expect:,} rows" if isinstance(expect, int) else f"'{expect}'"


def _first(table: pa.Table) -> object:
    return plain(table.slice(0, _SHOWN).to_pylist())
