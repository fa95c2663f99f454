"""A question that was asked on the command line."""

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
        What was given on the command line.
    given : mapping
        What the question takes of it.
    """

    prov: Provenance
    question: Question
    typed: Mapping[str, Any]
    given: Mapping[str, Any]

    @classmethod
    def of(cls, prov: Provenance, question: Question, typed: Mapping[str, Any]) -> Inquiry:
        """Read the arguments from what was given."""
        return cls(prov, question, typed, arguments(question, typed))

    def answer(self, **changed: Any) -> Any:
        """Return the answer, with some arguments changed."""
        return self.question.function(self.prov, **{**self.given, **changed})

    def argument(self, name: str) -> Any:
        """Return an argument, or the parameter's default."""
        return self.given[name] if name in self.given else _named(self.question, name).default

    def pages(self) -> Iterator[Any]:
        """Return the answer page by page, by the question that gives it so.

        Raises
        ------
        click.UsageError
            That question does not take an argument.
        """
        by_page = next(q for q in QUESTIONS.values() if q.pages_of == self.question.name)
        known = {p.name for p in parameters(by_page)}
        if left := sorted(self.given.keys() - known):
            name = spelled_name(_named(self.question, left[0]))
            raise click.UsageError(f"an answer written line by line takes no {name}")
        pages: Iterator[Any] = by_page.function(self.prov, **self.given)
        return pages


def _named(question: Question, name: str) -> Parameter:
    return next(p for p in parameters(question) if p.name == name)
