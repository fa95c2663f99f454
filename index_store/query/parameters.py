"""The parameters of a question, read from its function: what each takes, its default, and its documentation.

The command line and HTTP make their options and fields of these.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
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
        What it takes; see `Takes`. Besides: ``choice``, ``flag``, ``number``, and ``progress``, a function that is told
        how far a replay is.
    many : bool
        Whether it takes several.
    default : object
        `inspect.Parameter.empty` where one must be given.
    choices : tuple of str
    help : str
        The first paragraph of its documentation.
    shared : bool
        Whether it is one of the parameters that questions share (``**which``).
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
        """Whether it must be given."""
        return self.default is inspect.Parameter.empty


@cache
def parameters(question: Question) -> tuple[Parameter, ...]:
    """Return a question's parameters in order; those that it shares with others, and that it follows, are the last.

    Raises
    ------
    TypeError
        The type of a parameter does not say what it takes, or its docstring does not describe it.
    """
    described = list(_own(question))
    for each in described:
        if not each.help and each.takes != "progress":
            raise TypeError(f"the docstring of {question.name} does not describe the parameter {each.name!r}")
    return tuple(described)


def replays(question: Question) -> bool:
    """Return whether stored operations run again for a question's answer, or may do so if it is asked to."""
    return any(p.takes == "progress" for p in parameters(question))


def answer_class(question: Question) -> Any:
    """Return the type that a question's function returns."""
    return _evaluated(question, question.function.__annotations__.get("return"))


def documentation(question: Question) -> Docstring:
    """Return what its docstring says: the summary, the description and the parts."""
    return _parsed(question.function)


def _own(question: Question) -> Iterator[Parameter]:
    signature = inspect.signature(question.function)
    for p in list(signature.parameters.values())[1:]:
        if p.kind is inspect.Parameter.VAR_KEYWORD:
            yield from _shared(question)
        else:
            # Evaluated one by one: `Unpack`, which the type of `which` needs, is no name at run time.
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
            yield replace(_typed(question, name, hint, defaults.get(name)), shared=True)


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
        f"{question.name}: the type of the parameter {name!r}, {hint}, does not say what it takes; "
        "use one of index_store/query/parameter_types.py"
    )


_PLAIN: tuple[tuple[Any, Literal["flag", "number", "progress"]], ...] = (
    (bool, "flag"),
    (int, "number"),
    (Progress, "progress"),
)


def _parts(hint: Any) -> list[Any]:
    """The type, or the types of a union."""
    if get_origin(hint) in (Union, UnionType):
        return [part for each in get_args(hint) for part in _parts(each)]
    return [hint]


def _help(question: Question, name: str) -> str:
    """Return the first paragraph about a parameter; where the docstring refers to another question's, that one's."""
    text = _about(question.function, name)
    refers = _REFERENCE.match(text) or (None if text else _REFERENCE.search(inspect.getdoc(question.function) or ""))
    if refers and refers[1] in QUESTIONS and refers[1] != question.name:
        return _help(QUESTIONS[refers[1]], name)
    return _about(Which, name) if refers or not text else text.split("\n\n")[0]


def _about(documented: Any, name: str) -> str:
    """What a docstring says of a parameter; several may stand in one entry."""
    described = _parsed(documented).params
    return next((p.description or "" for p in described if name in p.arg_name.split(", ")), "")


@cache
def _parsed(documented: Any) -> Docstring:
    return parse(inspect.getdoc(documented) or "")
