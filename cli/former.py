"""Commands and options under their names of the last release. The next release removes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from provspark.cli.marks import say
from provspark.cli.question_options import command_name
from provspark.index_store.query.parameters import parameters
from provspark.index_store.query.question import QUESTIONS, Question

__all__ = ["FORMER_COMMANDS", "FORMER_OPTIONS", "FormerCommand", "FormerOptions"]

_Given = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FormerCommand:
    """A former command, which now calls the questions that replace it.

    Parameters
    ----------
    name : str
    now : str
        The commands that replace it.
    questions : sequence of str
        The questions that it calls; it has the options of all of them.
    chosen : callable
        Return the question that the given options select.
    options : sequence of click.Option
        Options that none of these questions has under this name.
    """

    name: str
    now: str
    questions: tuple[str, ...]
    chosen: Callable[[_Given], str]
    options: Sequence[click.Option] = ()

    @property
    def said(self) -> str:
        """The notice that it prints on standard error."""
        return f"provspark {self.name} goes with the next release: it is called {self.now} now."

    def meant(self, given: _Given) -> tuple[Question, _Given]:
        """Print the notice, and return the question and its arguments."""
        say(self.said, err=True)
        question = QUESTIONS[self.chosen(given)]
        return question, given


@dataclass(frozen=True, slots=True)
class FormerOptions:
    """Former options of a question's command, all hidden."""

    options: tuple[click.Option, ...]
    meant: Callable[[Question, _Given], tuple[Question, _Given]]
    """Prints the option's new name, and returns the question and its arguments."""


def _why(given: _Given) -> str:
    if given.get("columns") or given.get("existence"):
        return "cells"
    if given.get("replay") or given.get("functions"):
        raise click.UsageError("--replay applies to cells only; name a --column, or pass --existence")
    return "forward" if given.get("direction__forward") or given.get("direction") == "forward" else "backward"


def _beside(given: _Given) -> str:
    if not given.get("shared"):
        return "co_contributory_lines"
    if "via" not in given:
        raise click.UsageError(
            "--shared needs --via. Pass the number of the operation whose rows both sides came from."
        )
    return "co_dependency_lines"


def _operation_profiles(question: Question, given: _Given) -> tuple[Question, _Given]:
    numbers = given.get("numbers")
    if not numbers and not given.get("every"):
        return question, given
    said = f"--{'operation' if numbers else 'operations'}"
    now = QUESTIONS["operation_profiles"]
    say(f"provspark profile {said} goes with the next release: it is called {_named(now)} now.", err=True)
    if numbers and given.get("every"):
        raise click.UsageError("--operations and --operation contradict each other. Pass only one of them.")
    if given.keys() & {p.name for p in parameters(question)} - {"dataset", "columns"}:
        raise click.UsageError(
            "--operations and --operation apply to all rows of a step. Pass only the step's id or output, and columns"
        )
    same = {name: given[name] for name in ("columns", "functions") if name in given}
    return now, {"step": given["dataset"], **({"operations": numbers} if numbers else {}), **same}


def _named(question: Question) -> str:
    return f"provspark {command_name(question.name)}"


def _into(question: Question, given: _Given) -> tuple[Question, _Given]:
    if "target" not in given:
        return question, given
    say("--target-version goes with the next release: it is called --into now.", err=True)
    return question, {"into": given["target"], **given}


FORMER_COMMANDS: Mapping[str, FormerCommand] = {
    former.name: former
    for former in (
        FormerCommand(
            "why",
            "provspark backward (provspark forward with --forward, provspark cells with --column or --existence)",
            ("cells", "forward"),
            _why,
        ),
        FormerCommand("whynot", "provspark why-not", ("why_not",), lambda given: "why_not"),
        FormerCommand(
            "beside",
            "provspark co-contributory-lines (provspark co-dependency-lines with --shared), and --after --operation",
            ("co_contributory_lines",),
            _beside,
            (
                click.Option(["--shared"], is_flag=True, help="Call co-dependency-lines."),
                click.Option(["--after", "operation"], type=click.IntRange(min=0), required=True, metavar="N"),
            ),
        ),
    )
}
FORMER_OPTIONS: Mapping[str, FormerOptions] = {
    "profile": FormerOptions(
        (
            click.Option(["--operations", "every"], is_flag=True, hidden=True),
            click.Option(["--operation", "numbers"], type=click.IntRange(min=0), multiple=True, hidden=True),
            click.Option(["--functions"], is_flag=True, hidden=True),
        ),
        _operation_profiles,
    ),
    "locate": FormerOptions((click.Option(["--target-version", "target"], hidden=True),), _into),
}
"""By question."""
