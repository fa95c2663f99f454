"""A scan whose files may be gone by the time that it is asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.model.datasets import Dataset
from provspark.model.pending import PendingVersion
from provspark.tracker.sources.contract import Scan, Segments

if TYPE_CHECKING:
    from provspark.tracker.sources.listing import RelationListing


class KeptScan:
    """A scan that `settle` can finish early.

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
        """See `Scan.dataset`."""
        return self.scan.dataset

    @property
    def listing(self) -> RelationListing | None:
        """See `Scan.listing`."""
        return self.scan.listing

    def settle(self) -> None:
        """Learn now what was read."""
        if self._finished is None:
            self._finished = self.scan.finish()

    def finish(self) -> tuple[PendingVersion, Segments]:
        """Return what was learnt; see `Scan.finish`."""
        return self._finished or self.scan.finish()
