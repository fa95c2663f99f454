"""How far a question is, told to whoever waits for its answer; and whether anybody still does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from provspark.errors import QuestionCancelledError

__all__ = ["Watch", "check", "tell", "watched"]


class Watch:
    """Shared by the thread that works and the one that waits.

    Attributes
    ----------
    what : str
        What is being counted; no values and no names, as the one who waits may be shown it.
    done, total : int
        How much of it; `total` is 0 where that is not known.
    """

    __slots__ = ("cancelled", "done", "total", "what")

    def __init__(self) -> None:
        self.cancelled, self.what, self.done, self.total = False, "", 0, 0

    def cancel(self) -> None:
        """Make the work end the next time that it tells how far it is."""
        self.cancelled = True


_WATCH: ContextVar[Watch | None] = ContextVar("provspark_watch", default=None)


@contextmanager
def watched(watch: Watch) -> Iterator[Watch]:
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
