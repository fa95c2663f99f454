"""Wrappers of Python functions over batches and groups, which add provenance columns to the returned rows."""
