"""Rules of Spark that reduce an analysed plan to nodes with rewrite rules (java/plan/Normal.java applies them).

The rules don't change which rows an output row comes from. They turn subqueries into joins, turn set operators and
DISTINCT into joins and aggregates, and push predicates down, which Spark's optimiser could no longer do past a tap.
Where a rule would make one kind of edge look like another, an alias marks the side concerned; families/names reads the
marks. Sorts whose order nothing uses are removed as well: below a tap Spark would keep them, and a sort reads its input
twice.
"""

from __future__ import annotations

_ANALYSIS = "org.apache.spark.sql.catalyst.analysis."
_OPTIMIZER = "org.apache.spark.sql.catalyst.optimizer."

CONTEXT = "provspark: context"
"""Marks the rows of a scalar subquery that became the right side of a join."""

UNSEEN = "provspark: unseen"
"""Marks rows that only reduce the counts of others, so that no edge leads to them: the right side of EXCEPT ALL."""

DOMAIN = "provspark: domain"
"""Marks plans that are not reads of their own: the distinct outer rows that Spark joins to a subquery correlated
without an equality, and the subquery of a filter that Spark inferred from one of the user's
(java/plan/Inferred.java)."""

CHOSEN = "provspark: chosen"
"""Marks the window by which Spark numbers rows for a LIMIT within each outer row: it adds no context."""

CLEANING: tuple[str, ...] = (
    _ANALYSIS + "EliminateSubqueryAliases",
    _ANALYSIS + "EliminateView",
    "org.apache.spark.sql.catalyst.expressions.EliminatePipeOperators",
    _OPTIMIZER + "EliminateSQLFunctionNode",
    _OPTIMIZER + "PullOutGroupingExpressions",
)
"""Rules applied first, to the plan and to all subqueries in it."""

RULES: tuple[str, ...] = tuple(
    _OPTIMIZER + name
    for name in (
        "ReplaceExpressions",
        "ReplaceIntersectWithSemiJoin",
        "ReplaceExceptWithFilter",
        "ReplaceExceptWithAntiJoin",
        "RewriteIntersectAll",
        "ReplaceDistinctWithAggregate",
        "ReplaceDeduplicateWithAggregate",
        "PullOutGroupingExpressions",
        "PushDownPredicates",
        "CombineFilters",
        "EliminateSorts",
    )
)
"""Rules applied in this order, each once, to each subquery before the plan that contains it.

Before them, Normal removes windows and subqueries whose values nothing uses (java/plan/Unused.java), inlines common
table expressions, pulls up correlated predicates, and turns subqueries and EXCEPT ALL into joins and unions, some with
a marked side.
"""
