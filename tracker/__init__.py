"""Capture of record-level lineage on stock Spark."""
