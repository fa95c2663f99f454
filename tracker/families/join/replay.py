"""Joins: the selected rows are joined with their partners from the whole other side."""

from __future__ import annotations

import re
from collections.abc import Sequence

from provspark.model.operations import Operation
from provspark.replay.columns import FOCUS, HIDDEN, labels
from provspark.replay.contract import Frame, Kit, Refused, ReplayRule, condition_of, detail, of_role, select, united
from provspark.replay.key_literals import equalities, one_of
from provspark.replay.records import Cause
from provspark.replay.witnesses import anti, pairs, semi

_KINDS = {
    "inner": "inner",
    "cross": "inner",
    "left": "left",
    "leftouter": "left",
    "right": "right",
    "rightouter": "right",
    "full": "full",
    "fullouter": "full",
    "outer": "full",
    "semi": "semi",
    "leftsemi": "semi",
    "anti": "anti",
    "leftanti": "anti",
}


class Join(ReplayRule):
    """Any join of two sides on a condition."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        left, right = inputs
        kind, condition = _kind(operation), condition_of(operation, kit)
        if kind == "semi":
            return select(semi(left, right, condition), labels(operation.columns))
        if kind == "anti":
            return select(anti(left, right, condition), labels(operation.columns))
        return select(pairs(left, right, condition, kind), labels(operation.columns))

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        kind, condition = _kind(operation), condition_of(operation, kit)
        one, other = operation.children
        left, right = kit.focus(one), kit.focus(other)
        if kind == "inner" and kit.alone(one) and kit.alone(other):
            if left is None or right is None:
                return None
            return select(pairs(left, right, condition, kind), labels(operation.columns))
        equal = equalities(operation, of_role(operation, "condition"), kit)
        parts = []
        if left is not None:
            near = _near(kit.all(other, one_of(left, equal, nulls=False)), left, condition)
            if kind == "semi":
                parts.append(semi(left, near, condition))
            elif kind == "anti":
                parts.append(anti(left, near, condition))
            else:
                parts.append(pairs(left, near, condition, "left" if kind in ("left", "full") else "inner"))
        if right is not None and kind != "anti":
            where = one_of(right, [(b, a) for a, b in equal], nulls=False)
            if kind == "semi":
                parts.append(semi(_near(kit.rest(one, where), right, condition), right, condition))
            elif kind in ("right", "full"):
                near = (
                    _near(kit.all(one, where), right, condition)
                    .withColumnRenamed(FOCUS, "__told")
                    .selectExpr("*", f"__told AS {FOCUS}")
                )
                met = pairs(near, right, condition, "right")
                parts.append(met.filter("NOT coalesce(__told, false)"))
            else:
                parts.append(pairs(_near(kit.rest(one, where), right, condition), right, condition, "inner"))
        return united([select(p, labels(operation.columns)) for p in parts])

    def equates(self, operation: Operation) -> bool:
        return detail(operation, "type").lower() in ("inner", "leftsemi")

    def cause(self, operation: Operation, before: int) -> Cause:
        second = operation.children[-1] == before and operation.children[0] != before
        if "anti" in re.sub("[^a-z]", "", detail(operation, "type").lower()):
            return "only decides" if second else "has a partner"
        return "no partner"

    def query(self, operation: Operation, columns: str, under: Sequence[str], kit: Kit) -> str:
        if detail(operation, "type").lower() not in ("inner", "cross"):
            return super().query(operation, columns, under, kit)
        return f"SELECT {columns} FROM {under[0]} JOIN {under[1]} ON {condition_of(operation, kit)}"


def _kind(operation: Operation) -> str:
    text = detail(operation, "type")
    kind = _KINDS.get(re.sub("[^a-z]", "", text.lower()))
    if kind is None:
        raise Refused(operation, f"joins of type {text!r} are not replayed")
    return kind


def _near(side: Frame, some: Frame, condition: str) -> Frame:
    """Return the rows of a side that match some rows of the other side."""
    from pyspark.sql import functions as sf

    if condition == "true":
        return side
    return side.join(sf.broadcast(some.drop(*HIDDEN)), sf.expr(condition), "left_semi")


RULES = {"Join": Join()}
REFUSED = {"LateralJoin": "replay can't compute its subquery for each row; use a join without LATERAL"}
