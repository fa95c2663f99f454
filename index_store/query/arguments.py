"""Checks of arguments that questions share: lists, kinds of edges, `strict`, `trust` and `versions`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, get_args

from provspark.index_store.query.question import DATA, QUESTIONS
from provspark.index_store.query.trust import trusted_entries
from provspark.model.errors import ArgumentError, ConditionError
from provspark.model.writes import Kind

__all__ = ["Edges", "Versions", "several"]

Versions = Literal["current", "all"]


@dataclass(frozen=True, slots=True)
class Edges:
    """Which edges a question follows.

    Parameters
    ----------
    kinds : set of {"data", "context", "possible"}
    strict : bool
        Whether to follow reads on drivers that return a single number.
    trust : tuple of str
        Tasks, operators, script lines and kinds of stops that are trusted.
    versions : {"current", "all"}
        Whether the answer includes rows that are no longer in a current version.
    """

    kinds: frozenset[Kind]
    strict: bool
    trust: tuple[str, ...]
    versions: Versions

    @classmethod
    def of(cls, question: str, which: Mapping[str, Any]) -> Edges:
        """Read and check a question's `kinds`, `strict`, `trust` and `versions`.

        Parameters
        ----------
        question : str
            Name of the question.

        Raises
        ------
        ArgumentError
            A parameter has the wrong type.
        ConditionError
            A value is unknown, or the question would ignore the parameter.
        """
        kinds = _kinds(which.get("kinds", DATA))
        strict = which.get("strict", False)
        if not isinstance(strict, bool):
            raise ArgumentError(f"strict must be True or False, found {strict!r}")
        trust = trusted_entries(which.get("trust"))
        follows = QUESTIONS[question].follows
        wrong = sorted(kinds - follows)
        if wrong:
            takers = [q.name for q in QUESTIONS.values() if q.follows >= set(wrong)]
            raise ConditionError(
                f"{question} does not follow edges of kind {' or '.join(map(repr, wrong))}, found "
                f"kinds={sorted(kinds)}. Remove {' and '.join(map(repr, wrong))}, or use one of these queries: "
                f"{', '.join(takers)}"
            )
        driver = [q.name for q in QUESTIONS.values() if "possible" in q.follows]
        for name, value in (("strict", strict), ("trust", trust)):
            if value and question not in driver:
                raise ConditionError(
                    f"{question} does not accept {name}={value!r}, because it does not follow rows that were collected "
                    f"on a driver. Remove {name}, or use one of these queries: {', '.join(driver)}"
                )
        versions = which.get("versions", "current")
        if versions not in get_args(Versions):
            raise ConditionError(f"versions must be 'current' or 'all', found {versions!r}")
        if versions != "current" and not QUESTIONS[question].ahead:
            takers = [q.name for q in QUESTIONS.values() if q.ahead]
            raise ConditionError(
                f"{question} does not accept versions={versions!r}. Remove versions (--all-versions), or use one of "
                f"these queries: {', '.join(takers)}"
            )
        return cls(kinds, strict, trust, versions)


def several(given: Any, name: str) -> tuple[Any, ...]:
    """Return the values of a parameter as a tuple; a single text or path counts as one value."""
    if isinstance(given, str | PathLike):
        return (given,)
    if isinstance(given, (Mapping, bytes)):
        raise ArgumentError(f"{name} takes a list, found {given!r}")
    try:
        return tuple(given)
    except TypeError:
        raise ArgumentError(f"{name} takes a list, found {given!r}") from None


def _kinds(given: Iterable[Kind] | Kind) -> frozenset[Kind]:
    chosen = several(given, "kinds")
    wrong = [one for one in chosen if not isinstance(one, str) or one not in get_args(Kind)]
    if wrong or not chosen:
        named = ", ".join(sorted(map(str, wrong))) or "nothing"
        raise ConditionError(f"kinds must be 'data', 'context' or 'possible', found {named}")
    return frozenset(chosen)
