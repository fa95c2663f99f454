"""Parameters of a question, read from its function: what each takes, its default, and its documentation.

The command line and HTTP generate their options and fields from them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from docstring_parser import Docstring
from docstring_parser.numpydoc import parse

from provspark.index_store.query.asking import Which
from provspark.index_store.query.parameter_types import Takes, What
from provspark.index_store.query.question import DATA, QUESTIONS, Question
from provspark.model.progress import Progress

__all__ = ["Parameter", "answer_class", "documentation", "parameters", "replays"]

_REFERENCE = re.compile(r"(?:See|As for|Parameters are those of) `(\w+)`")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a question.

    Parameters
    ----------
    name : str
    takes : str
        What it takes; see `Takes`. In addition ``choice``, ``flag``, ``number``, and ``progress``, a function that is
        called with the progress of a replay.
    many : bool
        Whether it takes several.
    default : object
        `inspect.Parameter.empty` if the parameter is required.
    choices : tuple of str
    help : str
        The first paragraph of its documentation.
    shared : bool
        Whether questions share it (``**which``).
    """

    name: str
    takes: What | Literal["choice", "flag", "number", "progress"]
    many: bool
    default: Any
    choices: tuple[str, ...]
    help: str
    shared: bool = False

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is inspect.Parameter.empty


@cache
def parameters(question: Question) -> tuple[Parameter, ...]:
    """Return a question's parameters in order; the shared ones that apply to it come last.

    Raises
    ------
    TypeError
        The type of a parameter does not say what it takes, or its docstring does not describe it.
    """
    described = list(_own(question))
    for each in described:
        if not each.help and each.takes != "progress":
            raise TypeError(
                f"The docstring of {question.name} does not describe the parameter {each.name!r}. Add it there."
            )
    return tuple(described)


def replays(question: Question) -> bool:
    """Return whether a question runs stored operations again, always or on request."""
    return any(p.takes == "progress" for p in parameters(question))


def answer_class(question: Question) -> Any:
    """Return the type that a question's function returns."""
    return _evaluated(question, question.function.__annotations__.get("return"))


def documentation(question: Question) -> Docstring:
    """Return the parsed docstring of a question: summary, description and sections."""
    return _parsed(question.function)


def _own(question: Question) -> Iterator[Parameter]:
    signature = inspect.signature(question.function)
    for p in list(signature.parameters.values())[1:]:
        if p.kind is inspect.Parameter.VAR_KEYWORD:
            yield from _shared(question)
        else:
            # Evaluated one by one, because `Unpack`, in the type of `which`, is not defined at run time.
            yield _typed(question, p.name, _evaluated(question, p.annotation), p.default)


def _evaluated(question: Question, annotation: Any) -> Any:
    return eval(annotation, question.function.__globals__) if isinstance(annotation, str) else annotation


def _shared(question: Question) -> Iterator[Parameter]:
    left_out = set() if "rows" in inspect.signature(question.function).parameters else {"where", "semantics"}
    if question.follows <= DATA:
        left_out.add("kinds")
    if "possible" not in question.follows:
        left_out |= {"strict", "trust"}
    if not question.ahead:
        left_out.add("versions")
    defaults = {"strict": False, "semantics": "bag", "versions": "current"}
    for name, hint in get_type_hints(Which, include_extras=True).items():
        if name not in left_out:
            made = replace(_typed(question, name, hint, defaults.get(name)), shared=True)
            yield replace(made, help=_without_kinds(made.help, question.follows)) if name == "kinds" else made


def _without_kinds(help: str, follows: Collection[str]) -> str:
    """Return the help of `kinds` without the kinds that a question can't follow."""
    return re.sub(r";\s+``(\w+)``,[^;.]*", lambda kind: kind[0] if kind[1] in follows else "", help)


def _typed(question: Question, name: str, hint: Any, default: Any) -> Parameter:
    parts = _parts(hint)
    help = _help(question, name)
    for part in parts:
        for takes in getattr(part, "__metadata__", ()):
            if isinstance(takes, Takes):
                return Parameter(name, takes.what, takes.many, default, (), help)
    choices = tuple(c for part in parts if get_origin(part) is Literal for c in get_args(part))
    if choices:
        return Parameter(name, "choice", False, default, choices, help)
    for kind, plain in _PLAIN:
        if kind in parts:
            return Parameter(name, plain, False, default, (), help)
    raise TypeError(
        f"The type {hint} of the parameter {name!r} of {question.name} does not say what it takes. "
        "Use one of index_store/query/parameter_types.py."
    )


_PLAIN: tuple[tuple[Any, Literal["flag", "number", "progress"]], ...] = (
    (bool, "flag"),
    (int, "number"),
    (Progress, "progress"),
)


def _parts(hint: Any) -> list[Any]:
    """Return the type, or the members of a union."""
    if get_origin(hint) in (Union, UnionType):
        return [part for each in get_args(hint) for part in _parts(each)]
    return [hint]


def _help(question: Question, name: str) -> str:
    """Return the first paragraph about a parameter, from the docstring or from the one that it refers to."""
    text = _about(question.function, name)
    refers = _REFERENCE.match(text) or (None if text else _REFERENCE.search(inspect.getdoc(question.function) or ""))
    if refers and refers[1] in QUESTIONS and refers[1] != question.name:
        return _help(QUESTIONS[refers[1]], name)
    return _about(Which, name) if refers or not text else text.split("\n\n")[0]


def _about(documented: Any, name: str) -> str:
    """Return a docstring's description of a parameter. One entry may describe several."""
    described = _parsed(documented).params
    return next((p.description or "" for p in described if name in p.arg_name.split(", ")), "")


@cache
def _parsed(documented: Any) -> Docstring:
    return parse(inspect.getdoc(documented) or "")
