"""Operators of this family in random plans."""

from __future__ import annotations

from itertools import count
from typing import Any

from oracle.random_parts import COLUMNS, Operator, same

_names = count()
OBSERVED: list[Any] = []
"""Observations of the frames that were made since it was cleared, in the order in which they were made."""


def _observe_frame(df: Any) -> Any:
    from pyspark.sql import Observation
    from pyspark.sql import functions as sf

    OBSERVED.append(Observation(f"observed{next(_names)}"))
    return df.observe(OBSERVED[-1], sf.count(sf.lit(1)).alias("n"), sf.sum("r").alias("s"))


def _watermark_frame(df: Any) -> Any:
    return df.selectExpr("*", "timestamp_seconds(pmod(r, 9)) AS t").withWatermark("t", "1 day").select(*COLUMNS)


SHAPES: dict[str, Operator] = {
    "observe": Operator((), 1, _observe_frame, same, group="rows", spread="piped"),
    "watermark": Operator((), 1, _watermark_frame, same, group="rows", spread="piped"),
}
