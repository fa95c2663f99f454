"""Ordinary scripts: a check that people who refused consent are in no output passes, whatever was counted and shown."""

from __future__ import annotations

import _noise_checks
import _noise_values
import pytest
from _driver_scripts import Case
from _driver_sources import REFUSED
from _driver_told import told
from _driver_world import World

pytestmark = [pytest.mark.spark, pytest.mark.long]

CASES: dict[str, Case] = {**_noise_checks.CASES, **_noise_values.CASES}


@pytest.mark.parametrize("name", CASES)
def test_a_check_for_nothing_passes(name: str, world: World) -> None:
    assert CASES[name].rows is not None and set(CASES[name].rows) <= set(REFUSED)
    assert world.outcome(CASES[name]).refusal_of_any_kind == ""


@pytest.mark.parametrize("name", CASES)
def test_what_answers_say(name: str, world: World) -> None:
    """Labels among it, which reads on the driver leave as they are."""
    assert told(world.outcome(CASES[name])) == told(CASES[name].expected)


@pytest.mark.parametrize("name", CASES)
def test_the_script_runs_as_in_plain_spark(name: str, world: World) -> None:
    outcome = world.outcome(CASES[name])
    assert outcome.plain.rows
    assert outcome.captured.rows == outcome.plain.rows
    assert outcome.captured.printed == outcome.plain.printed


def test_the_score(world: World) -> None:
    """Of 40, at least 38 pass the check, and all keep their label."""
    outcomes = {name: world.outcome(case) for name, case in CASES.items()}
    assert len(outcomes) >= 40
    refused = {name: o.refusal_of_any_kind for name, o in outcomes.items() if o.refusal_of_any_kind}
    assert len(refused) <= len(outcomes) * 2 / 40, refused
    assert {name: o.label for name, o in outcomes.items()} == {name: c.expected.label for name, c in CASES.items()}
