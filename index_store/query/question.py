"""Registry of the questions, from which Python, the hook, the operator, the command line and HTTP take them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from provspark.model.writes import Kind

__all__ = ["ALL", "DATA", "QUESTIONS", "RENAMED", "SURE", "Question", "question"]

F = TypeVar("F", bound=Callable[..., Any])

DATA: frozenset[Kind] = frozenset(("data",))
SURE: frozenset[Kind] = frozenset(("data", "context"))
ALL: frozenset[Kind] = frozenset(("data", "context", "possible"))


@dataclass(frozen=True, slots=True)
class Question:
    """A question. Its function defines the parameters and the documentation.

    Parameters
    ----------
    name : str
    function : callable
        The first parameter is the open store or catalogue; `Provenance` has the function as a method.
    follows : set of {"data", "context", "possible"}
        The kinds of edges that it can follow. A question that follows possible edges takes `strict` and `trust`.
    ahead : bool
        Whether it returns rows in the current versions of datasets, and takes `versions`.
    paper : str
        The questions of the literature that it answers: ``TensProv Q2; Chapman et al. PQ2``.
    compares : bool
        Whether its answer depends on values that the parameters do not name. Users who may not see all values may not
        ask it.
    words : tuple of str
        Columns of the answer's table that contain ids, counts or fixed words of ProvSpark: HTTP never masks them. For
        other columns, the name determines the mask.
    pages_of : str
        The question whose answer this one returns page by page, as an iterator of such answers; or "". Python has both
        as methods. The command line has only the other question, and uses this one to write its answer to a file. HTTP
        has only the other question, and pages every answer by `cursor` and `limit`.
    """

    name: str
    function: Callable[..., Any]
    follows: frozenset[Kind]
    ahead: bool
    paper: str
    compares: bool = False
    words: tuple[str, ...] = ()
    pages_of: str = ""


RENAMED = {"before_after": "replay"}
"""Former names of questions, which the next release removes."""
QUESTIONS: dict[str, Question] = {}
"""All questions by name. The modules of folders `questions` register theirs on import; `provspark.api` imports all."""


def question(
    *,
    follows: frozenset[Kind] = DATA,
    ahead: bool = False,
    paper: str = "",
    compares: bool = False,
    words: tuple[str, ...] = (),
    pages_of: str = "",
) -> Callable[[F], F]:
    """Return a decorator that registers a function as the question of its name."""

    def registered(function: F) -> F:
        QUESTIONS[function.__name__] = Question(
            function.__name__, function, follows, ahead, paper, compares, words, pages_of
        )
        return function

    return registered
