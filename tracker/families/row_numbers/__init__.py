"""The index of pandas on Spark."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (Row("AttachDistributedSequence", "exact", "the same row, with a number (the index of pandas on Spark)"),)
)
