"""Interface of sources: a rewritten plan leaf, and the conversion of its addresses to row ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.datasets import Dataset
from provspark.model.errors import CaptureError
from provspark.model.pending import PendingVersion

if TYPE_CHECKING:
    from provspark.tracker.sources.listing import RelationListing


@dataclass(frozen=True, slots=True)
class Segments:
    """Conversion of a scan's addresses to row ids: blocks of consecutive addresses, sorted by `starts`.

    Parameters
    ----------
    starts : int64 array
        First address of each block.
    rows : int64 array
        Row id of each block's first row.
    counts : int64 array
        Number of rows in each block.
    step : int
        Difference between the addresses of consecutive rows. It may differ from 1 only if there is one block.
    """

    starts: Int64
    rows: Int64
    counts: Int64
    step: int = 1

    def rows_of(self, addresses: Int64) -> Int64:
        """Return the row ids of addresses.

        Raises
        ------
        CaptureError
            An address is in no block.
        """
        if len(self.starts) == 1 and len(addresses):
            place = (addresses - self.starts[0]) // self.step
            if place.min() >= 0 and place.max() < self.counts[0]:
                ids: Int64 = self.rows[0] + place
                return ids
        if not len(self.starts):
            wrong = np.ones(len(addresses), dtype=np.bool_)
        else:
            at = np.searchsorted(self.starts, addresses, side="right") - 1
            place = addresses - self.starts[at]
            wrong = (at < 0) | (place >= self.counts[at])
        if wrong.any():
            first = int(addresses[int(np.argmax(wrong))])
            raise CaptureError(
                f"{int(wrong.sum())} of {len(addresses)} recorded row addresses (first {first}) are not in the files "
                f"that were listed when the write began, so Spark read a newer file; run the step again while nothing "
                f"writes there"
            )
        return self.rows[at] + place if len(addresses) else np.zeros(0, dtype=np.int64)

    def rows_of_runs(self, starts: Int64, lengths: Int64) -> Int64 | None:
        """Return the row id of each run's first address; None if a run is not within one block or `step` is not 1."""
        if not len(self.starts) or self.step != 1:
            return None
        at = np.searchsorted(self.starts, starts, side="right") - 1
        if int(at.min()) < 0:
            return None
        place = starts - self.starts[at]
        if bool((place > self.counts[at] - lengths).any()):
            return None
        place += self.rows[at]
        return place


class Scan(Protocol):
    """One occurrence of an input in one write."""

    @property
    def plan(self) -> Any:
        """Rewritten leaf: the relation's output followed by the address column."""

    @property
    def dataset(self) -> Dataset:
        """The dataset that is read."""

    @property
    def listing(self) -> RelationListing | None:
        """The files that are read; None if the rows are not in files."""

    def finish(self) -> tuple[PendingVersion, Segments]:
        """Return the version that was read and its segments. Call it after the write's job.

        Raises
        ------
        CaptureError
            The files changed since they were listed, or the rows can't be counted exactly.
        """
