"""Inputs of reads on the driver: versions of files, whose rows are counted later.

At the time of a read, capture only lists the files. It counts the rows when a write follows or the step ends, unless a
write of the step has read or written the same version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from provspark.model.datasets import Dataset
from provspark.model.errors import ProvSparkError, UnsupportedPlanError
from provspark.model.pending import PendingVersion
from provspark.tracker.families.cached import RDD
from provspark.tracker.sources import Scan, Segments
from provspark.tracker.sources.listing import RelationListing
from provspark.tracker.sources.relation import format_of, list_files, scan_files

if TYPE_CHECKING:
    from provspark.tracker.session.caches import Caches
    from provspark.tracker.spark.jvm import Jvm

__all__ = ["NONE", "InputSource", "Inputs", "ReadInputs", "scanned"]


@dataclass(frozen=True, slots=True)
class InputSource:
    """A version that was read, with a function that counts its rows."""

    identity: str
    dataset: Dataset
    finish: Callable[[], tuple[PendingVersion, Segments]]
    listing: RelationListing

    def uncounted(self) -> PendingVersion:
        """Return the version without counting its rows: each file counts as one."""
        files = self.listing.files(np.ones(len(self.listing.paths), dtype=np.int64))
        return PendingVersion(self.dataset, files, format_of(self.listing), unit="file")


@dataclass(frozen=True, slots=True)
class Inputs:
    """Versions that were read. If some are unknown, `node` is the plan node that hides them and `why` the reason."""

    sources: tuple[InputSource, ...]
    node: str = ""
    why: str = ""

    @property
    def complete(self) -> bool:
        """Whether all versions are known."""
        return not self.node

    def uncounted(self) -> tuple[PendingVersion, ...]:
        """Return the known versions without counting rows, for a write or read without lineage."""
        return tuple(source.uncounted() for source in self.sources)

    def __add__(self, other: Inputs) -> Inputs:
        sources = {source.identity: source for source in (*self.sources, *other.sources)}
        return Inputs(tuple(sources.values()), self.node or other.node, self.why or other.why)


NONE = Inputs(())


class ReadInputs:
    """Inputs of the reads of one SparkContext. Files are listed once as long as they don't change.

    Parameters
    ----------
    java : provspark.intercept.Reads
    caches : Caches
    followed : function
        Returns whether capture of reads is on in a session.
    listed : function
        Called with each dataset of files that is listed.
    """

    def __init__(
        self, java: Any, caches: Caches, followed: Callable[[Jvm], bool], listed: Callable[[Dataset], None]
    ) -> None:
        self._java, self._caches, self._followed, self._listed = java, caches, followed, listed
        self._known: dict[int, Inputs] = {}

    def of(self, jvm: Jvm, leaves: Iterable[int]) -> Inputs:
        """Return the inputs of plan leaves, by their numbers."""
        inputs = NONE
        for number in dict.fromkeys(leaves):
            if number not in self._known:
                self._known[number] = self._leaf(jvm, self._java.leaf(number))
            inputs += self._known[number]
        return inputs

    def of_rdd(self, rdd: Any) -> Inputs:
        """Return the inputs of a Java RDD."""
        inputs = NONE
        try:
            for jvm, analysed in self._caches.rdds.frames_of(rdd):
                if self._followed(jvm):
                    _, leaves, _ = self._java.of(analysed).split("\1")
                    inputs += self.of(jvm, map(int, leaves.split()))
        except UnsupportedPlanError as e:
            inputs += Inputs((), e.node, e.why)
        return inputs

    def _leaf(self, jvm: Jvm, leaf: Any) -> Inputs:
        if self._caches.computes(leaf):
            return self.of_rdd(leaf.rdd())
        try:
            if leaf.getClass().getSimpleName() == RDD:
                return scanned(self._caches.scans_of(jvm, leaf))
            listing = list_files(jvm, leaf)
            self._listed(listing.dataset)
            return Inputs(
                (InputSource(listing.identity, listing.dataset, lambda: scan_files(listing).finish(), listing),)
            )
        except ProvSparkError as e:
            return Inputs((), getattr(e, "node", "DataFrame"), str(getattr(e, "why", e)))


def scanned(scans: Iterable[Scan]) -> Inputs:
    """Return the inputs of scans, without rows that the script created."""
    inputs = NONE
    for scan in scans:
        if scan.listing is not None:
            inputs += Inputs((InputSource(scan.listing.identity, scan.dataset, scan.finish, scan.listing),))
        elif not scan.dataset.namespace.startswith("memory"):
            inputs += Inputs((), RDD, f"{scan.dataset} does not consist of files")
    return inputs
