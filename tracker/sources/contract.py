"""What the rest of the tracker sees of a source: a rewritten leaf, and how its addresses become row ids."""

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
    """How the addresses of one scan become row ids; four numbers an address block, sorted by `starts`.

    Parameters
    ----------
    starts : int64 array
        First address of each block.
    rows : int64 array
        Row id of each block's first row.
    counts : int64 array
        Rows in each block.
    step : int
        From the address of a row to that of the next one, where there is one block; 1 where there are several.
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
            If an address lies in no block.
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
                f"address {first} lies in no block of the input ({int(wrong.sum())} of {len(addresses)} do): "
                f"a file was read that was not listed when the write began; run the step again"
            )
        return self.rows[at] + place if len(addresses) else np.zeros(0, dtype=np.int64)

    def rows_of_runs(self, starts: Int64, lengths: Int64) -> Int64 | None:
        """Return the row id of each run's first address, where each run lies in one block; else None."""
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
        """The rewritten leaf: the relation's output followed by the address column."""

    @property
    def dataset(self) -> Dataset:
        """What is read."""

    @property
    def listing(self) -> RelationListing | None:
        """The files that are read; None for rows that are in no file."""

    def finish(self) -> tuple[PendingVersion, Segments]:
        """Return the version read and its segments; to be called after the write's job is done.

        Raises
        ------
        CaptureError
            If the files changed since they were listed, or rows can't be counted exactly.
        """
