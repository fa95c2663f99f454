"""Scan that can be finished early, before its files change or disappear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.model.datasets import Dataset
from provspark.model.pending import PendingVersion
from provspark.tracker.sources.contract import Scan, Segments

if TYPE_CHECKING:
    from provspark.tracker.sources.listing import RelationListing


class KeptScan:
    """Wrapper of a scan that `settle` can finish early.

    Parameters
    ----------
    scan : Scan
    """

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self._finished: tuple[PendingVersion, Segments] | None = None
        self.plan = scan.plan

    @property
    def dataset(self) -> Dataset:
        """The dataset that is read."""
        return self.scan.dataset

    @property
    def listing(self) -> RelationListing | None:
        """The files that are read; None if the rows are not in files."""
        return self.scan.listing

    def settle(self) -> None:
        """Finish the scan now."""
        if self._finished is None:
            self._finished = self.scan.finish()

    def finish(self) -> tuple[PendingVersion, Segments]:
        """Return the result of `settle`, or finish the scan; see `Scan.finish`."""
        return self._finished or self.scan.finish()
