"""Questions under their names of the last release, which the next release removes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from provspark.index_store.query.asking import Asking
from provspark.index_store.query.operation_list import OperationList
from provspark.index_store.query.question import QUESTIONS, RENAMED
from provspark.index_store.query.row_values import Values
from provspark.index_store.query.tabular import FormerAnswer, FormerTable, TableAnswer

__all__ = ["RenamedQuestions", "renamed"]


def renamed(name: str) -> Callable[..., Any]:
    """Return a method that calls a renamed question under its former name, with a DeprecationWarning."""

    def former(prov: Asking, *args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"{name} goes with the next release: it is called {RENAMED[name]} now", DeprecationWarning, stacklevel=2
        )
        return QUESTIONS[RENAMED[name]].function(prov, *args, **kwargs)

    former.__name__ = name
    return former


class RenamedQuestions:
    """The former ``prov.ask``: questions with answers that can be combined, as all answers can now."""

    def __init__(self, prov: Asking) -> None:
        self._prov = prov

    def __getattr__(self, name: str) -> Any:
        former, name = name, RENAMED.get(name, name)
        if name not in QUESTIONS:
            raise AttributeError(f"unknown query {name!r}; use one of {', '.join(sorted(QUESTIONS))}")
        warnings.warn(
            f"prov.ask.{former} goes with the next release: prov.{name} returns the same answer",
            DeprecationWarning,
            stacklevel=2,
        )

        def asked(*args: Any, **kwargs: Any) -> Any:
            answer = getattr(self._prov, name)(*args, **kwargs)
            if isinstance(answer, OperationList):
                return list(answer.lines)
            if isinstance(answer, TableAnswer | Values):
                return answer.former_table()
            return FormerAnswer(answer) if isinstance(answer, FormerTable) else answer

        return asked
