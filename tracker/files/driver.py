"""The files that a script reads and writes in the driver, while a step is captured."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterable

from provspark.model.writes import Untracked
from provspark.tracker.files import audit_hook as hook
from provspark.tracker.files.arrow import ArrowPatches
from provspark.tracker.files.exclusions import LeftOut
from provspark.tracker.files.file import FileRead, FileWrite
from provspark.tracker.files.frames import Frames
from provspark.tracker.files.journal import Journal
from provspark.tracker.files.open_files import flush_open
from provspark.tracker.files.replay import JournalReplay

__all__ = ["DriverFiles"]


class DriverFiles:
    """Notices files that the script opens, copies or moves in this process, other than by Spark.

    It hears of them by Python's audit events, and by patches of pyarrow, whose readers and writers raise none. It
    leaves out what libraries read of their own, logs, and temporary files that nobody else reads.

    Parameters
    ----------
    frames : Frames, optional
        Tells the script's lines from those of libraries.
    leave_out : iterable of str
        Folders whose files are left out, such as the store's.
    """

    def __init__(self, frames: Frames | None = None, leave_out: Iterable[str] = ()) -> None:
        self._journal = Journal(frames or Frames(), LeftOut(leave_out))
        self._arrow = ArrowPatches(self._journal)
        self._replay = JournalReplay()
        self._reading = threading.Lock()
        self._reads: list[FileRead] = []
        self._writes: list[FileWrite] = []

    def begin(self) -> None:
        """Start to listen."""
        self._arrow.install()
        hook.listen(self._journal.handlers)

    def end(self) -> None:
        """Stop listening; what was noted can still be taken."""
        try:
            hook.stop()
        finally:
            self._arrow.remove()

    def take(self, paths: Collection[str] = (), *, final: bool = False) -> list[FileRead | FileWrite]:
        """Return, once, what the driver read since the last call, in order, and what it wrote before.

        Parameters
        ----------
        paths : collection of str
            Absolute paths of files or folders that something else is about to read, such as Spark: what the driver
            wrote there comes as well, in its present state.
        final : bool
            The step ends: all files that were written and exist come.
        """
        with self._reading:
            records = list(self._replay.play(self._journal.take()))
            records += self._replay.written({*paths, *map(os.path.realpath, paths)}) if paths else ()
            if final:
                self._flush()
                records += self._replay.written()
            return records

    def _flush(self) -> None:
        try:
            for path in flush_open(self._replay.paths):
                why = f"{path} is still open when the step ends; what it will be then is not known"
                self._journal.lose(Untracked("open", why))
        except Exception as e:
            self._journal.failed(e)

    def reads(self) -> list[FileRead]:
        """Return, once, the files that were read since the last call."""
        self._sort(self.take())
        reads, self._reads = self._reads, []
        return reads

    def written(self) -> list[FileWrite]:
        """Return, once, the files that the step wrote and that exist; call it when the step ends."""
        self._sort(self.take(final=True))
        writes, self._writes = self._writes, []
        return writes

    def _sort(self, records: list[FileRead | FileWrite]) -> None:
        for each in records:
            if isinstance(each, FileRead):
                self._reads.append(each)
            else:
                self._writes.append(each)

    def processes(self) -> list[Untracked]:
        """Return, once, the lines that forked this process, or started one that runs Spark."""
        return self._journal.take_processes()

    def lost(self) -> list[Untracked]:
        """Return, once, what could not be followed."""
        return self._journal.take_lost()
