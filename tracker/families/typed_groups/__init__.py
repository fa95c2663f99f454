"""Typed functions over groups."""

from provspark.tracker.families.contract import Family, Refusal

FAMILY = Family(
    refused="AppendColumns, AppendColumnsWithObject, CoGroup, FlatMapGroupsInR, FlatMapGroupsInRWithArrow, MapGroups",
    why=Refusal(
        "typed functions over groups, which Scala and Java alone can write, see objects, not rows",
        "group with SQL's functions, or with applyInPandas",
    ),
)
