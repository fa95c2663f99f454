"""Joins: the rows in question meet their partners, which are looked for in the whole other side."""

from __future__ import annotations

import re
from collections.abc import Sequence

from provspark.index_store.operations import Operation
from provspark.replay.columns import FOCUS, GATHERED, HIDDEN, NONE, PARENT, WITNESS, labels
from provspark.replay.rules.base import Frame, Kit, Refused, detail, of_role, select, united

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
_MARK = "__left_row"


class Join:
    """Any join of two sides on a condition."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `Rule`."""
        left, right = inputs
        kind, condition = _kind(operation), _condition(operation, kit)
        if kind == "semi":
            return select(_semi(left, right, condition), labels(operation.columns))
        if kind == "anti":
            return select(_anti(left, right, condition), labels(operation.columns))
        return select(_pairs(left, right, condition, kind), labels(operation.columns))

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        """See `Rule`."""
        kind, condition = _kind(operation), _condition(operation, kit)
        one, other = operation.children
        left, right = kit.focus(one), kit.focus(other)
        parts = []
        if left is not None:
            near = _near(kit.all(other), left, condition)
            if kind == "semi":
                parts.append(_semi(left, near, condition))
            elif kind == "anti":
                parts.append(_anti(left, near, condition))
            else:
                parts.append(_pairs(left, near, condition, "left" if kind in ("left", "full") else "inner"))
        if right is not None and kind != "anti":
            if kind == "semi":
                parts.append(_semi(_near(kit.rest(one), right, condition), right, condition))
            elif kind in ("right", "full"):
                near = (
                    _near(kit.all(one), right, condition)
                    .withColumnRenamed(FOCUS, "__told")
                    .selectExpr("*", f"__told AS {FOCUS}")
                )
                met = _pairs(near, right, condition, "right")
                parts.append(met.filter("NOT coalesce(__told, false)"))
            else:
                parts.append(_pairs(_near(kit.rest(one), right, condition), right, condition, "inner"))
        return united([select(p, labels(operation.columns)) for p in parts])


def _kind(operation: Operation) -> str:
    text = detail(operation, "type")
    kind = _KINDS.get(re.sub("[^a-z]", "", text.lower()))
    if kind is None:
        raise Refused(operation, f"joins of type {text!r} are not replayed")
    return kind


def _condition(operation: Operation, kit: Kit) -> str:
    return " AND ".join(f"({kit.sql(operation, e)})" for e in of_role(operation, "condition")) or "true"


def _near(side: Frame, some: Frame, condition: str) -> Frame:
    """Return the rows of a side that some rows of the other meet."""
    from pyspark.sql import functions as sf

    if condition == "true":
        return side
    return side.join(sf.broadcast(some.drop(*HIDDEN)), sf.expr(condition), "left_semi")


def _renamed(frame: Frame) -> Frame:
    return frame.withColumnsRenamed({name: f"{name}_right" for name in HIDDEN})


def _pairs(left: Frame, right: Frame, condition: str, how: str) -> Frame:
    from pyspark.sql import functions as sf

    joined = left.join(_renamed(right), sf.expr(condition), how)
    both = {
        name: f"concat(coalesce({name}, {NONE[name]}), coalesce({name}_right, {NONE[name]}))"
        for name in (WITNESS, PARENT)
    }
    both[FOCUS] = f"coalesce({FOCUS}, false) OR coalesce({FOCUS}_right, false)"
    return joined.withColumns({name: sf.expr(sql) for name, sql in both.items()})


def _semi(left: Frame, right: Frame, condition: str) -> Frame:
    """Keep left rows that have a partner; all partners are among their witnesses."""
    from pyspark.sql import functions as sf

    names = [n for n in left.columns if n not in HIDDEN]
    marked = left.withColumn(_MARK, sf.monotonically_increasing_id())
    columns = [sf.first(sf.col(f"`{n.replace('`', '``')}`")).alias(n) for n in names]
    met = _pairs(marked, right, condition, "inner")
    return met.groupBy(_MARK).agg(*columns, *(sf.expr(e) for e in GATHERED)).drop(_MARK)


def _anti(left: Frame, right: Frame, condition: str) -> Frame:
    from pyspark.sql import functions as sf

    return left.join(_renamed(right), sf.expr(condition), "left_anti")
