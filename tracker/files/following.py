"""Brings files that the driver reads and writes into the step, in step with what Spark reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Protocol

from provspark.index_store.model import PendingWrite, Untracked
from provspark.tracker.files.driver import DriverFiles
from provspark.tracker.files.model import FileRead, FileWrite, now_ns
from provspark.tracker.files.stored import FilesRead, files_read, files_written
from provspark.tracker.files.versions import KnownFiles
from provspark.tracker.troubles import Troubles

__all__ = ["FilesOfDriver", "Reads"]


class Reads(Protocol):
    """The reads of a step on the driver, as far as files need them."""

    @property
    def taking(self) -> bool:
        """Whether the script may be taking rows from an iterator."""

    def add(self, read: FilesRead, /) -> object:
        """Append a read."""

    def cut(self) -> int:
        """Append what was taken of iterators; return how many reads there are."""

    def rows(self) -> int:
        """Return how many rows all reads returned."""

    def flush(self) -> None:
        """Store the reads that are not stored yet."""


class FilesOfDriver:
    """The files that the driver of one step reads and writes.

    What fails in here is noted, and never reaches the script unless it asked for that.

    Parameters
    ----------
    files : DriverFiles
    reads : Reads
        Takes reads of files, among the other reads.
    add : callable
        Stores a write.
    troubles : Troubles
    """

    def __init__(
        self, files: DriverFiles, reads: Reads, add: Callable[[PendingWrite], object], troubles: Troubles
    ) -> None:
        self._files, self._reads, self._add, self._troubles = files, reads, add, troubles
        self._known = KnownFiles()
        self._marks: list[tuple[int, int]] = []
        """Times, and how many rows had been read before them."""

    def begin(self) -> None:
        """Start to notice files."""
        self._files.begin()

    def end(self) -> None:
        """Stop noticing; `at_end` can still be called."""
        self._files.end()

    def before_read(self, paths: Sequence[str] = ()) -> None:
        """Add the reads of files until now, just before another read is added.

        Parameters
        ----------
        paths : sequence of str
            Files or folders that this other read takes: what the driver wrote there is stored as a write before it.
        """
        self._guarded(lambda: self._bring(paths))

    def before_write(self) -> None:
        """Add the reads of files until now, just before a write looks for what was read before it."""
        self.before_read()

    def sealed(self, write: PendingWrite) -> None:
        """Learn the versions of a write or read of Spark, and store what the driver had written of its inputs.

        Call it before the write is added.
        """

        def learn() -> None:
            self._known.learn(write)
            paths = [v.dataset.name for v in write.inputs if v.dataset.namespace == "file"]
            if paths:
                self._bring(paths)

        self._guarded(learn)

    def at_end(self) -> None:
        """Add all reads and writes of files that are left, and what could not be followed."""
        self._guarded(lambda: self._bring((), final=True))
        for reason in (*self._files.lost(), *self._files.forks()):
            self._troubles.note(reason)

    def _guarded(self, call: Callable[[], None]) -> None:
        try:
            call()
        except Exception as e:
            self._troubles.trouble(Untracked("files", f"files of the driver are lost: {type(e).__name__}: {e}"), e)

    def _bring(self, paths: Sequence[str], *, final: bool = False) -> None:
        for group in _alike(self._files.take(paths, final=final)):
            reads = [each for each in group if isinstance(each, FileRead)]
            writes = [each for each in group if isinstance(each, FileWrite)]
            for read in files_read(reads, self._known):
                first = min(r.at_ns for r in reads if r.site == read.site)
                self._marks.append((first, self._reads.rows()))
                self._reads.add(read)
            if writes:
                self._write(writes)
        self._marks.append((now_ns(), self._reads.rows()))

    def _write(self, writes: Sequence[FileWrite]) -> None:
        self._reads.cut()
        self._reads.flush()
        for bound, members in groupby(sorted(writes, key=self._bound), self._bound):
            for write in files_written(list(members), bound, self._known):
                self._known.learn(write)
                self._add(write)

    def _bound(self, write: FileWrite) -> int:
        """Return how many rows had been read before a file was closed."""
        if self._reads.taking:
            return self._reads.rows()
        return min((rows for at, rows in self._marks if at > write.until_ns), default=self._reads.rows())


def _alike(found: Sequence[FileRead | FileWrite]) -> Iterator[list[FileRead | FileWrite]]:
    """Cut a list where reads follow writes, or writes reads."""
    for _, group in groupby(found, type):
        yield list(group)
