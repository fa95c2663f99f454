"""Random plans over random tables, as nested tuples that print, shrink and mean the same to Spark and to the oracle.

Every plan puts out the columns p (int), q (text) and r (long), so any operator can stand on any other. What windows and
scalar subqueries compute is r, whose value every operator uses: one that nobody uses, Spark need not compute, and a
count of what can't be null uses none.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from oracle.cases import Frames, Scans
from oracle.operators import distinct, explode, group, intersect, join, scalar, select, subtract, union, where, window
from oracle.random_parts import COLUMNS, KEYS, Operator, fold, typed
from oracle.random_shapes import SHAPES
from oracle.relation import Relation
from oracle.sources import Source, parquet
from oracle.values import both, eq, lt, negate, same

Plan = tuple[Any, ...]
N_TABLES = 12
FILES = 3
"""At most so many of a table."""
PIPED = {"where", "project", "explode", "unpivot", "cache", "scalar"}
"""Operators that leave rows in the tasks that they are in."""
PAIRING = {"join"}
"""Operators that may pair each task of one side with each of the other."""
DEPENDENT = {"lateral", "correlated", "as of"}
"""Operators that may do so, and before it pair each different row on the left, shuffled, with the right."""
LARGEST = 300
"""Rows of any relation within a plan; what grows beyond is not run."""


@dataclass(frozen=True, slots=True)
class Part:
    """One spelling of a condition, a projection or an aggregate: for Spark, and for the oracle."""

    sql: str
    meaning: Callable[..., Any]


CONDITIONS = (
    Part("p > 1", lambda v: lt(1, v.p)),
    Part("q = 'a'", lambda v: eq(v.q, "a")),
    Part("NOT (q = 'a')", lambda v: negate(eq(v.q, "a"))),
    Part("r IS NULL", lambda v: v.r is None),
    Part("r IS NOT NULL AND p <= 2", lambda v: both(v.r is not None, negate(lt(2, v.p)))),
    Part("p <=> r", lambda v: same(v.p, v.r)),
    Part("false", lambda v: False),
)
PROJECTIONS = (
    (Part("p % 2", lambda v: None if v.p is None else v.p % 2), Part("q", lambda v: v.q), Part("r", lambda v: v.r)),
    (
        Part("p", lambda v: v.p),
        Part("coalesce(q, 'z')", lambda v: "z" if v.q is None else v.q),
        Part("p + r", lambda v: None if v.p is None or v.r is None else v.p + v.r),
    ),
    (
        Part("cast(r % 3 AS int)", lambda v: None if v.r is None else v.r % 3),
        Part("q", lambda v: v.q),
        Part("CASE WHEN r > 1 THEN 1 ELSE 2 END", lambda v: 1 if v.r is not None and v.r > 1 else 2),
    ),
)
ONS = (
    Part("p = p2 AND r <=> r2", lambda a, b: both(eq(a.p, b.p2), same(a.r, b.r2))),
    Part("r = r2", lambda a, b: eq(a.r, b.r2)),
    Part("q = q2 AND r < r2", lambda a, b: both(eq(a.q, b.q2), lt(a.r, b.r2))),
    Part("p = p2", lambda a, b: eq(a.p, b.p2)),
    Part("p <=> p2", lambda a, b: same(a.p, b.p2)),
    Part("p = p2 AND q <=> q2", lambda a, b: both(eq(a.p, b.p2), same(a.q, b.q2))),
    Part("p < p2", lambda a, b: lt(a.p, b.p2)),
)
SEMI_ONS = 3
"""A semi-join puts out nothing of its right side: the first so many conditions use its r."""
HOWS = ("inner", "left", "right", "full", "semi", "anti", "cross")
AGGREGATES = (
    Part("sum(r)", lambda rows: fold(sum, rows)),
    Part("count(nullif(r, 0))", lambda rows: sum(v.r not in (None, 0) for v in rows)),
    Part("max(r)", lambda rows: fold(max, rows)),
    Part("count(DISTINCT r)", lambda rows: len({v.r for v in rows} - {None})),
    Part("min(r) FILTER (WHERE p > 0)", lambda rows: fold(min, [v for v in rows if v.p is not None and v.p > 0])),
)


def tables(seed: int) -> tuple[Source, ...]:
    """Small tables of one to three files: repeats, nulls, a skewed key, and an empty one."""
    made = []
    types = {"p": pa.int32(), "q": pa.string(), "r": pa.int64()}
    for i in range(N_TABLES):
        rng = random.Random(f"{seed} {i}")
        skew = rng.random() < 0.3
        files = [[_row(rng, skew) for _ in range(rng.randint(0, 4) if i else 0)] for _ in range(rng.randint(1, FILES))]
        made.append(parquet(f"t{i}", types, *files))
    return tuple(made)


def _row(rng: random.Random, skew: bool) -> tuple[Any, ...]:
    p = 1 if skew and rng.random() < 0.7 else rng.choice([None, 0, 1, 2, 3])
    return p, rng.choice([None, "", "a", "a", "b"]), rng.choice([None, 0, 1, 2, 5])


def generate(rng: random.Random, depth: int) -> Plan:
    """Make a plan of at most so many operators in a row."""
    if depth == 0 or rng.random() < 0.08:
        return ("scan", rng.randrange(N_TABLES))
    kind = rng.choice(sorted(OPERATORS))
    choices, inputs = OPERATORS[kind].choices, OPERATORS[kind].inputs
    chosen = tuple(rng.randrange(n) for n in choices)
    return (kind, *chosen, *(generate(rng, depth - 1 if k == 0 else rng.randrange(depth)) for k in range(inputs)))


def frame(plan: Plan, t: Frames) -> Any:
    """The plan as Spark's DataFrame."""
    if plan[0] == "scan":
        return getattr(t, f"t{plan[1]}")
    operator = OPERATORS[plan[0]]
    n = len(operator.choices)
    return operator.frame(*plan[1 : 1 + n], *(frame(p, t) for p in plan[1 + n :]))


