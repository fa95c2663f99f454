"""What a read on the driver was computed from, as a whole: versions of files, whose rows are counted later.

Of a read only the list of files is taken; rows are counted when a write follows or the step ends, unless a write of the
step read or made the same version.
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
    """One version that was read, and how to count its rows."""

    identity: str
    dataset: Dataset
    finish: Callable[[], tuple[PendingVersion, Segments]]
    listing: RelationListing

    def uncounted(self) -> PendingVersion:
        """Return the version without counting its rows."""
        files = self.listing.files(np.ones(len(self.listing.paths), dtype=np.int64))
        return PendingVersion(self.dataset, files, format_of(self.listing), unit="file")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The versions that were read; or the node that hides some, and why."""

    sources: tuple[InputSource, ...]
    node: str = ""
    why: str = ""

    @property
    def complete(self) -> bool:
        """Whether nothing is hidden."""
        return not self.node

    def uncounted(self) -> tuple[PendingVersion, ...]:
        """Return what is known of what was read, without counting rows: for a write or read that is not followed."""
        return tuple(source.uncounted() for source in self.sources)

    def __add__(self, other: Inputs) -> Inputs:
        sources = {source.identity: source for source in (*self.sources, *other.sources)}
        return Inputs(tuple(sources.values()), self.node or other.node, self.why or other.why)


NONE = Inputs(())


class ReadInputs:
    """The inputs of reads in one SparkContext; of the same files in the same state they are listed once.

    Parameters
    ----------
    java : provspark.intercept.Reads
    caches : Caches
    followed : function
        Whether reads of a session's frames are followed.
    listed : function
        Hears of each data set of files as it is listed.
    """

    def __init__(
        self, java: Any, caches: Caches, followed: Callable[[Jvm], bool], listed: Callable[[Dataset], None]
    ) -> None:
        self._java, self._caches, self._followed, self._listed = java, caches, followed, listed
        self._known: dict[int, Inputs] = {}

    def of(self, jvm: Jvm, leaves: Iterable[int]) -> Inputs:
        """Return what these leaves read."""
        inputs = NONE
        for number in dict.fromkeys(leaves):
            if number not in self._known:
                self._known[number] = self._leaf(jvm, self._java.leaf(number))
            inputs += self._known[number]
        return inputs

    def of_rdd(self, rdd: Any) -> Inputs:
        """Return what an RDD of Java's was computed from."""
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
    """Return what scans read, but for rows that the script made."""
    inputs = NONE
    for scan in scans:
        if scan.listing is not None:
            inputs += Inputs((InputSource(scan.listing.identity, scan.dataset, scan.finish, scan.listing),))
        elif not scan.dataset.namespace.startswith("memory"):
            inputs += Inputs((), RDD, f"{scan.dataset} is no set of files")
    return inputs
