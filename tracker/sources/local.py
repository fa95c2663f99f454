"""Rows that only the script contains: local data, ``VALUES`` and ranges. A row's id is its position.

The dataset of local rows is named by the line that made them, and its version by their content and order. A range is
named by its bounds and step, so it always has the same version.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from provspark.model.datasets import Dataset, Field, Files
from provspark.model.errors import CaptureError, UnsupportedPlanError
from provspark.model.pending import PendingVersion
from provspark.tracker.families.cached import RANGE
from provspark.tracker.sources.contract import Segments

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm

FORMAT = "memory"
"""Format of versions whose values can't be read again."""
_PARTITION = 1 << 33
"""Number of addresses per partition of an RDD."""
_MOST = 1 << 62


def local_dataset(site: str) -> Dataset:
    """Return the dataset of rows made by a line of the script."""
    return Dataset("memory://local", site.strip("/").replace("#", "_").replace("?", "_").replace(os.sep, "/"))


class LocalScan:
    """Scan of rows that the script made.

    Parameters
    ----------
    jvm : Jvm
    node : LocalRelation or LogicalRDD
    site : str
        ``file:line`` that made the rows, or "".
    """

    def __init__(self, jvm: Jvm, node: Any, site: str) -> None:
        self._java: Any = jvm.new("LocalRows", node)
        self._site = site
        self.plan, self.listing = self._java.leaf(), None
        self._counted: tuple[str, list[int]] | None = None

    @property
    def dataset(self) -> Dataset:
        """Dataset named by the script's line, or by the rows' hash if the line is unknown."""
        return local_dataset(self._site or self._content()[0])

    def _content(self) -> tuple[str, list[int]]:
        if self._counted is None:
            digest, *counts = self._java.count().split(" ")
            self._counted = digest, [int(n) for n in counts]
        return self._counted

    def finish(self) -> tuple[PendingVersion, Segments]:
        """Count the rows of each partition; see `Scan.finish`."""
        digest, lengths = self._content()
        counts = np.array(lengths, dtype=np.int64)
        rows = np.cumsum(counts) - counts
        if len(counts) and counts.max() >= _PARTITION:
            raise CaptureError(
                f"a partition of {self.dataset} has {int(counts.max())} rows, and capture can number fewer than "
                f"{_PARTITION}; repartition the data"
            )
        version = _version(self._java, self.dataset, digest, int(counts.sum()))
        return version, Segments(np.arange(len(counts), dtype=np.int64) * _PARTITION, rows, counts)


class RangeScan:
    """Scan of a range, in which each value is its row's address."""

    def __init__(self, jvm: Jvm, node: Any) -> None:
        self._java: Any = jvm.new("LocalRows", node)
        self._start, self._step, self._size = map(int, self._java.range().split(" "))
        last = self._start + self._step * max(self._size - 1, 0)
        if self._size >= _MOST or max(abs(self._start), abs(last)) >= _MOST:
            raise UnsupportedPlanError(
                RANGE,
                f"it has {self._size} values from {self._start} to {last}, more or larger ones than capture can "
                f"number; use a smaller range",
            )
        self.plan, self.listing = self._java.leaf(), None
        self.dataset = Dataset("memory://range", f"{self._start},{last + self._step},{self._step}")

    def finish(self) -> tuple[PendingVersion, Segments]:
        """Return the range as a version with one segment; see `Scan.finish`."""
        zero = np.zeros(1, dtype=np.int64)
        version = _version(self._java, self.dataset, self.dataset.name, self._size)
        return version, Segments(zero + self._start, zero, zero + self._size, self._step)


def _version(java: Any, dataset: Dataset, content: str, rows: int) -> PendingVersion:
    names = java.fields().split("\0")[:-1]
    fields = tuple(Field(n, t) for n, t in zip(names[::2], names[1::2], strict=True))
    return PendingVersion(dataset, Files.of([(content, 0, 0, rows, False)]), FORMAT, fields=fields)


class LocalSites:
    """Registry of the script's lines that made local rows, and of RDDs that contain only such rows."""

    def __init__(self, jvm: Jvm) -> None:
        self._java: Any = jvm.new("LocalRowSites")

    def note(self, jdf: Any, site: str, *, local: bool) -> None:
        """Register a DataFrame that this line made: from rows if `local`, otherwise from a query."""
        self._java.note(jdf.queryExecution().analyzed(), site, local)

    def unknown(self, jdf: Any) -> bool:
        """Whether a DataFrame has local rows that no registered line made."""
        return bool(self._java.unknown(jdf.queryExecution().analyzed()))

    def handed(self, rdd: Any) -> bool:
        """Whether a plan's RDD contains only rows that the script passed to Spark, and computes nothing."""
        return self._java.site(rdd) is not None

    def scan(self, jvm: Jvm, node: Any, kind: str) -> LocalScan | RangeScan:
        """Return a scan of rows that the script made."""
        return RangeScan(jvm, node) if kind == RANGE else LocalScan(jvm, node, self._java.site(node))
