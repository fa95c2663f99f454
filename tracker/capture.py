"""Capture of a running script, from its start until the step is published."""

from __future__ import annotations

import platform
import traceback
from datetime import datetime, timezone

from provspark.index_store.store.writer import StepWriter
from provspark.model.release import __version__
from provspark.model.steps import Manifest, OnError
from provspark.model.writes import Untracked
from provspark.tracker.boundary import Boundary
from provspark.tracker.files.step_files import FilesOfDriver
from provspark.tracker.intercept.patches import Interception
from provspark.tracker.script import program
from provspark.tracker.session.driver_reads import DriverReads
from provspark.tracker.session.read_capture import ReadCapture
from provspark.tracker.session.script_capture import ScriptCapture
from provspark.tracker.session.sessions import Sessions
from provspark.tracker.session.troubles import Troubles
from provspark.tracker.session.write_capture import Cost, WriteCapture
from provspark.tracker.spark.supported import check_version


class Capture:
    """Capture of one running step. Every command of its sessions passes through it.

    Errors of capture don't reach the script unless `on_error` is ``fail``: the plain write runs, and the step records
    why it is untracked. All code that runs around the script's own calls is within the `boundary`.
    """

    def __init__(
        self,
        step: StepWriter | None,
        store: str,
        name: str,
        on_error: OnError,
        *,
        profile: bool = False,
    ) -> None:
        self._step = step
        self._troubles = Troubles(on_error)
        self.boundary = Boundary(self._troubles)
        if step is not None:
            self._sessions = Sessions(step.taps)
            self._reads = DriverReads(step, name)
            self._files = FilesOfDriver(step, self._reads, self._troubles, store)
            self._reading = ReadCapture(self._sessions, self._reads, self.boundary, self._files, step.taps)
            shared = self._sessions, self._reading, self._reads, self._files, self._troubles
            self._writing = WriteCapture(step, store, name, *shared, profile=profile)
            parts = self._sessions, self._reads, self._reading, self._writing, self._troubles, self.boundary
            self._script = ScriptCapture(*parts)
            self._interception = Interception(self._script, self._reading)
        self._engine: dict[str, str] = {"python": platform.python_version(), "provspark": __version__}
        self._started = _now()
        self.manifest: Manifest | None = None

    @property
    def untracked(self) -> tuple[Untracked, ...]:
        """Reasons why parts of this step were not captured. Empty if everything was."""
        return self._troubles.reasons

    @property
    def costs(self) -> list[Cost]:
        """Time that capture took for each write."""
        return [] if self._step is None else self._writing.costs

    def begin(self) -> None:
        """Patch pyspark and start to capture.

        Raises
        ------
        CaptureError
            This version of Spark is not supported.
        """
        check_version()
        program().begin()
        self._interception.install()
        self._files.begin()

    def withdraw(self) -> None:
        """Undo a `begin` that failed halfway."""
        script = self._script
        for undo in (self._interception.remove, self._files.end, script.stop_intercepting, self._sessions.restore):
            with self.boundary.guard(f"{undo.__qualname__} failed"):
                undo()

    def lost(self, reason: Untracked) -> None:
        """Record that the script runs without capture, and why."""
        self._troubles.note(reason)

    def end(self, error: BaseException | None) -> None:
        """Stop capturing and publish the step. `error` is what the script raised, if anything."""
        if self._step is None:
            return
        self._interception.remove()
        self._files.end()
        failed = error is not None and not (isinstance(error, SystemExit) and error.code in (None, 0))
        with self.boundary.guard("", "publish", sited=False, fatal=error is None):
            self._script.stop_intercepting()
            self._files.at_end()  # appends reads of files, which `store_reads` stores
            self._script.store_reads()
            self._sessions.restore()
            self._writing.profile()
            self._engine["capture"] = f"{sum(c.rewrite + c.seal for c in self.costs):.3f} s"
            self.manifest = self._step.publish(
                status="failed" if failed else "succeeded",
                started=self._started,
                ended=_now(),
                untracked=self.untracked,
                engine=tuple(sorted((self._engine | self._script.engine).items())),
                error="" if not failed else "".join(traceback.format_exception_only(error)).strip(),
                driver_reads=self._reads.setting,
            )


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")
