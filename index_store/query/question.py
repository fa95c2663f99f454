"""The registered questions: Python, the hook, the operator, the command line and HTTP read them from here."""

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
    """One question: its function has the parameters and the documentation.

    Parameters
    ----------
    name : str
    function : callable
        Its first parameter is the open store or catalogue; `Provenance` has the function as a method.
    follows : set of {"data", "context", "possible"}
        The kinds of edges that it can follow. A question that follows possible edges takes `strict` and `trust`.
    ahead : bool
        Whether it returns rows in the current versions of datasets, and takes `versions`.
    paper : str
        Which question of the literature it answers: ``TensProv Q2; Chapman et al. PQ2``.
    compares : bool
        Whether values that the question does not name decide its answer, so that who may not see all of them may not
        ask it.
    words : tuple of str
        Columns of its answer's table that have ids, counts or words of ours: over HTTP they are shown as they are. What
        other columns have, their names say.
    pages_of : str
        The question whose answer it gives page by page, if it does: an iterator with one such answer for each page.
        Python has both as methods. The command line has only that question, and writes its answer into a file by this
        one. HTTP, too, has only that question, and leaves this one out: it pages each answer by `cursor` and `limit`.
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
"""Questions by what the last release called them. These names go with the next one."""
QUESTIONS: dict[str, Question] = {}
"""All questions by name. A module of a folder `questions` adds its own when it is imported; `provspark.api` imports
all of them."""


def question(
    *,
    follows: frozenset[Kind] = DATA,
    ahead: bool = False,
    paper: str = "",
    compares: bool = False,
    words: tuple[str, ...] = (),
    pages_of: str = "",
) -> Callable[[F], F]:
    """Register a function as the question of its name."""

    def registered(function: F) -> F:
        QUESTIONS[function.__name__] = Question(
            function.__name__, function, follows, ahead, paper, compares, words, pages_of
        )
        return function

    return registered
