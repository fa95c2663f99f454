"""Tensor files: boxes as Parquet, written and read page by page (docs/format.md)."""
