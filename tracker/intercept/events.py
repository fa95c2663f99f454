"""Events of intercepted commands: each is captured in steps, before Spark runs it and after."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from provspark.model.errors import CaptureError, ProvSparkError
from provspark.model.writes import Untracked
from provspark.tracker.intercept.commands import Command
from provspark.tracker.script.sites import caller, on_behalf_of, waiting_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provspark.tracker.session.troubles import Troubles
    from provspark.tracker.spark.jvm import Jvm

__all__ = ["PLAIN", "CommandEvents", "Steps"]

Steps = Generator[Any, Exception | None, None]
"""Capture of one command. It yields the plan that Spark runs in its place, or `PLAIN`, and receives None when that has
run, or its error. Then it may yield once more: after an error `PLAIN`, to run the command, else a plan to count."""
PLAIN = "plain"
_STOP = "provspark.stop "
"""First part of the message of a `CaptureStop`; the second is the key of the error in `CommandEvents`."""
_LATE = "it was still running when the step or its SparkContext ended. Wait for the threads that write before that"
_SLOW = (
    "capture took longer than {:.0f} minutes to rewrite the command, so Spark ran it without capture. Look in the"
    " driver's log for what was slow, such as listing files"
)


class CommandEvents:
    """Handler of the events that java/intercept/InterceptedCommand.java reports.

    Parameters
    ----------
    session : callable
        Returns the handle of a Java session.
    capture : callable
        Starts the capture of a command.
    troubles : Troubles
    limit : float
        Seconds that capture may take before a command.
    """

    def __init__(
        self, session: Callable[[Any], Jvm], capture: Callable[[Command], Steps], troubles: Troubles, limit: float
    ) -> None:
        self._session, self._capture, self._troubles, self._limit = session, capture, troubles, limit
        self._steps: dict[Any, tuple[Steps, str, str]] = {}
        """Capture of each command that runs, with the command's name and the line of the script."""
        self._over = False
        """Whether the step or its SparkContext has ended."""
        self._errors: dict[str, Exception] = {}
        self._unseen: set[int] = set()
        """Threads of the script whose commands belong to a call that is recorded as a whole."""

    @contextmanager
    def unseen(self) -> Iterator[None]:
        """Ignore the commands of this thread within the block."""
        thread = threading.get_ident()
        added = thread not in self._unseen
        self._unseen.add(thread)
        try:
            yield
        finally:
            if added:
                self._unseen.discard(thread)

    def handle(self, event: str, node: Any) -> Any:
        """Handle an event. Return the plan to run, `PLAIN` to run the command unchanged, a reason to stop, or None."""
        waiting = waiting_on(str(node.connection()))
        if waiting.thread in self._unseen:
            return None
        try:
            with on_behalf_of(waiting):
                return self._begin(node) if event == "begin" else self._ended(event, node)
        except BaseException as e:  # also what would end a script, which must not end a thread of Spark
            error = e if isinstance(e, Exception) else CaptureError(repr(e))
            if self._troubles.stops(error):
                return self._stop(error)
            try:
                self._troubles.trouble(Untracked("capture", f"{type(e).__name__}: {e}"), error)
            except ProvSparkError as stop:
                return self._stop(stop)
            return None

    def resume(self) -> None:
        """Handle the commands of a new SparkContext."""
        self._over = False

    def abandon(self) -> None:
        """Record the commands that have not ended, because the step or its SparkContext ends now."""
        self._over = True
        while self._steps:
            _, (steps, name, site) = self._steps.popitem()
            steps.close()
            self._troubles.note(Untracked(name, _LATE, site))

    def error(self, message: str) -> Exception | None:
        """Return the error behind the message of a `CaptureStop`, or None for any other message."""
        return self._errors.get(message.removeprefix(_STOP)) if message.startswith(_STOP) else None

    def _stop(self, error: Exception) -> str:
        key = str(len(self._errors))
        self._errors[key] = error.with_traceback(None)
        return _STOP + key

    def _begin(self, node: Any) -> Any:
        command = Command(self._session(node.session()), node)
        steps = self._capture(command)
        plan = _next(steps, None)
        if plan is None:
            return None
        if node.abandoned() or self._over:  # meanwhile Spark runs the command, or has run it
            steps.close()
            return None
        self._steps[_key(node)] = steps, command.name, caller()
        return None if plan is PLAIN else plan

    def _ended(self, event: str, node: Any) -> Any:
        begun = self._steps.pop(_key(node), None)
        if begun is None:
            if node.abandoned() and event == "done":
                self._troubles.note(Untracked(str(node.name()), _SLOW.format(self._limit / 60), caller()))
            return None
        again = _next(begun[0], None if event == "done" else _error(node.error()))
        if again is not None and event == "failed":  # after "done", it is a plan to count, and the last
            self._steps[_key(node)] = begun
        return again


def _next(steps: Steps, outcome: Exception | None) -> Any:
    try:
        return steps.send(outcome)
    except StopIteration:
        return None


def _key(node: Any) -> int:
    return int(node.hashCode())


def _error(throwable: Any) -> Exception:
    from pyspark.errors.exceptions.captured import convert_exception

    error: Exception = convert_exception(throwable)
    return error
