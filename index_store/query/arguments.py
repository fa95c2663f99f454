"""Arguments that questions share: lists, and the edges to follow, which not every question can follow."""

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
        Whether reads of one number on a driver count.
    trust : tuple of str
        What is trusted.
    versions : {"current", "all"}
        Whether the answer includes rows that are no longer in a current version.
    """

    kinds: frozenset[Kind]
    strict: bool
    trust: tuple[str, ...]
    versions: Versions

    @classmethod
    def of(cls, question: str, which: Mapping[str, Any]) -> Edges:
        """Read a question's `kinds`, `strict` and `trust`.

        Parameters
        ----------
        question : str
            Its name.

        Raises
        ------
        ArgumentError
            One of them has another type.
        ConditionError
            There is no such kind of edge, or the question can't follow it: the answer would ignore the parameter.
        """
        kinds = _kinds(which.get("kinds", DATA))
        strict = which.get("strict", False)
        if not isinstance(strict, bool):
            raise ArgumentError(f"strict is True or False, found {strict!r}")
        trust = trusted_entries(which.get("trust"))
        follows = QUESTIONS[question].follows
        wrong = sorted(kinds - follows)
        if wrong:
            takers = [q.name for q in QUESTIONS.values() if q.follows >= set(wrong)]
            raise ConditionError(
                f"kinds of {question} can't contain {' or '.join(map(repr, wrong))}, found {sorted(kinds)}: {question} "
                f"does not follow such edges. Leave it out, or ask a question that takes it: {', '.join(takers)}"
            )
        driver = [q.name for q in QUESTIONS.values() if "possible" in q.follows]
        for name, value in (("strict", strict), ("trust", trust)):
            if value and question not in driver:
                raise ConditionError(
                    f"{question} takes no {name}, found {value!r}: it does not follow rows through what drivers read. "
                    f"Leave {name} out, or ask a question that takes it: {', '.join(driver)}"
                )
        versions = which.get("versions", "current")
        if versions not in get_args(Versions):
            raise ConditionError(f"versions must be 'current' or 'all', found {versions!r}")
        if versions != "current" and not QUESTIONS[question].ahead:
            takers = [q.name for q in QUESTIONS.values() if q.ahead]
            raise ConditionError(
                f"{question} does not accept versions={versions!r}. Leave out versions (--all-versions), or ask a "
                f"question that takes it: {', '.join(takers)}"
            )
        return cls(kinds, strict, trust, versions)


def several(given: Any, name: str) -> tuple[Any, ...]:
    """What was given for a parameter that takes one text or several values."""
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
        named = ", ".join(sorted(map(str, wrong))) or "given"
        raise ConditionError(f"no kind of edge {named}; use 'data', 'context' or 'possible'")
    return frozenset(chosen)
