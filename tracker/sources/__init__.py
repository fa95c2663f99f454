"""Sources: plan leaves whose rows have an address column, and the conversion of addresses to row ids.

A file relation is read through a subclass of Spark's own format that adds one column, the address, after the partition
columns (java/sources/AddressedFormats.java). Partition pruning, column pruning, batches and exchange reuse still work.

- Parquet: Spark's reader numbers the rows of a file, whatever filters skip. The address is the file's position in path
  order times 2^40, plus that number. The number of rows of each file comes from its footer.
- CSV, JSON, ORC, text: the readers do not number rows. Files are read without pushed filters (the plan keeps its own),
  and rows are counted as they leave the reader. The address is the number of bytes before the block times 2^16, plus
  the row's position in the block. The iterator over a block reports its number of rows only after the last one, so that
  an early stop reports no wrong count. Blocks without a count are counted after the run, split at the same bytes.

`Segments` contains the first address, the first row id and the number of rows of each block, for both kinds.
"""

from provspark.tracker.sources.contract import Scan, Segments
from provspark.tracker.sources.relation import scan_relation

__all__ = ["Scan", "Segments", "scan_relation"]
