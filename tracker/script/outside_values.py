"""Decide whether values from outside the script are constants: the environment, Spark settings, random numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable

from provspark.tracker.script.calls import passed_values
from provspark.tracker.script.decisions import Decisions
from provspark.tracker.script.program import Program
from provspark.tracker.script.pure_functions import SETTERS
from provspark.tracker.script.source import ScriptFile

__all__ = ["Outside"]


class Outside:
    """Values that a program may store outside of itself and read again later.

    Parameters
    ----------
    program : Program
    decisions : Decisions
    shows : callable
        Returns whether an expression's value is made only of constants.
    unchanged : callable
        Returns whether a use of an object adds only constants to it.
    kept : callable
        Returns the same for all values of attributes with a given name.
    """

    def __init__(
        self,
        program: Program,
        decisions: Decisions,
        shows: Callable[[ScriptFile, ast.AST], bool],
        unchanged: Callable[[ScriptFile, ast.AST], bool],
        kept: Callable[[str], bool],
    ) -> None:
        self._program = program
        self._decisions = decisions
        self._shows, self._unchanged, self._kept = shows, unchanged, kept

    def untouched(self, name: str) -> bool:
        """Whether a library's value contains no data that the script stored in the environment or used as a seed."""
        if name.startswith(("os.environ", "os.getenv")):
            return self._environment_kept()
        return "random" not in name.split(".") or self._given_constants("seed")

    def _environment_kept(self) -> bool:
        sources = self._program.sources()
        uses = [(s, use) for s in sources for (_, name), some in s.uses.items() if name == "environ" for use in some]
        kept = all(self._unchanged(source, use) for source, use in uses)
        return kept and self._kept("environ") and self._given_constants("putenv")

    def settings_kept(self) -> bool:
        """Whether the script sets the session's settings only to constants."""
        return self._decisions.once(
            "settings", lambda: all(map(self._given_constants, SETTERS)) and not self._sets_by_text()
        )

    def _given_constants(self, function: str) -> bool:
        """Whether all calls of a name pass only constants."""
        calls = self._program.calls(function)
        return all(self._shows(source, value) for source, call in calls for value in passed_values(call))

    def _sets_by_text(self) -> bool:
        """Whether a SQL text that is not a constant may be a ``SET`` command."""
        for source, call in self._program.calls("sql"):
            for text in call.args[:1]:
                first = next((n for n in ast.walk(text) if isinstance(n, ast.Constant)), None)
                sets = first is None or str(first.value).lstrip().lower().startswith("set")
                if sets and not self._shows(source, text):
                    return True
        return False
