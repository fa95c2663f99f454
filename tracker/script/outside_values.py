"""Decides whether values from outside of the script come from no data: the environment, settings, chance."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from provspark.tracker.script.calls import passed_values
from provspark.tracker.script.pure_functions import SETTERS

if TYPE_CHECKING:
    from provspark.tracker.script.shown_values import Shown

__all__ = ["Outside"]


class Outside:
    """What a program may have put into its surroundings and takes from there again.

    Parameters
    ----------
    shown : Shown
    """

    def __init__(self, shown: Shown) -> None:
        self._shown = shown

    def untouched(self, name: str) -> bool:
        """Whether a value of a library comes from no data: the script may set the environment, and seeds of chance."""
        if name.startswith(("os.environ", "os.getenv")):
            return self._environment_kept()
        return "random" not in name.split(".") or self._given_constants("seed")

    def _environment_kept(self) -> bool:
        sources = self._shown.program.sources()
        uses = [(s, use) for s in sources for (_, name), some in s.uses.items() if name == "environ" for use in some]
        kept = all(self._shown.changes.unchanged(source, use) for source, use in uses)
        return kept and self._shown.kept("environ") and self._given_constants("putenv")

    def settings_kept(self) -> bool:
        """Whether the script sets nothing of the session but constants."""
        return self._shown.once(
            "settings", lambda: all(map(self._given_constants, SETTERS)) and not self._sets_by_text()
        )

    def _given_constants(self, function: str) -> bool:
        """Whether all calls of a name are given constants."""
        calls = self._shown.program.calls(function)
        return all(self._shown.shows(source, value) for source, call in calls for value in passed_values(call))

    def _sets_by_text(self) -> bool:
        """Whether SQL text that is not shown may be a SET."""
        for source, call in self._shown.program.calls("sql"):
            for text in call.args[:1]:
                first = next((n for n in ast.walk(text) if isinstance(n, ast.Constant)), None)
                sets = first is None or str(first.value).lstrip().lower().startswith("set")
                if sets and not self._shown.shows(source, text):
                    return True
        return False