def meaning(plan: Plan, t: Scans) -> Relation:
    """The plan's rows and their witnesses, by the oracle."""
    if plan[0] == "scan":
        return getattr(t, f"t{plan[1]}")
    operator = OPERATORS[plan[0]]
    n = len(operator.choices)
    below = [meaning(p, t) for p in plan[1 + n :]]
    if any(len(r.rows) > LARGEST for r in below):
        raise TooLargeError
    return operator.meaning(*plan[1 : 1 + n], *below)


def tasks(plan: Plan, shuffled: int) -> int:
    """At most how many tasks a stage of the plan has, where an exchange makes so many."""
    return max(_tasks(plan, shuffled))


def _tasks(plan: Plan, shuffled: int) -> tuple[int, int]:
    """The same of its last stage, and of any."""
    if plan[0] == "scan":
        return FILES, FILES
    below = [_tasks(part, shuffled) for part in plan[1 + len(OPERATORS[plan[0]].choices) :]]
    if plan[0] in PIPED:
        last = below[0][0]
    elif plan[0] in PAIRING:
        last = max(shuffled, math.prod(part for part, _ in below))
    elif plan[0] in DEPENDENT:
        last = shuffled * math.prod(part for part, _ in below)
    else:
        last = sum(part for part, _ in below) if plan[0] == "union" else shuffled
    return last, max(last, *(most for _, most in below))


class TooLargeError(Exception):
    """The plan's relations grow beyond what nested loops should do."""


def smaller(plan: Plan) -> Iterator[Plan]:
    """Plans with one operator less, or with a part in its place."""
    if plan[0] == "scan":
        return
    n = 1 + len(OPERATORS[plan[0]].choices)
    yield from plan[n:]
    for i in range(n, len(plan)):
        for part in smaller(plan[i]):
            yield (*plan[:i], part, *plan[i + 1 :])


def shrink(plan: Plan, fails: Callable[[Plan], bool]) -> Plan:
    """The smallest plan reached by cutting that still fails."""
    for part in sorted(smaller(plan), key=lambda p: len(repr(p))):
        if fails(part):
            return shrink(part, fails)
    return plan


def _where_frame(i: int, df: Any) -> Any:
    return df.where(CONDITIONS[i].sql)


def _project_frame(i: int, df: Any) -> Any:
    return df.selectExpr(*typed(*(p.sql for p in PROJECTIONS[i])))


def _project(i: int, r: Relation) -> Relation:
    return select(r, **dict(zip(COLUMNS, (p.meaning for p in PROJECTIONS[i]), strict=True)))


