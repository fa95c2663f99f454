"""Outputs of a step: where a write's rows land, file by file."""

from provspark.tracker.sinks.contract import TapRuns, WriteMetrics, Written
from provspark.tracker.sinks.sink import Sink

__all__ = ["Sink", "TapRuns", "WriteMetrics", "Written"]
