"""A question with the arguments of its command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from provspark.cli.question_options import arguments, spelled_name
from provspark.index_store.query.parameters import Parameter, parameters
from provspark.index_store.query.question import QUESTIONS, Question

if TYPE_CHECKING:
    from provspark.api import Provenance

__all__ = ["Inquiry"]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question with its arguments.

    Parameters
    ----------
    typed : mapping
        Values of the command line, by parameter.
    given : mapping
        The question's arguments that result from them.
    """

    prov: Provenance
    question: Question
    typed: Mapping[str, Any]
    given: Mapping[str, Any]

    @classmethod
    def of(cls, prov: Provenance, question: Question, typed: Mapping[str, Any]) -> Inquiry:
        """Convert the values of the command line to the question's arguments."""
        return cls(prov, question, typed, arguments(question, typed))

    def answer(self, **changed: Any) -> Any:
        """Return the answer, with some arguments changed."""
        return self.question.function(self.prov, **{**self.given, **changed})

    def argument(self, name: str) -> Any:
        """Return an argument, or the parameter's default."""
        return self.given[name] if name in self.given else _named(self.question, name).default

    def pages(self) -> Iterator[Any]:
        """Return the answer page by page, from the question whose `pages_of` is this question.

        Raises
        ------
        click.UsageError
            An argument was given that the other question does not have.
        """
        by_page = next(q for q in QUESTIONS.values() if q.pages_of == self.question.name)
        known = {p.name for p in parameters(by_page)}
        if left := sorted(self.given.keys() - known):
            name = spelled_name(_named(self.question, left[0]))
            raise click.UsageError(f"{name} does not apply to an answer that is written line by line. Remove it.")
        pages: Iterator[Any] = by_page.function(self.prov, **self.given)
        return pages


def _named(question: Question, name: str) -> Parameter:
    return next(p for p in parameters(question) if p.name == name)
