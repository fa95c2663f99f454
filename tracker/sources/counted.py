"""Scans of formats without row numbers (CSV, JSON, ORC, text, XML), whose rows are counted by block as they are read.

Files that were not read to their ends are counted again after the write. A row's address is
(bytes of the files before it, plus one per file + offset of its block) * 65,536 + position in the block.
"""

from __future__ import annotations

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.errors import CaptureError, UnsupportedPlanError
from provspark.model.pending import PendingVersion
from provspark.tracker.families.scan import RELATION
from provspark.tracker.sources.blocks import Blocks, measure
from provspark.tracker.sources.contract import Segments
from provspark.tracker.sources.listing import RelationListing

SHIFT = 16
MOST_BYTES = 1 << (62 - SHIFT)


class CountedScan:
    """Scan of files whose format does not number rows."""

    def __init__(self, listing: RelationListing, format_name: str) -> None:
        self.listing, self._format, self.dataset = listing, format_name, listing.dataset
        ends = np.cumsum(listing.sizes + 1)
        if len(ends) and ends[-1] > MOST_BYTES:
            why = f"{listing.dataset} has {ends[-1]} bytes, more than the {MOST_BYTES} that capture can number"
            raise UnsupportedPlanError(RELATION, why)
        self._starts = (ends - listing.sizes - 1) << SHIFT
        self._scan = listing.java.scan(self._starts.tobytes(), "")
        self.plan = self._scan.plan()

    def finish(self) -> tuple[PendingVersion, Segments]:
        """Count the rows of files that are not fully counted yet; see `Scan.finish`."""
        self.listing.check()
        sizes = self.listing.sizes
        seen = self._blocks(self._scan.reports()).distinct()
        covered = seen.cover(sizes)
        exact = seen[covered[seen.file]]
        partly = seen[~covered[seen.file]]
        again = self._rest(np.flatnonzero(~covered), partly)
        before, counts = measure(partly, again, sizes)
        rows = np.zeros(len(sizes), dtype=np.int64)
        np.add.at(rows, exact.file, exact.rows)
        np.add.at(rows, again.file, again.rows)
        version = self.listing.version(self._format, rows)
        file = np.concatenate([exact.file, partly.file])
        starts = self._starts[file] + (np.concatenate([exact.start, partly.start]) << SHIFT)
        ids = version.files.bases[file] + np.concatenate([exact.rows_before(), before])
        return version, _segments(starts, ids, np.concatenate([exact.rows, counts]))

    def _rest(self, files: Int64, partly: Blocks) -> Blocks:
        sizes = self.listing.sizes
        if not len(files):
            return partly
        again = self._blocks(self.count_again(files, partly.split(sizes))).distinct()
        missing = files[~again.cover(sizes)[files]]
        if len(missing) and (sizes[missing] > 0).any():
            path = self.listing.paths[int(missing[sizes[missing] > 0][0])]
            raise CaptureError(
                f"could not count the rows of {path!r} in {self.listing.dataset}, because Spark did not read the file "
                f"to its end; run the step again while nothing writes there"
            )
        return again

    def count_again(self, files: Int64, split: int) -> bytes:
        """Read files to their ends, split at multiples of `split` bytes, and return the reports of their blocks."""
        return bytes(self._scan.count(self.listing.java.some(files.tobytes()), split))

    def _blocks(self, reports: bytes) -> Blocks:
        table = np.frombuffer(reports, dtype="<i8").astype(np.int64).reshape(-1, 3)
        if (table[:, 0] < 0).any():
            raise CaptureError(
                f"Spark read a file of {self.listing.dataset} that was not there when the write began; "
                f"run the step again while nothing writes there"
            )
        file = np.searchsorted(self._starts, table[:, 0], side="right") - 1
        return Blocks(file, (table[:, 0] - self._starts[file]) >> SHIFT, table[:, 1], table[:, 2])


def _segments(starts: Int64, rows: Int64, counts: Int64) -> Segments:
    """Sort blocks by start; of those with the same start, from different readings, keep the longest."""
    order = np.lexsort((counts, starts))
    starts, rows, counts = starts[order], rows[order], counts[order]
    last = np.ones(len(starts), dtype=np.bool_)
    last[:-1] = np.diff(starts) != 0
    return Segments(starts[last], rows[last], counts[last])