def _join_frame(how: int, on: int, left: Any, right: Any) -> Any:
    from pyspark.sql import functions as sf

    right = right.selectExpr("p AS p2", "q AS q2", "r AS r2")
    if HOWS[how] == "cross":
        joined = left.crossJoin(right)
    elif HOWS[how] in ("semi", "anti"):
        return left.join(right, sf.expr(ONS[on % SEMI_ONS].sql), HOWS[how])
    else:
        joined = left.join(right, sf.expr(ONS[on].sql), HOWS[how])
    return joined.selectExpr("coalesce(p, p2) AS p", "q2 AS q", "coalesce(r, 0) + coalesce(r2, 0) AS r")


def _join(how: int, on: int, left: Relation, right: Relation) -> Relation:
    right = select(right, p2=lambda v: v.p, q2=lambda v: v.q, r2=lambda v: v.r)
    kind: Any = HOWS[how]
    if kind in ("semi", "anti"):
        return join(left, right, ONS[on % SEMI_ONS].meaning, kind)
    joined = join(left, right) if kind == "cross" else join(left, right, ONS[on].meaning, kind)
    return select(
        joined,
        p=lambda v: v.p2 if v.p is None else v.p,
        q=lambda v: v.q2,
        r=lambda v: (v.r or 0) + (v.r2 or 0),
    )


def _group_frame(keys: int, aggregate: int, df: Any) -> Any:
    from pyspark.sql import functions as sf

    made = df.groupBy(*KEYS[keys]).agg(sf.expr(AGGREGATES[aggregate].sql).alias("made"))
    return made.selectExpr(*typed(*(c if c in KEYS[keys] else "NULL" for c in ("p", "q")), "made"))


def _group(keys: int, aggregate: int, r: Relation) -> Relation:
    made = group(r, KEYS[keys], made=AGGREGATES[aggregate].meaning)
    return select(made, p=lambda v: getattr(v, "p", None), q=lambda v: getattr(v, "q", None), r=lambda v: v.made)


def _explode_frame(df: Any) -> Any:
    items = "explode(CASE WHEN p IS NOT NULL THEN array(r, CAST(p AS bigint)) ELSE array() END)"
    return df.selectExpr("p", "q", f"{items} AS r")


def _explode(r: Relation) -> Relation:
    lists = select(r, "p", "q", items=lambda v: [] if v.p is None else [v.r, v.p])
    return select(explode(lists, "items"), "p", "q", r=lambda v: v.col)


def _window_frame(keys: int, df: Any) -> Any:
    by = f"PARTITION BY {', '.join(KEYS[keys])}" if KEYS[keys] else ""
    return df.selectExpr("p", "q", f"sum(r) OVER ({by}) AS r")


def _window(keys: int, r: Relation) -> Relation:
    made = window(r, KEYS[keys], made=lambda v, rows: fold(sum, rows))
    return select(made, "p", "q", r=lambda v: v.made)


def _scalar_frame(df: Any, sub: Any) -> Any:
    from pyspark.sql import functions as sf

    both_values = sf.coalesce(df.r, sf.lit(0)) + sf.coalesce(sub.agg(sf.max("r")).scalar(), sf.lit(0))
    return df.select("p", "q", both_values.alias("r"))


def _scalar(r: Relation, sub: Relation) -> Relation:
    top = group(sub, (), made=lambda rows: fold(max, rows))
    return select(scalar(r, "made", lambda v: top), "p", "q", r=lambda v: (v.r or 0) + (v.made or 0))


OPERATORS: dict[str, Operator] = {
    "where": Operator((len(CONDITIONS),), 1, _where_frame, lambda i, r: where(r, CONDITIONS[i].meaning)),
    "project": Operator((len(PROJECTIONS),), 1, _project_frame, _project),
    "join": Operator((len(HOWS), len(ONS)), 2, _join_frame, _join),
    "group": Operator((len(KEYS), len(AGGREGATES)), 1, _group_frame, _group),
    "distinct": Operator((), 1, lambda df: df.distinct(), distinct),
    "union": Operator((), 2, lambda a, b: a.union(b), union),
    "intersect": Operator((), 2, lambda a, b: a.intersect(b), intersect),
    "except": Operator((), 2, lambda a, b: a.subtract(b), subtract),
    "explode": Operator((), 1, _explode_frame, _explode),
    "window": Operator((len(KEYS),), 1, _window_frame, _window),
    "scalar": Operator((), 2, _scalar_frame, _scalar),
    **SHAPES,
}
