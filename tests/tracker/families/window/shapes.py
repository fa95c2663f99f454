"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

from oracle.functions import WINDOWS, folded
from oracle.operators import select, window
from oracle.random_computed import computed, with_column
from oracle.random_parts import COLUMNS, KEYS, Operator, fold, ordered, sql
from oracle.relation import Relation
from oracle.values import rank


def _window_frame(keys: int, df: Any) -> Any:
    by = f"PARTITION BY {', '.join(KEYS[keys])}" if KEYS[keys] else ""
    return df.selectExpr("p", "q", f"sum(r) OVER ({by}) AS r")


def _window(keys: int, r: Relation) -> Relation:
    made = window(r, KEYS[keys], made=lambda v, rows: fold(sum, rows))
    return select(made, "p", "q", r=lambda v: v.made)


def _rank_frame(keys: int, df: Any) -> Any:
    by = f"PARTITION BY {', '.join(KEYS[keys])}" if KEYS[keys] else ""
    return df.selectExpr("p", "q", f"CAST(rank() OVER ({by} ORDER BY r) AS bigint) AS r")


def _rank(keys: int, r: Relation) -> Relation:
    made = window(r, KEYS[keys], made=lambda v, rows: 1 + sum(rank(x.r) < rank(v.r) for x in rows))
    return select(made, "p", "q", r=lambda v: v.made)


def _over(keys: int, i: int) -> str:
    function, frame = WINDOWS[i]
    by = f"PARTITION BY {', '.join(KEYS[keys])} " if KEYS[keys] else ""
    name, _, option = function.partition(") ")
    called = f"{name}) {option} OVER" if option else f"{function} OVER"
    return folded(f"{called} ({by}ORDER BY p, q, r {frame})")


def _function_frame(keys: int, i: int, df: Any) -> Any:
    return df.distinct().selectExpr("p", "q", f"{_over(keys, i)} AS r")


def _function(keys: int, i: int, r: Relation) -> Relation:
    rows = ordered(r)
    made = with_column(rows, computed(f"SELECT nr, {_over(keys, i)} FROM {{rows}}", rows))
    seen = window(rows, KEYS[keys], made=lambda v, others: None)
    return Relation.of(COLUMNS, [(v, w) for (v, _), (_, w) in zip(made.rows, seen.rows, strict=True)])


WINDOW = "SELECT p, q, sum(r) OVER w AS r FROM {d} WINDOW w AS (PARTITION BY p)"


def _clause(r: Relation) -> Relation:
    return select(window(r, ("p",), made=lambda v, rows: fold(sum, rows)), "p", "q", r=lambda v: v.made)


SHAPES: dict[str, Operator] = {
    "window": Operator((len(KEYS),), 1, _window_frame, _window, group="core"),
    "rank": Operator((len(KEYS),), 1, _rank_frame, _rank),
    "window function": Operator((len(KEYS), len(WINDOWS)), 1, _function_frame, _function, group="functions"),
    "window clause": Operator((), 1, sql(WINDOW), _clause, group="sql"),
}
