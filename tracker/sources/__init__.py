"""Sources: leaves whose rows carry an address, and how addresses become row ids.

A file relation is read through a subclass of Spark's own format that puts one column, the address, behind the partition
columns (java/sources/AddressedFormats.java). Partition pruning, column pruning, batches and exchange reuse stay.

- Parquet's reader numbers a file's rows whatever filters skip. An address is the file's place in path order times
  2^40, and that number. Rows of each file come from the footers.
- CSV, JSON, ORC and text readers number nothing. They are read without pushed filters (the plan's own stay), and rows
  are counted as they leave the reader: an address is (bytes before the block) times 2^16, and the place in the block.
  The iterator that a block is read through reports its count when it has no more rows, and only then: an early stop
  leaves no short count. Blocks without a count are counted again after the run, cut at the same bytes.

`Segments` holds first address, first row id and rows of each block; both kinds use it alike.
"""

from provspark.tracker.sources.contract import Scan, Segments
from provspark.tracker.sources.relation import scan_relation

__all__ = ["Scan", "Segments", "scan_relation"]
