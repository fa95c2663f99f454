"""Options of a question's command. Each sets a parameter of the question, and has that parameter's help."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import click

from provspark.cli.common import show_progress
from provspark.index_store.query.parameters import Parameter, parameters
from provspark.index_store.query.question import QUESTIONS, Question
from provspark.index_store.values.conditions import parse_condition
from provspark.settings import Settings

__all__ = [
    "Shorthand",
    "arguments",
    "command_name",
    "option",
    "options",
    "sentence",
    "shorthands",
    "spelled_name",
    "told",
    "typed",
]

_METAVARS: Mapping[str, str] = {
    "dataset": "DATASET",
    "step": "STEP",
    "step or dataset": "STEP|DATASET",
    "place": "PLACE",
    "column": "NAME",
    "rows": "N",
    "conditions": "CONDITION",
    "version": "ID",
    "run": "RUN",
    "moment": "TIME",
    "operation": "N",
    "number": "N",
    "kinds": "KINDS",
    "trust": "PLACE",
    "former names": "NEW=OLD",
}
_FORMS: Mapping[str, str] = {
    "rows": "Write 17, or 1,2, or a range 5-9.",
    "conditions": "Write 'hours>=40' (or = != < <= >), 'x in (a, b)', 'x like a%', 'x startswith a' or 'x is null'; x "
    "may be struct.field.",
}
"""Sentences added to the help of a parameter, by `Takes.what`."""
_LONG = 110
_SINGULAR = ("rows", "column", "operation")


@dataclass(frozen=True, slots=True)
class Shorthand:
    """A flag that sets a parameter to a fixed value."""

    flag: str
    parameter: str
    value: Any
    help: str
    only: str = ""
    """The only question that has the flag; "" for all that define the parameter."""

    @property
    def name(self) -> str:
        """Name of the option's value in click."""
        return f"{self.parameter}__{self.flag.strip('-').replace('-', '_')}"


SHORTHANDS = (
    Shorthand("--context", "kinds", ("data", "context"), "Follow context edges too (the default).", only="columns"),
    Shorthand(
        "--context", "kinds", ("data", "context"), "Also follow context edges: rows that values were computed from."
    ),
    Shorthand("--data", "kinds", ("data",), "Follow data edges only, without context.", only="columns"),
    Shorthand("--backward", "direction", "backward", "The same as --direction backward."),
    Shorthand("--forward", "direction", "forward", "The same as --direction forward."),
    Shorthand("--both", "direction", "both", "The same as --direction both."),
    Shorthand("--all-versions", "versions", "all", "The same as --versions all."),
    Shorthand("--together", "each", False, "The same as --no-each."),
)


def shorthands(question: Question) -> Iterator[Shorthand]:
    """Return the shorthands that set a parameter of a question to a value that it accepts."""
    known = {p.name: p for p in parameters(question)}
    by_flag: dict[str, Shorthand] = {}
    for short in SHORTHANDS:
        takes = known.get(short.parameter)
        if takes and short.only in ("", question.name) and (not takes.choices or short.value in takes.choices):
            by_flag.setdefault(short.flag, short)
    yield from by_flag.values()


def command_name(question: str) -> str:
    """Return the name of a question's command."""
    return question.replace("_", "-")


def options(question: Question) -> list[click.Parameter]:
    """Return an argument or option for each parameter of a question, and the shorthands."""
    out: list[click.Parameter] = [option(question, p) for p in parameters(question) if p.takes != "progress"]
    return out + [click.Option([s.flag, s.name], is_flag=True, help=s.help) for s in shorthands(question)]


def option(question: Question, p: Parameter, spelled: str = "") -> click.Parameter:
    """Return the argument or option of a parameter.

    Parameters
    ----------
    spelled : str
        Name of the option, if it is not derived from the parameter's name.
    """
    if _is_argument(question, p):
        return click.Argument([p.name], metavar=_METAVARS[p.takes])
    name = spelled or spelled_name(p)
    form = (
        f"Any of {', '.join(_followed(question))}, separated by commas." if p.takes == "kinds" else _FORMS.get(p.takes)
    )
    about = " ".join(filter(None, (sentence(told(p.help, question)), form)))
    if p.takes == "flag":
        on = p.default is True
        names = f"{name}/--no-{name[2:]}" if on else name
        about = about.replace("If false,", f"With --no-{name[2:]},")
        return click.Option([names, p.name], is_flag=True, default=p.default, show_default=on, help=about)
    # --where can replace required rows.
    required = p.required and p.takes != "rows"
    several = p.many and p.takes != "kinds"
    if p.takes == "choice" or (p.takes == "number" and p.default is not None):
        default: dict[str, Any] = {"default": p.default, "show_default": True}
    else:
        default = {}
    return click.Option(
        [name, *(["--rows"] if p.takes == "rows" else []), p.name],
        type=_type(question, p),
        multiple=several,
        required=required,
        metavar=None if p.choices else _METAVARS[p.takes],
        help=f"{about} Repeatable." if several else about,
        **default,
    )


