"""Values of rows by their position: what Spark would read, as long as the files are unchanged."""

from provspark.index_store.values.row_reader import read_rows

__all__ = ["read_rows"]
