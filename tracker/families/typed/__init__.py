"""Typed functions of Scala and Java."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "SerializeFromObject",
            "exact",
            (
                "with the objects below it: `MapElements` alone is followed row by row, with `MapPartitions` the "
                "write is coarse"
            ),
        ),
        Row(
            "DeserializeToObject, MapElements, MapPartitions",
            "exact",
            "see `SerializeFromObject`; coarse with `MapPartitions`",
            turned=True,
        ),
    )
)
