"""How far a question is, told to whoever waits for its answer; and whether anybody still does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from provspark.model.errors import QuestionCancelledError, TooManyStepsError

__all__ = ["Progress", "QuestionProgress", "check", "enter", "lasts", "tell", "watched"]

Progress = Callable[[int, int, str], None]
"""Told how many operations of a replay are done, how many there are, and what the next one does."""


class QuestionProgress:
    """Shared by the thread that works and the one that waits.

    Parameters
    ----------
    max_steps : int
        Steps that the question may go through; 0 for no limit.
    until : float
        When whoever asked stops waiting, by `time.monotonic`.

    Attributes
    ----------
    what : str
        What is being counted; no values and no names, as the one who waits may be shown it.
    done, total : int
        How much of it; `total` is 0 where that is not known.
    """

    __slots__ = ("_entered", "cancelled", "done", "max_steps", "total", "until", "what")

    def __init__(self, max_steps: int = 0, until: float = math.inf) -> None:
        self.cancelled, self.what, self.done, self.total = False, "", 0, 0
        self.max_steps, self.until = max_steps, until
        self._entered: set[str] = set()

    def cancel(self) -> None:
        """Make the work end the next time that it tells how far it is."""
        self.cancelled = True

    def enter(self, step: str) -> None:
        """Count a step, once however often the question goes through it."""
        self._entered.add(step)
        if 0 < self.max_steps < len(self._entered):
            raise TooManyStepsError(self.max_steps)


_WATCH: ContextVar[QuestionProgress | None] = ContextVar("provspark_watch", default=None)


@contextmanager
def watched(watch: QuestionProgress) -> Iterator[QuestionProgress]:
    """Let what runs here, and in the threads that take over this context, tell this watch."""
    token = _WATCH.set(watch)
    try:
        yield watch
    finally:
        _WATCH.reset(token)


def tell(what: str, done: int = 0, total: int = 0) -> None:
    """Tell how far one is.

    Raises
    ------
    QuestionCancelledError
        Nobody waits any longer.
    """
    check()
    watch = _WATCH.get()
    if watch is not None:
        watch.what, watch.done, watch.total = what, done, total


def check() -> None:
    """Raise QuestionCancelledError where nobody waits any longer."""
    watch = _WATCH.get()
    if watch is not None and watch.cancelled:
        raise QuestionCancelledError("the question was cancelled")


def enter(step: str) -> None:
    """Count a step that the question goes through.

    Raises
    ------
    TooManyStepsError
        There are more than the question may go through.
    QuestionCancelledError
        Nobody waits any longer.
    """
    check()
    watch = _WATCH.get()
    if watch is not None:
        watch.enter(step)


def lasts(until: float) -> None:
    """Set the time at which whoever asked stops waiting, by `time.monotonic`."""
    watch = _WATCH.get()
    if watch is not None:
        watch.until = until
