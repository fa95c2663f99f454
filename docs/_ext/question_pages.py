"""The page of the questions, from the registry: name, definition, parameters, answer, errors, command and route."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import click
from markdown import fenced, prose, table

import provspark.api  # noqa: F401 - registers the questions
from provspark.cli.examples import EXAMPLES
from provspark.cli.question_options import command_name, options
from provspark.index_store.query.parameters import Parameter, documentation, parameters
from provspark.index_store.query.question import QUESTIONS, Question

__all__ = ["markdown"]

_LINKS = frozenset(QUESTIONS)
_NO_FIELD = ("progress", "functions")
"""Parameters that HTTP does not take."""


def markdown() -> str:
    """Return a section for each question, after the parameters that they share."""
    asked = [q for q in QUESTIONS.values() if not q.pages_of]
    again = [q for q in asked if q.function.__module__.startswith("provspark.replay.")]
    sections = {
        "Questions": [q for q in asked if q not in again],
        "Questions that replay steps": again,
        "Questions answered page by page": [q for q in QUESTIONS.values() if q.pages_of],
    }
    parts = [_overview(sections), _shared()]
    for title, questions in sections.items():
        parts += [f"## {title}", *(_section(q) for q in sorted(questions, key=lambda q: q.name))]
    return "\n\n".join(parts)


def _overview(sections: dict[str, list[Question]]) -> str:
    questions = sorted((q for listed in sections.values() for q in listed), key=lambda q: q.name)
    lines = [(f"[`{q.name}`](#{q.name})", prose(_summary(q)), q.paper) for q in questions]
    return table(("question", "what it does", "in the literature"), lines)


def _shared() -> str:
    described = {p.name: p for q in QUESTIONS.values() for p in parameters(q) if p.shared}
    return "\n\n".join(
        (
            "## Shared parameters",
            "Questions about rows share these keyword parameters. Each question lists those that it takes.",
            table(*_described(tuple(described.values()), QUESTIONS["forward"])),
        )
    )


def _section(question: Question) -> str:
    about = documentation(question)
    own = tuple(p for p in parameters(question) if not p.shared)
    shared = [p.name for p in parameters(question) if p.shared]
    method = f"```{{py:method}} provspark.Provenance.{question.name}({_signature(question)})\n```"
    parts = [f"### `{question.name}`", method, prose(_summary(question), _LINKS)]
    parts.append(prose(about.long_description or "", _LINKS))
    if question.pages_of:
        parts.append(f"It answers [`{question.pages_of}`](#{question.pages_of}) page by page.")
    parts.append(table(*_described(own, question)))
    if shared:
        names = ", ".join(f"`{name}`" for name in shared)
        parts.append(f"[Shared parameters](#shared-parameters): {names}.")
    parts += _answer(question)
    parts.append("" if question.pages_of else _elsewhere(question))
    return "\n\n".join(filter(None, parts))


def _answer(question: Question) -> Iterator[str]:
    about = documentation(question)
    if about.returns:
        kind = f"`{about.returns.type_name}`: " if about.returns.type_name else ""
        yield f"**Returns** {kind}{prose(about.returns.description or '', _LINKS)}"
    if about.raises:
        lines = (f"- {_errors(r.type_name or '')}{_because(r.description)}" for r in about.raises)
        yield "**Raises**\n\n" + "\n".join(lines)
    for part in about.meta:
        if part.args[0] == "notes":
            yield f"**Definition** {prose(part.description or '', _LINKS)}"
    for part in about.examples:
        yield f"**Example** {prose(part.description or '', _LINKS)}"


def _elsewhere(question: Question) -> str:
    """Return how the command line and HTTP ask the question."""
    command = command_name(question.name)
    usage = "\n\n".join(filter(None, (_usage(question, command), EXAMPLES.get(question.name))))
    left_out = [p.name for p in parameters(question) if p.name in _NO_FIELD and p.takes != "progress"]
    without = f", without {' and '.join(f'`{name}`' for name in left_out)}" if left_out else ""
    http = f"**HTTP** `POST /questions/{question.name}` takes the parameters as fields of its JSON body{without}."
    return "\n\n".join(("**Command line**", fenced(usage), http))


def _usage(question: Question, command: str) -> str:
    listed = options(question)
    arguments = [str(p.metavar) for p in listed if isinstance(p, click.Argument)]
    needed = [f"{p.opts[0]} {p.metavar}" for p in listed if isinstance(p, click.Option) and p.required]
    return " ".join(("provspark", command, *arguments, *needed, "[OPTIONS]"))


def _described(listed: tuple[Parameter, ...], question: Question) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    head = ("parameter", "takes", "default", "command line", "meaning")
    spelled = {each.name: _spelled(each) for each in options(question)}
    return head, [
        (f"`{p.name}`", _takes(p), _default(p), spelled.get(p.name, ""), prose(p.help, _LINKS)) for p in listed
    ]


def _takes(p: Parameter) -> str:
    if p.takes == "choice":
        return ", ".join(f"`{choice!r}`" for choice in p.choices)
    named = {"flag": "bool", "number": "int", "progress": "function", "former names": "a mapping of names"}
    text = named.get(p.takes, p.takes)
    return f"{text}, or several" if p.many and p.takes not in ("rows", "conditions", "kinds", "former names") else text


def _default(p: Parameter) -> str:
    return "required" if p.required else f"`{p.default!r}`"


def _spelled(param: click.Parameter) -> str:
    """Return an argument as usage lines have it, or the option; of a flag that is on by default the one against it."""
    if isinstance(param, click.Argument):
        return f"`{param.metavar}`"
    return f"`{(param.secondary_opts or param.opts)[0]}`"


def _errors(names: str) -> str:
    return ", ".join(f"{{py:exc}}`{name.strip()}`" for name in names.split(","))


def _because(description: str | None) -> str:
    return f": {prose(description, _LINKS)}" if description else ""


def _summary(question: Question) -> str:
    return documentation(question).short_description or ""


def _signature(question: Question) -> str:
    """Return its parameters, those that questions share as ``**which``."""
    signature = inspect.signature(question.function)
    kept: list[Any] = [p.replace(annotation=inspect.Parameter.empty) for p in [*signature.parameters.values()][1:]]
    return str(inspect.Signature(kept))[1:-1]
