"""Commands of the registered questions, generated from the questions' parameters and docstrings."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import click

from provspark.cli.common import STORE_OPTION, cancelled_by_keys, open_provenance
from provspark.cli.examples import EXAMPLES
from provspark.cli.former import FORMER_COMMANDS, FORMER_OPTIONS
from provspark.cli.inquiry import Inquiry
from provspark.cli.question_options import command_name, options, sentence, told, typed
from provspark.cli.tables import check_stdout
from provspark.cli.views import view_of
from provspark.index_store.query.parameters import documentation, replays
from provspark.index_store.query.question import QUESTIONS, Question

__all__ = ["command_of", "commands"]


def commands() -> dict[str, str]:
    """Return the question of each command, by the command's name; "" for a former command."""
    named = {command_name(q.name): q.name for q in QUESTIONS.values() if not q.pages_of}
    return {**named, **dict.fromkeys(FORMER_COMMANDS, "")}


def command_of(name: str) -> click.Command | None:
    """Return the command with this name, or None."""
    question = commands().get(name)
    if question is None:
        return None
    return _command(name, QUESTIONS[question]) if question else _former_command(name)


def _command(name: str, question: Question) -> click.Command:
    view, former = view_of(question), FORMER_OPTIONS.get(question.name)

    def asked(**values: Any) -> None:
        given = typed(click.get_current_context())
        meant = former.meant(question, given) if former else (question, given)
        _ask(*meant, values)

    more = former.options if former else ()
    return click.Command(
        name,
        params=[*options(question), *view.besides(question), STORE_OPTION, *more],
        callback=asked,
        help=_help(question),
        short_help=_summary(question),
    )


def _former_command(name: str) -> click.Command:
    former = FORMER_COMMANDS[name]

    def asked(**values: Any) -> None:
        _ask(*former.meant(typed(click.get_current_context())), values)

    params: dict[str, click.Parameter] = {}
    for question in (QUESTIONS[q] for q in former.questions):
        for param in (*former.options, *options(question), *view_of(question).besides(question), STORE_OPTION):
            params.setdefault(param.name or "", param)
    return click.Command(name, params=[*params.values()], callback=asked, help=former.said, hidden=True)


def _ask(question: Question, given: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Call a question, and show its answer.

    Parameters
    ----------
    given : mapping
        Parameters that the user passed.
    values : mapping
        All parameters of the command, including defaults and the view's options.
    """
    view = view_of(question)
    check_stdout(view.besides(question), values)
    prov = open_provenance(values["store"])
    with cancelled_by_keys(prov) if replays(question) else nullcontext():
        shown = {o.name: values[o.name] for o in view.besides(question) if o.name}
        view.show(Inquiry.of(prov, question, given), **shown)


def _summary(question: Question) -> str:
    return sentence(told(documentation(question).short_description or "", question))


def _help(question: Question) -> str:
    about = told(documentation(question).long_description or "", question)
    examples = EXAMPLES.get(question.name)
    return "\n\n".join(filter(None, (_summary(question), about, examples and f"\b\n{examples}")))
