"""The leaf of a scan: the relation read through a format of Spark's own with the address as one column more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from provspark.index_store.model import Int64
from provspark.tracker.sources.listing import Listing

if TYPE_CHECKING:
    from provspark.tracker.jvm import Jvm


class Leaf:
    """A relation whose rows carry addresses (java/AddressedFormats.java says how).

    Parameters
    ----------
    starts : int64 array
        First address of each file, ascending.
    key : str
        Equal where equal rows get equal addresses; empty where blocks are counted.
    """

    def __init__(self, jvm: Jvm, relation: Any, listing: Listing, starts: Int64, key: str) -> None:
        self._listing = listing
        self._scan = jvm.new("AddressedScan", relation)
        self._formats = jvm.new("AddressedFormats", relation, listing.java.paths(), starts.tobytes(), key)
        self.plan = self._scan.leaf(self._formats.format(), listing.pruning)
        self.address = self.plan.output().last()

    def reports(self) -> bytes:
        """Return what the blocks of the write's own reading said."""
        return bytes(self._formats.reports())

    def count_again(self, files: Int64, split: int) -> bytes:
        """Read some files to their ends, cut at multiples of `split` bytes, and return what their blocks said."""
        formats = self._formats.again()
        self._scan.count(formats.format(), self._listing.java.some(files.tobytes()), split)
        return bytes(formats.reports())
