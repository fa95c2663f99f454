"""Capture of the files that a script reads and writes on the driver during a step."""

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
    """Records files that the script opens, copies or moves in this process without Spark.

    It listens to Python's audit events, and patches pyarrow, whose readers and writers raise none. It ignores the own
    files of libraries, and logs and temporary files that nothing reads.

    Parameters
    ----------
    frames : Frames, optional
        Distinguishes the script's frames from those of libraries.
    leave_out : iterable of str
        Folders whose files are ignored, such as the store's.
    """

    def __init__(self, frames: Frames | None = None, leave_out: Iterable[str] = ()) -> None:
        self._journal = Journal(frames or Frames(), LeftOut(leave_out))
        self._arrow = ArrowPatches(self._journal)
        self._replay = JournalReplay()
        self._reading = threading.Lock()
        self._reads: list[FileRead] = []
        self._writes: list[FileWrite] = []

    def begin(self) -> None:
        """Start recording."""
        self._arrow.install()
        hook.listen(self._journal.handlers)

    def end(self) -> None:
        """Stop recording; `take` still returns what was recorded."""
        try:
            hook.stop()
        finally:
            self._arrow.remove()

    def take(self, paths: Collection[str] = (), *, final: bool = False) -> list[FileRead | FileWrite]:
        """Return the files that the driver read since the last call, in order, with its own earlier writes to them.

        Parameters
        ----------
        paths : collection of str
            Absolute paths of files or folders that Spark or another reader is about to read: files that the driver
            wrote there are returned as well, in their present state.
        final : bool
            Whether the step ends: all files that were written and still exist are returned as well.
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
                why = f"{path} is still open when the step ends, so its final content is unknown; close it before"
                self._journal.lose(Untracked("open", why))
        except Exception as e:
            self._journal.failed(e)

    def reads(self) -> list[FileRead]:
        """Return the files that were read since the last call."""
        self._sort(self.take())
        reads, self._reads = self._reads, []
        return reads

    def written(self) -> list[FileWrite]:
        """Return the files that the step wrote and that still exist, and forget them; call it when the step ends."""
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
        """Return, and forget, the lines that forked this process or started another one that runs Spark."""
        return self._journal.take_processes()

    def lost(self) -> list[Untracked]:
        """Return, and forget, the reasons why some files were not captured."""
        return self._journal.take_lost()
