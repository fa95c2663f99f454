"""Typed functions of Scala and Java."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "SerializeFromObject",
            "exact",
            (
                "the row that the object was made from (`MapElements`); coarse if the typed functions include "
                "`MapPartitions`: all rows of the partition"
            ),
        ),
        Row(
            "DeserializeToObject, MapElements, MapPartitions",
            "exact",
            "part of `SerializeFromObject`; coarse with `MapPartitions`",
            turned=True,
        ),
    )
)
