"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

from oracle.random_parts import COLUMNS, Operator, fixed, ordered
from oracle.relation import Relation

SAMPLES = ((False, 0.5, 7), (True, 1.5, 3), (False, 1.0, 1), (True, 0.6, 11))


def _sample_frame(i: int, df: Any) -> Any:
    replaced, fraction, seed = SAMPLES[i]
    return fixed(df).sample(replaced, fraction, seed)


def _sample(i: int, r: Relation) -> Relation:
    """Which places are drawn depends on their number alone: plain Spark draws from as many numbers."""
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession()
    assert spark is not None
    replaced, fraction, seed = SAMPLES[i]
    rows = ordered(r).rows
    drawn = spark.range(0, len(rows), 1, 1).sample(replaced, fraction, seed).collect()
    return Relation.of(COLUMNS, [rows[row.id] for row in drawn])


SHAPES: dict[str, Operator] = {
    "sample": Operator((len(SAMPLES),), 1, _sample_frame, _sample, group="rows"),
}
