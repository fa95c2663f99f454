"""Reads of the script on the driver, in order. Each read is a dataset of its own in the step's manifest.

When a write follows or the step ends, a read is resolved: the rows of its inputs are counted, and its edges are stored.
The rows of all reads are numbered consecutively, so one box relates a later write to all reads before it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from provspark.index_store.store.writer import StepWriter
from provspark.model.datasets import Dataset, Field
from provspark.model.driver_datasets import driver_version
from provspark.model.errors import ProvSparkError
from provspark.model.pending import PendingVersion, PendingWrite
from provspark.model.steps import Setting
from provspark.model.writes import Untracked
from provspark.tracker.session.possible_edges import Behind, attached, one_range
from provspark.tracker.session.troubles import log

__all__ = ["DriverReads", "Known", "OpenRead", "Read", "place"]

Known = dict[str, PendingVersion]
"""Versions with counted rows, by identity."""


class Read(Protocol):
    """A call that returned values to the script."""

    @property
    def action(self) -> str:
        """Method of the call, such as ``DataFrame.collect``."""

    @property
    def site(self) -> str:
        """``file:line`` of the call."""

    @property
    def rows(self) -> int:
        """Number of rows that it returned."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """Columns of the rows."""

    @property
    def single(self) -> bool:
        """Whether it returned one number computed from all rows."""

    def settle(self, dataset: Dataset, known: Known) -> None:
        """Count the rows of what it read from a dataset that is about to change. Add counted versions to `known`."""

    def resolve(self, output: PendingVersion, known: Known) -> PendingWrite:
        """Return the read with its edges, or raise CaptureError if they are lost."""


class OpenRead(Protocol):
    """A call whose rows the script consumes one by one. `Taking` implements it; a protocol avoids a circular import."""

    @property
    def before(self) -> Behind | None:
        """Reads before the call that its rows may derive from."""

    def taken(self) -> Read | None:
        """Return a read of the rows consumed since the last call of this method, or None if there are none."""


@dataclass(slots=True)
class _Entry:
    read: Read
    version: PendingVersion
    start: int
    """Number of rows of the reads before it."""
    behind: Behind
    stored: bool = False

    @property
    def end(self) -> int:
        return self.start + self.read.rows


class DriverReads:
    """Reads of one step.

    Parameters
    ----------
    step : StepWriter
        Stores the reads.
    name : str
        Id of the step.
    """

    def __init__(self, step: StepWriter, name: str) -> None:
        self._step, self._name = step, name
        self._entries: list[_Entry] = []
        self._open: list[OpenRead] = []
        self._known: Known = {}
        self._lock = threading.RLock()
        self.setting: Setting = "on"
        self.catch_up: Callable[[], None] = _nothing
        """Called before a read is added or a write begins. Appends earlier reads of files, which are noticed late."""

    def add(self, read: Read, behind: Behind | None = None) -> int:
        """Append a read after catching up with earlier ones. Return its number.

        Its rows may derive from the reads in `behind`.
        """
        self.catch_up()
        return self.append(read, behind)

    def append(self, read: Read, behind: Behind | None = None) -> int:
        """Append a read without catching up. Return its number."""
        with self._lock:
            call, start = len(self._entries), self.rows()
            now = int(time.time() * 1000)
            version = driver_version(self._name, call, place(read.site), read.rows, fields=read.fields, read_at=now)
            self._entries.append(_Entry(read, version, start, behind or Behind(start)))
            return call

    def follow(self, read: OpenRead) -> None:
        """Register an iterator. `take` appends the rows that the script has consumed from it."""
        with self._lock:
            self._open.append(read)

    def cut(self) -> int:
        """Catch up, and return the number of reads before a write that begins."""
        self.catch_up()
        return self.take()

    def take(self) -> int:
        """Append the rows that the script consumed from iterators. Return the number of reads."""
        with self._lock:
            for each in self._open:
                read = each.taken()
                if read is not None:
                    self.append(read, each.before)
            return len(self._entries)

    def rows(self, cut: int | None = None) -> int:
        """Return the number of rows of the first `cut` reads, or of all reads if it is None."""
        with self._lock:
            entries = self._entries if cut is None else self._entries[:cut]
            return entries[-1].end if entries else 0

    def of_rows(self, cut: int) -> bool:
        """Whether any of the first `cut` reads returned more than one number."""
        with self._lock:
            return any(not entry.read.single for entry in self._entries[:cut])

    def is_single(self, number: int) -> bool:
        """Whether a read returned one number."""
        return self._entries[number].read.single

    def numbers(self, cut: int) -> frozenset[str]:
        """Return the lines (``file:line``) whose reads, among the first `cut`, all returned one number."""
        with self._lock:
            lines: dict[bool, set[str]] = {False: set(), True: set()}
            for entry in self._entries[:cut]:
                lines[entry.read.single].add(entry.read.site)
        return frozenset(lines[True] - lines[False])

    def span(self, number: int) -> range:
        """Return the range of a read's rows among the rows of all reads."""
        with self._lock:
            return range(self._entries[number].start, self._entries[number].end)

    @property
    def begun(self) -> bool:
        """Whether the script has read anything."""
        if not self._entries:
            self.catch_up()
        return bool(self._entries or self._open)

    @property
    def count(self) -> int:
        """Number of reads, without rows of iterators that `take` has not appended yet."""
        return len(self._entries)

    @property
    def taking(self) -> bool:
        """Whether the script may still consume rows from an iterator."""
        return bool(self._open)

    def settle(self, dataset: Dataset) -> None:
        """Count the rows of what was read from a dataset that is about to change."""
        with self._lock:
            for entry in self._entries:
                if not entry.stored:
                    _guarded(lambda read=entry.read: read.settle(dataset, self._known))  # type: ignore[misc]

    def known(self, write: PendingWrite) -> None:
        """Add the versions of a write, whose rows are counted."""
        with self._lock:
            self._learn((write.output, *write.inputs))

    def _learn(self, versions: Iterable[PendingVersion]) -> None:
        """Add versions whose rows Spark counted, but not those of files that the driver opened."""
        for version in versions:
            if version.unit == "row" and version.fields:
                self._known.setdefault(version.files.identity(version.dataset), version)

    def flush(self) -> None:
        """Store the reads that are not stored yet, in order."""
        with self._lock:
            waiting = [entry for entry in self._entries if not entry.stored]
            for i, entry in enumerate(waiting, 1):
                entry.stored = True
                self._store(entry, more=i < len(waiting))

    def _store(self, entry: _Entry, *, more: bool) -> None:
        read = entry.read
        try:
            made = read.resolve(entry.version, self._known)
            made = attached(made, one_range(read.rows), entry.behind)
            self._learn(made.inputs)
            self._step.add_read(self._described(made, read), more=more)
        except Exception as e:
            log.debug("provspark: the lineage of a read is lost", exc_info=e)
            reason = Untracked(read.action, f"the lineage of its rows is lost: {said(e)}", read.site)
            self._step.add_read(self._described(PendingWrite(entry.version, "untracked", reason=reason), read))

    @staticmethod
    def _described(made: PendingWrite, read: Read) -> PendingWrite:
        return replace(made, action=read.action, single=read.single, site=read.site)


def place(site: str) -> str:
    """Return ``SCRIPT:LINE`` of a ``file:line``.

    >>> place("/jobs/daily/clean.py:12")
    'clean.py:12'
    """
    return site.replace("\\", "/").rsplit("/", 1)[-1].replace("#", "_").replace("?", "_") or "unknown"


def said(error: Exception) -> str:
    """Return the message of an error, with its type unless it is a ProvSparkError."""
    return str(error) if isinstance(error, ProvSparkError) else f"{type(error).__name__}: {error}"


def _nothing() -> None:
    """Do nothing."""


def _guarded(call: Callable[[], None]) -> None:
    try:
        call()
    except Exception as e:  # the read reports it when it is stored
        log.debug("provspark: the rows of a read's source could not be counted", exc_info=e)
