"""Ways for a row to leave for the driver and come back: an edge, a possible edge, an end or a stop reaches each."""

from __future__ import annotations

from collections import Counter

import _silence_elsewhere
import _silence_files
import _silence_hidden
import _silence_learned
import _silence_made
import _silence_rdds
import pytest
from _driver_scripts import Case
from _driver_told import told
from _driver_world import World

pytestmark = [pytest.mark.spark, pytest.mark.long]

THEMES = (_silence_made, _silence_rdds, _silence_hidden, _silence_files, _silence_elsewhere, _silence_learned)
CASES: dict[str, Case] = {name: case for theme in THEMES for name, case in theme.CASES.items()}


@pytest.mark.parametrize("name", CASES)
def test_what_answers_say(name: str, world: World) -> None:
    outcome = world.outcome(CASES[name])
    assert told(outcome) == told(CASES[name].expected)
    assert outcome.reached == CASES[name].expected.how


@pytest.mark.parametrize("name", CASES)
def test_a_check_for_nothing_fails(name: str, world: World) -> None:
    """What only ends on the driver passes a check with ``to``, and fails one without; context counts if asked for."""
    outcome, expected = world.outcome(CASES[name]), CASES[name].expected
    only_context = expected.context and not (expected.data or expected.possible)
    assert bool(outcome.refusal_of_any_kind if only_context else outcome.refusal) == (expected.how != "end")


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.expected.reads or "returned" in c.expected.stops])
def test_a_check_for_nothing_passes_once_the_lines_are_trusted(name: str, world: World) -> None:
    assert world.outcome(CASES[name]).refusal_though_trusted == ""


@pytest.mark.parametrize("name", CASES)
def test_the_script_runs_as_in_plain_spark(name: str, world: World) -> None:
    outcome = world.outcome(CASES[name])
    assert outcome.plain.rows
    assert outcome.captured.rows == outcome.plain.rows
    assert outcome.captured.printed == outcome.plain.printed


def test_the_score(world: World) -> None:
    """No way of at least 60 is silent; two thirds are reached by edges or possible edges."""
    reached = {name: world.outcome(case).reached for name, case in CASES.items()}
    assert len(reached) >= 60
    assert [name for name, how in reached.items() if not how] == []
    counts = Counter(reached.values())
    assert counts["edge"] + counts["possible"] >= len(reached) * 2 / 3
