"""Parquet, whose reader numbers the rows of a file: a row's address is the file's first address plus this number."""

from __future__ import annotations

import numpy as np

from provspark.model.errors import UnsupportedPlanError
from provspark.model.pending import PendingVersion
from provspark.tracker.families.scan import RELATION
from provspark.tracker.sources.contract import Segments
from provspark.tracker.sources.listing import RelationListing

ROOM = 1 << 40
"""Number of addresses per file: more than a Parquet file has rows, and enough for four million files."""
MOST_FILES = (1 << 62) // ROOM


class ParquetScan:
    """Scan of Parquet files, with pushed filters. Row counts come from the footers."""

    def __init__(self, listing: RelationListing) -> None:
        if len(listing.paths) > MOST_FILES:
            raise UnsupportedPlanError(
                RELATION,
                f"{listing.dataset} has {len(listing.paths)} files, but capture supports at most {MOST_FILES}; "
                f"compact them",
            )
        self.listing, self.dataset = listing, listing.dataset
        self._starts = np.arange(len(listing.paths), dtype=np.int64) * ROOM
        self.plan = listing.java.scan(self._starts.tobytes(), listing.key).plan()
        listing.java.readFooters()  # in the background, while Spark works

    def finish(self) -> tuple[PendingVersion, Segments]:
        """Read row counts from the footers; see `Scan.finish`."""
        try:
            rows = np.frombuffer(self.listing.java.footerRows(), dtype="<i8").astype(np.int64)
        except Exception:
            self.listing.check()
            raise
        version = self.listing.version("parquet", rows)
        return version, Segments(self._starts, version.files.bases[:-1], rows)
