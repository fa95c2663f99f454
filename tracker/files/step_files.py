"""Add the files that the driver reads and writes to the step, in order with Spark's reads and writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from provspark.index_store.store.writer import StepWriter
from provspark.model.datasets import Dataset
from provspark.model.pending import PendingWrite
from provspark.model.writes import Untracked
from provspark.tracker.files.driver import DriverFiles
from provspark.tracker.files.file import FileRead, FileWrite, now_ns
from provspark.tracker.files.records import by_call, by_dataset, files_read, files_written
from provspark.tracker.files.versions import KnownFiles
from provspark.tracker.session.driver_reads import DriverReads
from provspark.tracker.session.troubles import Troubles, log

__all__ = ["FilesOfDriver"]


class FilesOfDriver:
    """The files that the driver reads and writes during one step.

    Errors are recorded in `troubles`, which decides whether they reach the script.

    Parameters
    ----------
    step : StepWriter
        Receives writes of files.
    reads : DriverReads
        Receives reads of files, among the step's other reads.
    troubles : Troubles
    store : str
        The store's folder or URL, whose files are ignored.

    Attributes
    ----------
    adding : Lock
        Locked while a write is added to the step.
    """

    def __init__(self, step: StepWriter, reads: DriverReads, troubles: Troubles, store: str) -> None:
        self.adding = threading.Lock()
        at = Dataset.parse(store)
        self._files = DriverFiles(leave_out=[at.name] if at.namespace == "file" else [])
        self._step, self._reads, self._troubles = step, reads, troubles
        self._known = KnownFiles()
        self._marks: list[tuple[int, int]] = []
        """Times, each with the number of rows that the step had read before it."""
        self._bringing = threading.RLock()
        reads.catch_up = self.catch_up

    def begin(self) -> None:
        """Start recording files."""
        self._guarded(self._files.begin)

    def end(self) -> None:
        """Stop recording; you can still call `at_end`."""
        try:
            self._files.end()
        except Exception as e:
            log.debug("provspark: Could not remove the hooks that record files of the driver", exc_info=e)

    def catch_up(self) -> None:
        """Append all reads of files so far to the step's reads."""
        self._guarded(lambda: self._bring(()))

    def listed(self, dataset: Dataset) -> None:
        """Store the driver's writes to files that Spark is about to read."""
        if dataset.namespace == "file":
            self._guarded(lambda: self._bring([dataset.name]))

    def sealed(self, write: PendingWrite) -> None:
        """Remember the versions of one of Spark's writes, and store the driver's writes to its inputs.

        Call it before the write is added.
        """

        def learn() -> None:
            self._known.learn(write)
            paths = [v.dataset.name for v in write.inputs if v.dataset.namespace == "file"]
            if paths:
                self._bring(paths)

        self._guarded(learn)

    def at_end(self) -> None:
        """Add the remaining reads and writes of files, and the reasons why some were not captured."""
        self._guarded(lambda: self._bring((), final=True))
        for reason in (*self._files.lost(), *self._files.processes()):
            self._troubles.note(reason)

    def _guarded(self, call: Callable[[], None], of: FileRead | FileWrite | None = None) -> None:
        try:
            call()
        except Exception as e:
            what, node, site = "files of the driver are", "files", ""
            if of is not None:
                what, node, site = f"lineage of {of.file.path!r} is", of.action, of.site
            self._troubles.trouble(Untracked(node, f"{what} lost: {type(e).__name__}: {e}", site), e)

    def _bring(self, paths: Sequence[str], *, final: bool = False) -> None:
        with self._bringing:
            records = self._files.take(paths, final=final)
            for group in _alike(records if self._reads.setting == "on" else ()):
                self._read([each for each in group if isinstance(each, FileRead)])
                self._write([each for each in group if isinstance(each, FileWrite)])
            self._marks.append((now_ns(), self._reads.rows()))

    def _read(self, reads: Sequence[FileRead]) -> None:
        for members in by_call(reads):
            self._guarded(lambda call=members: self._read_call(call), members[0])  # type: ignore[misc]

    def _read_call(self, reads: Sequence[FileRead]) -> None:
        read = files_read(reads, self._known)
        self._marks.append((min(r.at_ns for r in reads), self._reads.rows()))
        self._reads.append(read)

    def _write(self, writes: Sequence[FileWrite]) -> None:
        if not writes:
            return
        self._reads.take()
        for bound, members in groupby(sorted(writes, key=self._bound), self._bound):
            for name, group in by_dataset(list(members)):
                self._guarded(lambda n=name, g=group, b=bound: self._write_dataset(n, g, b), group[-1])  # type: ignore[misc]

    def _write_dataset(self, name: str, writes: Sequence[FileWrite], bound: int) -> None:
        write = files_written(name, writes, bound, self._known)
        with self.adding:
            self._reads.flush()
            self._step.add(write)
        self._known.learn(write)

    def _bound(self, write: FileWrite) -> int:
        """Return the number of rows that the step had read before a file was closed."""
        if self._reads.taking:
            return self._reads.rows()
        return min((rows for at, rows in self._marks if at > write.until_ns), default=self._reads.rows())


def _alike(records: Sequence[FileRead | FileWrite]) -> Iterator[list[FileRead | FileWrite]]:
    """Split a list into runs of only reads or only writes."""
    for _, group in groupby(records, type):
        yield list(group)
