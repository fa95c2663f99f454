"""Random plans over random tables, as nested tuples that print, shrink and mean the same to Spark and to the oracle.

Every plan puts out the columns p (int), q (text) and r (long), so any operator can stand on any other. What windows and
scalar subqueries compute is r, whose value every operator uses: one that nobody uses, Spark need not compute, and a
count of what can't be null uses none. ``("twice", shared, body)`` is a plan whose body reads one frame, ``("it",)``, as
often as it likes.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

from oracle.cases import Frames, Scans
from oracle.family_parts import family_parts
from oracle.random_made import MADE
from oracle.random_parts import Operator
from oracle.random_sql import SQL
from oracle.random_subqueries import SUBQUERIES
from oracle.random_tables import FILES, N_TABLES
from oracle.relation import Relation

Plan = tuple[Any, ...]
IT: Plan = ("it",)
LARGEST = 300
"""Rows of any relation within a plan; what grows beyond is not run."""
OPERATORS: dict[str, Operator] = {**SQL, **SUBQUERIES}
for _family in family_parts("shapes"):
    OPERATORS.update(_family.SHAPES)
GROUPS: tuple[tuple[str, ...], ...] = tuple(
    tuple(sorted(name for name, operator in OPERATORS.items() if operator.group == group))
    for group in ("core", "core", "shapes", "functions", "rows", "sql", "python")
)
"""An operator is drawn from a group that is drawn first."""


def generate(rng: random.Random, depth: int, shared: bool = False) -> Plan:
    """Make a plan of at most so many operators in a row; `shared` plans stand where ``("it",)`` may be read."""
    if depth == 0 or rng.random() < 0.08:
        return _leaf(rng, shared)
    if depth > 1 and rng.random() < 0.12:
        return ("twice", generate(rng, rng.randrange(1, depth), shared), generate(rng, depth - 1, True))
    kind = rng.choice(rng.choice(GROUPS))
    choices, inputs = OPERATORS[kind].choices, OPERATORS[kind].inputs
    chosen = tuple(rng.randrange(n) for n in choices)
    return (
        kind,
        *chosen,
        *(generate(rng, depth - 1 if k == 0 else rng.randrange(depth), shared) for k in range(inputs)),
    )


def _leaf(rng: random.Random, shared: bool) -> Plan:
    if shared and rng.random() < 0.7:
        return IT
    return ("made", rng.randrange(len(MADE))) if rng.random() < 0.1 else ("scan", rng.randrange(N_TABLES))


def parts(plan: Plan) -> tuple[Plan, ...]:
    """Return the plans that a plan is made of."""
    if plan[0] in ("scan", "made", "it"):
        return ()
    return plan[1:] if plan[0] == "twice" else plan[1 + len(OPERATORS[plan[0]].choices) :]


def frame(plan: Plan, t: Frames, it: Any = None) -> Any:
    """The plan as Spark's DataFrame."""
    if plan[0] == "it":
        return it
    if plan[0] == "scan":
        return getattr(t, f"t{plan[1]}")
    if plan[0] == "made":
        return MADE[plan[1]].frame(t.spark)
    if plan[0] == "twice":
        return frame(plan[2], t, frame(plan[1], t, it))
    operator = OPERATORS[plan[0]]
    n = len(operator.choices)
    return operator.frame(*plan[1 : 1 + n], *(frame(p, t, it) for p in plan[1 + n :]))


def meaning(plan: Plan, t: Scans) -> Relation:
    """The plan's rows and their witnesses, by the oracle."""
    if plan[0] == "scan":
        return getattr(t, f"t{plan[1]}")
    if plan[0] == "made":
        return MADE[plan[1]].meaning(t)
    if plan[0] == "twice":
        return meaning(inlined(plan), t)
    operator = OPERATORS[plan[0]]
    n = len(operator.choices)
    below = [meaning(p, t) for p in plan[1 + n :] for _ in range(operator.reads)]
    if any(len(r.rows) > LARGEST for r in below):
        raise TooLargeError
    return operator.meaning(*plan[1 : 1 + n], *below)


def inlined(plan: Plan) -> Plan:
    """A plan of kind ``twice`` with the shared plan in its places."""
    return _with(plan[2], plan[1])


def _with(plan: Plan, it: Plan) -> Plan:
    if plan[0] == "it":
        return it
    if plan[0] == "twice":
        return ("twice", _with(plan[1], it), plan[2])
    below = parts(plan)
    return (*plan[: len(plan) - len(below)], *(_with(part, it) for part in below))


def kinds(plan: Plan) -> set[str]:
    """Names of the operators in a plan."""
    return {str(plan[0])}.union(*(kinds(part) for part in parts(plan)))


def tasks(plan: Plan, shuffled: int) -> int:
    """At most how many tasks a stage of the plan has, where an exchange makes so many."""
    return max(_tasks(plan, shuffled))


def _tasks(plan: Plan, shuffled: int) -> tuple[int, int]:
    """The same of its last stage, and of any."""
    if plan[0] == "twice":
        return _tasks(inlined(plan), shuffled)
    if not parts(plan):
        return FILES, FILES
    below = [_tasks(part, shuffled) for part in parts(plan) for _ in range(OPERATORS[plan[0]].reads)]
    spread = OPERATORS[plan[0]].spread
    if spread == "piped":
        last = below[0][0]
    elif spread == "pairing":
        last = max(shuffled, math.prod(part for part, _ in below))
    elif spread == "dependent":
        last = shuffled * math.prod(part for part, _ in below)
    else:
        last = sum(part for part, _ in below) if spread == "adding" else shuffled
    return last, max(last, *(most for _, most in below))


class TooLargeError(Exception):
    """The plan's relations grow beyond what nested loops should do."""


def smaller(plan: Plan) -> Iterator[Plan]:
    """Plans with one operator less, or with a part in its place."""
    below = parts(plan)
    if plan[0] == "twice":
        yield plan[1]
        yield inlined(plan)
    else:
        yield from below
    n = len(plan) - len(below)
    for i in range(n, len(plan)):
        for part in smaller(plan[i]):
            yield (*plan[:i], part, *plan[i + 1 :])


def shrink(plan: Plan, fails: Callable[[Plan], bool]) -> Plan:
    """The smallest plan reached by cutting that still fails."""
    for part in sorted(smaller(plan), key=lambda p: len(repr(p))):
        if len(repr(part)) < len(repr(plan)) and fails(part):
            return shrink(part, fails)
    return plan
