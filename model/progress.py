"""Progress of a question, for whoever waits for its answer, and whether the question was cancelled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from provspark.model.errors import QuestionCancelledError, TooManyStepsError

__all__ = ["Progress", "QuestionProgress", "check", "enter", "lasts", "tell", "watched"]

Progress = Callable[[int, int, str], None]
"""Called with the number of finished operations of a replay, their total, and what the next one does."""


class QuestionProgress:
    """State shared by the thread that works and the one that waits.

    Parameters
    ----------
    max_steps : int
        Maximum number of steps that the question may go through; 0 for no limit.
    until : float
        Time at which the caller stops waiting, by `time.monotonic`.

    Attributes
    ----------
    what : str
        What is being counted; it contains no values or names, because the caller may see it.
    done, total : int
        How much of it is done, and the total; `total` is 0 if it is not known.
    """

    __slots__ = ("_entered", "cancelled", "done", "max_steps", "total", "until", "what")

    def __init__(self, max_steps: int = 0, until: float = math.inf) -> None:
        self.cancelled, self.what, self.done, self.total = False, "", 0, 0
        self.max_steps, self.until = max_steps, until
        self._entered: set[str] = set()

    def cancel(self) -> None:
        """Make the work end the next time it reports its progress."""
        self.cancelled = True

    def enter(self, step: str) -> None:
        """Count a step; a step that the question goes through repeatedly counts once."""
        self._entered.add(step)
        if 0 < self.max_steps < len(self._entered):
            raise TooManyStepsError(self.max_steps)


_WATCH: ContextVar[QuestionProgress | None] = ContextVar("provspark_watch", default=None)


@contextmanager
def watched(watch: QuestionProgress) -> Iterator[QuestionProgress]:
    """Let code in this block, and threads that run in its context, report to a watch."""
    token = _WATCH.set(watch)
    try:
        yield watch
    finally:
        _WATCH.reset(token)


def tell(what: str, done: int = 0, total: int = 0) -> None:
    """Report the progress of the question.

    Raises
    ------
    QuestionCancelledError
        The question was cancelled.
    """
    check()
    watch = _WATCH.get()
    if watch is not None:
        watch.what, watch.done, watch.total = what, done, total


def check() -> None:
    """Raise QuestionCancelledError if the question was cancelled."""
    watch = _WATCH.get()
    if watch is not None and watch.cancelled:
        raise QuestionCancelledError("the question was cancelled")


def enter(step: str) -> None:
    """Count a step that the question goes through.

    Raises
    ------
    TooManyStepsError
        There are more steps than the question may go through.
    QuestionCancelledError
        The question was cancelled.
    """
    check()
    watch = _WATCH.get()
    if watch is not None:
        watch.enter(step)


def lasts(until: float) -> None:
    """Set the time at which the caller stops waiting, by `time.monotonic`."""
    watch = _WATCH.get()
    if watch is not None:
        watch.until = until
