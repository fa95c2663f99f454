"""Data sets whose values the script brought to the driver: any row written later may have been computed from them.

Each is context of every row that a later write makes, as a whole: one box. What is shown only (`show`, `explain`,
`printSchema`) gives the program nothing, and what the script handed over itself it knew before. Of a read only the
list of files is taken; rows are counted when a write is sealed, unless a write of the step read the same version.

The session's setting ``spark.provspark.driverReads``, where ``false``, leaves all of it out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from provspark.errors import CaptureError, ProvSparkError, UnsupportedPlanError
from provspark.index_store.model import (
    Axis,
    Boxes,
    Dataset,
    PendingTensor,
    PendingVersion,
    PendingWrite,
    Untracked,
)
from provspark.tracker.sinks import Written
from provspark.tracker.sources import Segments
from provspark.tracker.sources.relation import list_files, scan_files

if TYPE_CHECKING:
    from provspark.tracker.caches import Caches
    from provspark.tracker.jvm import Jvm

ACTIONS = (
    "approxQuantile",
    "collect",
    "corr",
    "count",
    "cov",
    "first",
    "head",
    "isEmpty",
    "tail",
    "take",
    "toArrow",
    "toLocalIterator",
    "toPandas",
)
"""Methods of DataFrame that bring values to the driver."""
RDD_ACTIONS = (
    "aggregate",
    "collect",
    "collectAsMap",
    "collectWithJobGroup",
    "count",
    "countApprox",
    "countApproxDistinct",
    "countByKey",
    "countByValue",
    "first",
    "fold",
    "histogram",
    "isEmpty",
    "lookup",
    "max",
    "mean",
    "meanApprox",
    "min",
    "reduce",
    "reduceByKeyLocally",
    "sampleStdev",
    "sampleVariance",
    "stats",
    "stdev",
    "sum",
    "sumApprox",
    "take",
    "takeOrdered",
    "takeSample",
    "toLocalIterator",
    "top",
    "treeAggregate",
    "treeReduce",
    "variance",
)
"""Methods of RDD that bring values to the driver."""
LEARNERS = {
    "pyspark.ml.base": ("Estimator.fit", "Estimator.fitMultiple"),
    "pyspark.ml.evaluation": ("Evaluator.evaluate",),
    "pyspark.ml.stat": ("ChiSquareTest.test", "Correlation.corr", "KolmogorovSmirnovTest.test"),
    "pyspark.mllib.common": ("callJavaFunc",),
}
"""By module, functions of MLlib that learn something from a frame or an RDD which then is on the driver."""
_Found = tuple[str, Dataset, Callable[[], tuple[PendingVersion, Segments]]]
_SETTING = "spark.provspark.driverReads"


@dataclass(frozen=True, slots=True)
class Read:
    """One version that the driver read, and how to count its rows."""

    identity: str
    dataset: Dataset
    finish: Callable[[], tuple[PendingVersion, Segments]]
    action: str
    site: str


class DriverReads:
    """What the driver read in one SparkContext since the step began.

    Parameters
    ----------
    jvm : Jvm
    """

    def __init__(self, jvm: Jvm) -> None:
        self._java: Any = jvm.new("Leaves")
        self._reads: dict[str, Read] = {}
        self._known: dict[str, PendingVersion] = {}
        self._unknown: list[Untracked] = []
        self._noting = threading.Lock()

    def note(self, jvm: Jvm, analysed: Any, caches: Caches, action: str, site: str) -> None:
        """Take note of an action on a plan."""
        if _on(jvm):
            with self._noting:
                self._note(jvm, analysed, caches, action, site)

    def note_rdd(self, sessions: Iterable[Jvm], rdd: Any, caches: Caches, action: str, site: str) -> None:
        """Take note of an action on an RDD of Java's, which belongs to no session: those of its frames decide."""
        if any(map(_on, sessions)):
            with self._noting:
                self._within_rdd(rdd, caches, action, site)

    def _note(self, jvm: Jvm, analysed: Any, caches: Caches, action: str, site: str) -> None:
        for leaf in self._java.fresh(analysed):
            if caches.computes(leaf):
                self._within_rdd(leaf.rdd(), caches, action, site)
                continue
            try:
                for identity, dataset, finish in _versions(jvm, leaf, caches):
                    self._reads.setdefault(identity, Read(identity, dataset, finish, action, site))
            except ProvSparkError as e:
                self._lost(f"{getattr(e, 'node', 'DataFrame')} {action}", str(getattr(e, "why", e)), site)

    def _within_rdd(self, rdd: Any, caches: Caches, action: str, site: str) -> None:
        try:
            for jvm, analysed in caches.rdds.frames_of(rdd):
                if _on(jvm):
                    self._note(jvm, analysed, caches, action, site)
        except UnsupportedPlanError as e:
            self._lost(f"{e.node} {action}", e.why, site)

    def _lost(self, node: str, why: str, site: str) -> None:
        self._unknown.append(Untracked(node, f"{why}; it was read on the driver, which makes it context", site))

    def take_unknown(self) -> list[Untracked]:
        """Return, once, what was read that later writes can't tell of."""
        with self._noting:
            found, self._unknown = self._unknown, []
        return found

    def so_far(self) -> tuple[Read, ...]:
        """Return what was read until now."""
        with self._noting:
            return tuple(self._reads.values())

    def settle(self, dataset: Dataset) -> None:
        """Count the rows of what was read of a data set that is about to change."""
        for read in self.so_far():
            if read.dataset.meets(dataset):
                self._version(read)

    def sealed(self, write: PendingWrite) -> None:
        """Learn the versions of a write."""
        for version in (write.output, *write.inputs):
            self._known.setdefault(version.files.identity(version.dataset), version)

    def _version(self, read: Read) -> PendingVersion | None:
        """Return the version with its rows; None, and that it is lost, if its files changed since."""
        if read.identity not in self._known:
            try:
                self._known[read.identity] = read.finish()[0]
            except CaptureError as e:
                self._lost(f"LogicalRelation {read.action}", str(e), read.site)
                del self._reads[read.identity]
                return None
        return self._known[read.identity]

    def context(self, write: PendingWrite, written: Written, reads: Sequence[Read]) -> PendingWrite:
        """Return the write with what the driver had read before it as context of each row that it made."""
        self.sealed(write)
        axes, tensors, inputs = list(write.axes), list(write.tensors), {id(v): v for v in write.inputs}
        known = {v.files.identity(v.dataset) for v in write.inputs}
        occurrence = max((axis.occurrence for axis in axes), default=-1)
        for read in reads:
            version = self._version(read)
            if version is None:
                continue
            occurrence += 1
            if read.identity not in known:
                inputs[id(version)] = version
            size = version.files.total
            axes.append(Axis("input", size, read.identity, occurrence, version.dataset.uri))
            if size and len(written.rows):
                tensors.append(PendingTensor(0, len(axes) - 1, _all_of(written, size), "context"))
        return replace(write, axes=tuple(axes), tensors=tuple(tensors), inputs=tuple(inputs.values()))


def _on(jvm: Jvm) -> bool:
    return str(jvm.session.conf().get(_SETTING, "true")).lower() != "false"


def _versions(jvm: Jvm, leaf: Any, caches: Caches) -> list[_Found]:
    if leaf.getClass().getSimpleName() == "LogicalRDD":
        scans = [(scan, scan.listing) for scan in caches.scans_of(jvm, leaf)]
        return [(listing.identity, scan.dataset, scan.finish) for scan, listing in scans if listing is not None]
    listing = list_files(jvm, leaf)
    return [(listing.identity, listing.dataset, lambda: scan_files(listing).finish())]


def _all_of(written: Written, size: int) -> Boxes:
    """Relate each row written to every row of a version."""
    n = len(written.rows)
    zeros = np.zeros(n, dtype=np.int64)
    return Boxes(written.rows, written.counts, zeros, zeros + size, np.zeros(n, dtype=np.bool_))
