"""The rules by which operations are replayed, by Spark's names of their classes."""

from provspark.replay.rules.all_rows import LimitRule, Set, Union
from provspark.replay.rules.base import Refused, ReplayRule
from provspark.replay.rules.groups import Aggregate, Deduplicate, Distinct, Window
from provspark.replay.rules.joins import Join
from provspark.replay.rules.narrow import Expand, Filter, Generate, Project, SameRule, Sort
from provspark.replay.rules.transformers import Transform

__all__ = ["RULES", "TRANSFORM", "Refused", "ReplayRule"]

TRANSFORM: ReplayRule = Transform()
"""For what a transformer of MLlib did."""

RULES: dict[str, ReplayRule] = {
    "Project": Project(),
    "Filter": Filter(),
    "Sort": Sort(),
    "Generate": Generate(),
    "Expand": Expand(),
    "Join": Join(),
    "Aggregate": Aggregate(),
    "Distinct": Distinct(),
    "Deduplicate": Deduplicate(),
    "Window": Window(),
    "GlobalLimit": LimitRule(),
    "LocalLimit": SameRule(),
    "Offset": LimitRule(),
    "Union": Union(),
    "Intersect": Set(),
    "Except": Set(),
    **dict.fromkeys(
        (
            "SubqueryAlias",
            "View",
            "Repartition",
            "RepartitionByExpression",
            "RebalancePartitions",
            "ResolvedHint",
            "CollectMetrics",
            "CTERelationRef",
            "InMemoryRelation",
            "LogicalRDD",
        ),
        SameRule(),
    ),
}
