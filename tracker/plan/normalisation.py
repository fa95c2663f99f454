"""Brings an analysed plan to the few node kinds that the rewrite rules know, by Spark's rules (java/plan/Normal.java).

The rules keep which rows make which: they unnest subqueries to joins, turn set operators and DISTINCT into joins and
aggregates, and push predicates down, which Spark's optimiser could no longer do past a tap. Where a rule would make
one kind of edge look like another, the side that it concerns is marked by an alias; families/names reads the marks.
Sorts whose order nothing uses go here, too: below a tap they would stay, and a sort reads what is below it twice.
"""

from __future__ import annotations

_ANALYSIS = "org.apache.spark.sql.catalyst.analysis."
_OPTIMIZER = "org.apache.spark.sql.catalyst.optimizer."

CONTEXT = "provspark: context"
"""Marks the rows of a scalar subquery that became the right side of a join."""

UNSEEN = "provspark: unseen"
"""Marks rows that others are counted against, and that none is owed to: the right side of EXCEPT ALL."""

DOMAIN = "provspark: domain"
"""Marks what is no reading of its own: the distinct outer rows that Spark joins to a subquery correlated by no
equality, and the subquery of a filter that Spark inferred from one of the user's (java/plan/Inferred.java)."""

CHOSEN = "provspark: chosen"
"""Marks the window by which Spark numbers rows for a LIMIT of each outer row's own: the row, and no partition."""

CLEANING: tuple[str, ...] = (
    _ANALYSIS + "EliminateSubqueryAliases",
    _ANALYSIS + "EliminateView",
    "org.apache.spark.sql.catalyst.expressions.EliminatePipeOperators",
    _OPTIMIZER + "EliminateSQLFunctionNode",
    _OPTIMIZER + "PullOutGroupingExpressions",
)
"""Applied first, to the plan and to all subqueries in it."""

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
"""Applied in this order, each once, to each subquery before the plan that holds it.

Before them windows and subqueries whose values nothing uses are taken away (java/plan/Unused.java), common table
expressions put in their places, correlated predicates pulled up, and subqueries and EXCEPT ALL made joins and unions,
some with a marked side.
"""