def typed(context: click.Context) -> dict[str, Any]:
    """Return the parameters that the user passed, without those at their defaults."""
    default = click.core.ParameterSource.DEFAULT
    return {n: v for n, v in context.params.items() if context.get_parameter_source(n) is not default}


def arguments(question: Question, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for a question's function from the values of the command line.

    Raises
    ------
    click.UsageError
        Two options set one parameter to different values.
    ConditionError
        A condition can't be parsed.
    """
    out: dict[str, Any] = {}
    for p in parameters(question):
        ways = [(spelled_name(p), _value(p, given[p.name]))] if p.name in given else []
        ways += [(s.flag, s.value) for s in shorthands(question) if s.parameter == p.name and given.get(s.name)]
        if any(value != ways[0][1] for _, value in ways):
            raise click.UsageError(
                f"{' and '.join(name for name, _ in ways)} contradict each other. Pass only one of them."
            )
        if ways:
            out[p.name] = ways[0][1]
        elif p.takes == "rows" and p.required:
            out[p.name] = None
        if p.takes == "progress":
            out[p.name] = show_progress
        if p.takes == "trust" and (trusted := (*out.get(p.name, ()), *Settings.read().trusted)):
            out[p.name] = trusted
    return out


def told(text: str, question: Question) -> str:
    """Return text of a docstring with parameters and questions under their names on the command line."""
    known = {p.name: _METAVARS[p.takes] if _is_argument(question, p) else spelled_name(p) for p in parameters(question)}

    def called(match: re.Match[str]) -> str:
        if match[1]:
            return match[1]
        name, call, _ = match[2].partition("(")
        if name in known and not call:
            return known[name]
        return f"provspark {command_name(name)}" if name in QUESTIONS else match[2]

    return re.sub(r"``(.+?)``|`(.+?)`", called, text, flags=re.DOTALL)


def sentence(text: str) -> str:
    """Return the first sentences of a text on one line: one, and more while they fit into `_LONG` characters."""
    out = ""
    for part in re.split(r"(?<=[.!?]) (?=[A-Z])", " ".join(text.split())):
        if out and len(out) + len(part) > _LONG:
            break
        out += f" {part}" if out else part
    return out


def _followed(question: Question) -> list[str]:
    return [kind for kind in ("data", "context", "possible") if kind in question.follows]


def _is_argument(question: Question, p: Parameter) -> bool:
    return p.required and p is parameters(question)[0]


def spelled_name(p: Parameter) -> str:
    """Return the name of a parameter's option."""
    name = p.name.removesuffix("s") if p.many and p.takes in _SINGULAR else p.name
    return f"--{name.replace('_', '-')}"


def _type(question: Question, p: Parameter) -> Any:
    """Return the click type, or the function, that parses a parameter's text."""
    if p.takes == "choice":
        return click.Choice(p.choices)
    if p.takes in ("number", "operation"):
        return click.IntRange(min=0)
    if p.takes == "rows":
        return _row_ids
    if p.takes == "kinds":
        return _kinds_of(_followed(question))
    return _former_name if p.takes == "former names" else click.STRING


def _value(p: Parameter, value: Any) -> Any:
    """Convert a value that click parsed to the question's argument."""
    if p.takes == "rows":
        ranges = list(chain.from_iterable(value))
        return ranges[0] if len(ranges) == 1 else list(chain.from_iterable(ranges))
    if p.takes == "conditions":
        return [parse_condition(text) for text in value]
    if p.takes == "former names":
        return dict(value)
    return list(value) if p.many and p.takes not in ("kinds", "trust") else value


def _row_ids(text: str) -> tuple[range, ...]:
    """Parse row ids and ranges, separated by commas."""
    ranges = []
    for part in text.split(","):
        ends = re.fullmatch(r"\s*(-?\d{1,18})(?:-(\d{1,18}))?\s*", part)
        if not ends or int(ends[2] or ends[1]) < int(ends[1]):
            raise click.BadParameter(f"{part!r} is not a row id; write 17, or 1,2, or a range 5-9")
        ranges.append(range(int(ends[1]), int(ends[2] or ends[1]) + 1))
    return tuple(ranges)


def _kinds_of(follows: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    def kinds(text: str) -> tuple[str, ...]:
        named = tuple(kind.strip() for kind in text.split(","))
        if wrong := [kind for kind in named if kind not in follows]:
            raise click.BadParameter(f"{wrong[0]!r} is not one of {', '.join(follows)}; separate kinds with commas")
        return named

    return kinds


def _former_name(text: str) -> tuple[str, str]:
    new, _, old = text.partition("=")
    if not new or not old:
        raise click.BadParameter(f"{text!r} is not a pair of column names; write it as NEW=OLD")
    return new, old
