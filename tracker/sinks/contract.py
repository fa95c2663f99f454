"""What sinks take from the top tap and give to sealing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from provspark.model.arrays import Int64
from provspark.model.datasets import Dataset
from provspark.model.pending import PendingVersion, PendingWrite


@dataclass(frozen=True, slots=True)
class TapRuns:
    """What the top tap saw in one task of the stage that wrote; a task without rows has none.

    Parameters
    ----------
    partition : int
        The task's partition id, which is the number in its files' names.
    runs : tuple of (value, rows)
        In write order: the string expression's value (``""`` where there was none) and how many rows had it.
    """

    partition: int
    runs: tuple[tuple[str, int], ...]

    @property
    def rows(self) -> int:
        """Rows of the task."""
        return sum(n for _, n in self.runs)


@dataclass(frozen=True, slots=True)
class WriteMetrics:
    """What Spark's own metrics of the write command say: files, their bytes, rows."""

    files: int
    bytes: int
    rows: int


@dataclass(frozen=True, slots=True)
class Written:
    """The version that a write left, and where each task's rows are in it.

    Piece i says: ``counts[i]`` rows of task ``partitions[i]``, from its row ``offsets[i]`` on, became the row ids
    from ``rows[i]`` on. Sorted by (partition, offset); the pieces of a task are gapless from its row 0.
    """

    version: PendingVersion
    partitions: Int64
    offsets: Int64
    counts: Int64
    rows: Int64


class Output(Protocol):
    """One write's output: what it aims at, how the tap must stand below it, and where each task's rows went."""

    @property
    def dataset(self) -> Dataset:
        """The data set that is written."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which the plan's columns are written by their position; none where they go by name."""

    @property
    def skips(self) -> bool:
        """Whether Spark will write nothing here."""

    @property
    def analysed(self) -> bool:
        """Whether Spark asks the analysed plan which columns may be null here, not the optimised one."""

    def undone(self) -> bool:
        """Whether a write that failed left nothing that a second one would double or run into."""

    def shape(self, plan: Any) -> tuple[Any, Any | None]:
        """Return what must stand below the tap, and the string expression for the tap."""

    def finish(self, tapped: Sequence[TapRuns], metrics: WriteMetrics | None = None) -> Written:
        """Read what the write left."""

    def complete(self, sealed: PendingWrite) -> PendingWrite:
        """Add what only the sink knows."""

    def observe(self) -> PendingVersion:
        """Read what a write without a tap left."""

    def is_own(self, kind: str, path: str) -> bool:
        """Whether what Spark's listener saw, a command and a path, may be this write."""
