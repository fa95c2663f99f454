"""Interface between sinks, sealing and the tap above a write's plan (for these words, see docs/glossary.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from provspark.model.arrays import Int64
from provspark.model.datasets import Dataset
from provspark.model.pending import PendingVersion, PendingWrite


@dataclass(frozen=True, slots=True)
class TapRuns:
    """Records of the top tap for one task of the stage that wrote. Tasks without rows have none.

    Parameters
    ----------
    partition : int
        The task's partition id, which is also the number in its files' names.
    runs : tuple of (value, rows)
        In write order: a value of the string expression (``""`` without one), and its number of consecutive rows.
    """

    partition: int
    runs: tuple[tuple[str, int], ...]

    @property
    def rows(self) -> int:
        """Number of rows of the task."""
        return sum(n for _, n in self.runs)


@dataclass(frozen=True, slots=True)
class WriteMetrics:
    """Spark's own metrics of the write command: number of files, their total bytes, and number of rows."""

    files: int
    bytes: int
    rows: int


@dataclass(frozen=True, slots=True)
class Written:
    """The version that a write made, and the row ids of each task's rows in it.

    Piece i means: ``counts[i]`` rows of task ``partitions[i]``, starting at its row ``offsets[i]``, have consecutive
    row ids starting at ``rows[i]``. Pieces are sorted by (partition, offset). Those of a task start at its row 0 and
    leave no gap.
    """

    version: PendingVersion
    partitions: Int64
    offsets: Int64
    counts: Int64
    rows: Int64


class Output(Protocol):
    """Output of one write: its target, the plan below the tap, and the rows that it wrote."""

    @property
    def dataset(self) -> Dataset:
        """The dataset that is written."""

    @property
    def skips(self) -> bool:
        """Whether Spark will write nothing."""

    @property
    def analysed(self) -> bool:
        """Whether Spark takes the columns' nullability from the analysed plan instead of the optimised one."""

    def undone(self) -> bool:
        """Whether a failed write left nothing behind that a second one would duplicate or fail on."""

    def shape(self, plan: Any) -> tuple[Any, Any | None]:
        """Return the plan to put below the tap, and the string expression that the tap records."""

    def finish(self, tapped: Sequence[TapRuns], metrics: WriteMetrics | None = None) -> Written:
        """Return the version that the write made, and the row ids of each task's rows."""

    def complete(self, sealed: PendingWrite) -> PendingWrite:
        """Add lineage that only the sink knows to a sealed write."""

    def observe(self) -> PendingVersion:
        """Return the version that a write without a tap made."""
