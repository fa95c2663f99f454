"""Sources: leaves that number their rows."""

from provspark.tracker.sources.contract import Scan, Segments
from provspark.tracker.sources.relation import scan_relation

__all__ = ["Scan", "Segments", "scan_relation"]
