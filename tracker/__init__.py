"""Capture of record-level lineage on stock Spark: needs neither Airflow nor a database."""

from __future__ import annotations

from provspark.tracker.attach import Capture, attach

__all__ = ["Capture", "attach"]
