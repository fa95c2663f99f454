"""Outputs of a step: which row of which file each written row becomes."""

from provspark.tracker.sinks.contract import Output, TapRuns, WriteMetrics, Written
from provspark.tracker.sinks.keyed import KeyedSink
from provspark.tracker.sinks.sink import Sink

__all__ = ["KeyedSink", "Output", "Sink", "TapRuns", "WriteMetrics", "Written"]
