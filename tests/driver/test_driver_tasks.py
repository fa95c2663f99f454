"""DAGs whose rows pass a task, a client or a command without capture, and ordinary ones: what answers say of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import _task_noise
import _task_programs
import _task_python
import _task_scripts
import pytest
from _task_flows import Case
from _task_world import TaskWorld

pytestmark = [pytest.mark.spark, pytest.mark.long]

THEMES = (_task_python, _task_programs, _task_scripts)
SILENCE: dict[str, Case] = {name: case for theme in THEMES for name, case in theme.CASES.items()}
NOISE: dict[str, Case] = dict(_task_noise.CASES)
CASES = {**SILENCE, **NOISE}
QUESTIONS = ("ahead", "to", "back")


def asked(cases: Mapping[str, Case], questions: Sequence[str] = QUESTIONS) -> list[Any]:
    """Each question about each case; those are expected to fail where an answer has a hole."""
    found = []
    for name, case in cases.items():
        for question in questions:
            marks = () if getattr(case, question) else pytest.mark.xfail(strict=True, reason=case.hole)
            found.append(pytest.param(name, question, id=f"{name}-{question}", marks=marks))
    return found


@pytest.mark.parametrize("name", CASES)
def test_rows_arrive(name: str, tasks: TaskWorld) -> None:
    """The person that all questions are about is in the last files, by the tasks that ran."""
    outcome = tasks.outcome(CASES[name])
    assert outcome.arrived
    assert {task: state for task, state in outcome.states.items() if state != "success"} == CASES[name].states


@pytest.mark.parametrize(("name", "question"), asked(SILENCE))
def test_no_answer_is_silent(name: str, question: str, tasks: TaskWorld) -> None:
    """It has rows of the other end, or a stop, or does not know the data set."""
    answer = getattr(tasks.outcome(SILENCE[name]), question)
    assert answer.how


@pytest.mark.parametrize(("name", "question"), asked(SILENCE, QUESTIONS[:2]))
def test_a_stop_names_what_took_the_rows(name: str, question: str, tasks: TaskWorld) -> None:
    """The task, client or command, in both answers forward."""
    case, answer = SILENCE[name], getattr(tasks.outcome(SILENCE[name]), question)
    assert answer.reached == "unknown" or [text for text in case.named if text not in answer.told] == []


@pytest.mark.parametrize(("name", "question"), [p for p in asked(CASES) if not p.marks])
def test_what_answers_say(name: str, question: str, tasks: TaskWorld) -> None:
    """Kinds of edges and of stops; a DAG that is ordinary has no more stops than it names."""
    case = CASES[name]
    answer = getattr(tasks.outcome(case), question)
    assert answer.how == getattr(case, question), answer.told
    if name in NOISE and question != "back":
        expected = case.named if "task" in answer.how.split() else ()
        assert len(answer.stops) == len(expected)
        assert all(text in answer.told for text in expected)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.trust])
def test_what_is_trusted_is_listed(name: str, tasks: TaskWorld) -> None:
    assert tasks.outcome(CASES[name]).ahead.trusted == set(CASES[name].trust)


def test_the_score() -> None:
    """How many DAGs there are; nearly all ordinary ones expect no stop."""
    assert len(SILENCE) >= 50
    assert len([case for case in SILENCE.values() if not case.hole]) >= 40
    assert len(NOISE) >= 25
    usual = [c for c in NOISE.values() if (c.ahead, c.to, c.back) == ("edge", "edge", "edge")]
    assert len(usual) >= len(NOISE) - 4
