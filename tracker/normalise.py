"""Brings an analysed plan to the few node kinds that the rewrite rules know, by Spark's own rules.

The rules keep which rows make which: they unnest EXISTS and IN to joins, turn set operators and DISTINCT into joins
and aggregates, and push predicates down, which Spark's optimiser could no longer do past a tap. Rules that would
change the kind of an edge are left out: a scalar subquery's rows are context, and as a join they would pass for data.
"""

from __future__ import annotations

_ANALYSIS = "org.apache.spark.sql.catalyst.analysis."
_OPTIMIZER = "org.apache.spark.sql.catalyst.optimizer."

RULES: tuple[str, ...] = (
    _ANALYSIS + "EliminateSubqueryAliases",
    _ANALYSIS + "EliminateView",
    *(
        _OPTIMIZER + name
        for name in (
            "RewriteNonCorrelatedExists",
            "PullupCorrelatedPredicates",
            "RewritePredicateSubquery",
            "ReplaceExpressions",
            "ReplaceIntersectWithSemiJoin",
            "ReplaceExceptWithFilter",
            "ReplaceExceptWithAntiJoin",
            "ReplaceDistinctWithAggregate",
            "ReplaceDeduplicateWithAggregate",
            "PullOutGroupingExpressions",
            "PushDownPredicates",
            "PushDownLeftSemiAntiJoin",
            "PushDownPredicates",
            "CombineFilters",
        )
    ),
    _ANALYSIS + "EliminateSubqueryAliases",
    _ANALYSIS + "EliminateView",
)
"""Applied in this order, each once, after common table expressions were put in their places."""
