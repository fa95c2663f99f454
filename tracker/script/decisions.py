"""Memoise decisions about a program's values, which may depend on each other and on themselves."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from provspark.tracker.script.program import Program
from provspark.tracker.script.source import ScriptFile

__all__ = ["Decisions"]

_DEEPEST = 400


class Decisions:
    """Cache of yes/no decisions by key, each computed once until the program's text changes.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._numbers: frozenset[str] = frozenset()
        self._by_numbers: dict[frozenset[str], dict[object, bool]] = {self._numbers: {}}
        self._assumed: set[object] = set()
        self._depth = 0
        self._changes = -1

    @property
    def _known(self) -> dict[object, bool]:
        return self._by_numbers[self._numbers]

    @contextmanager
    def counting(self, numbers: frozenset[str]) -> Iterator[None]:
        """Count calls at these lines (``file:line``), which read one number each, as constants in this context."""
        before, self._numbers = self._numbers, numbers
        self._by_numbers.setdefault(numbers, {})
        try:
            yield
        finally:
            self._numbers = before

    def is_number(self, source: ScriptFile, call: ast.Call) -> bool:
        """Whether a call reads one number that counts as a constant; see `counting`."""
        return bool(self._numbers) and f"{source.file}:{call.func.end_lineno}" in self._numbers

    def decide(self, key: object, work_out: Callable[[], bool]) -> bool:
        """Return the decision for a key, computing it if necessary; False if the recursion is too deep."""
        if self._depth == 0:
            if self._changes != self._program.changes:
                self._changes = self._program.changes
                for known in self._by_numbers.values():
                    known.clear()
            if key in self._known:
                return self._known[key]
        if self._depth > _DEEPEST:
            return False
        self._depth += 1
        try:
            shown = work_out()
        finally:
            self._depth -= 1
            if self._depth == 0:
                assumed, self._assumed = self._assumed, set()
        if self._depth == 0:  # assumptions hold only if the outermost decision is True
            if shown:
                self._known.update(dict.fromkeys(assumed, True))
            self._known[key] = shown
        return shown

    def _assume(self, key: object) -> bool | None:
        """Return a known decision; True for one in progress, because a value may depend on itself; None otherwise."""
        if key in self._assumed:
            return True
        return self._known.get(key)

    def once(self, key: object, work_out: Callable[[], bool]) -> bool:
        """Return the decision for a key, computing it if necessary; True while it is being computed."""
        known = self._assume(key)
        if known is not None:
            return known
        self._assumed.add(key)
        return self._settled(key, work_out())

    def _settled(self, key: object, shown: bool) -> bool:
        if not shown:
            self._known[key] = False
        return shown
