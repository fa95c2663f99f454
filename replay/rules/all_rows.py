"""Operations that decide about a row by all others: limits, and set operators."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.operations import Operation
from provspark.replay.columns import FOCUS, HIDDEN, PARENT, labels, named, placed
from provspark.replay.rules.base import Frame, Kit, Refused, detail, select, united
from provspark.replay.rules.groups import Distinct, grouped_with
from provspark.replay.rules.narrow import Sort, branches
from provspark.replay.rules.witnesses import anti, semi


class LimitRule:
    """limit, offset: the first rows of an order, or of none."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `Rule`."""
        n = int(detail(operation, "n", "-1"))
        if n < 0:
            raise Refused(operation, "how many rows it takes is not stored")
        return inputs[0].offset(n) if operation.node == "Offset" else inputs[0].limit(n)

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        """See `Rule`."""
        child = kit.focus(operation.children[0])
        if child is None:
            return None
        sort = kit.operation(operation.children[0])
        if sort.node == "Sort":
            rows = Sort().build(sort, [kit.all(sort.index)], kit)
            return self.build(operation, [rows], kit).filter(FOCUS)
        kit.unsure(operation, "which rows Spark took, as no order stands right below it")
        taken = self.build(operation, [kit.whole(sort.index)], kit).filter(FOCUS)
        return _parented(taken, child, labels(operation.columns))


def _parented(found: Frame, before: Frame, names: Sequence[str]) -> Frame:
    """Give rows, which are some of those before, their parents."""
    from pyspark.sql import functions as sf

    key = ", ".join(names)
    place = f"row_number() OVER (PARTITION BY {key} ORDER BY {{}}) AS __place"
    mine = before.selectExpr(*names, *HIDDEN, place.format(PARENT))
    taken = found.selectExpr(*(f"{n} AS `__{i}`" for i, n in enumerate(names)), place.format("1"))
    same = " AND ".join([*(f"{n} <=> `__{i}`" for i, n in enumerate(names)), "__place <=> __place2"])
    kept = mine.join(taken.withColumnRenamed("__place", "__place2"), sf.expr(same), "left_semi")
    return select(kept, names)


class Union:
    """Rows of several children, one behind the other."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `Rule`."""
        parts = [select(f, b) for f, b in zip(inputs, branches(operation, kit), strict=True)]
        return united(parts)

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        """See `Rule`."""
        texts = branches(operation, kit)
        found = [(kit.focus(c), t) for c, t in zip(operation.children, texts, strict=True)]
        return united([select(f, t) for f, t in found if f is not None])


class Set:
    """INTERSECT and EXCEPT of distinct rows."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `Rule`."""
        if detail(operation, "all") == "true":
            raise Refused(operation, f"{operation.node} ALL is not replayed")
        left, right = _sides(operation, inputs, kit)
        return self._met(operation, left, right, kit)

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        """See `Rule`."""
        if detail(operation, "all") == "true":
            raise Refused(operation, f"{operation.node} ALL is not replayed")
        names = labels(operation.columns)
        sides = operation.children[:1] if operation.node == "Except" else operation.children
        found = [(kit.focus(c), c) for c in sides]
        rows = united([f.selectExpr(*_named(kit.operation(c), operation)) for f, c in found if f is not None])
        if rows is None:
            return None
        near = []
        for c in operation.children:
            side = kit.all(c).selectExpr(*_named(kit.operation(c), operation), *HIDDEN)
            near.append(grouped_with(rows, side, names))
        right = near[1].selectExpr(*(f"{n} AS `__{i}`" for i, n in enumerate(names)), *HIDDEN)
        return self._met(operation, near[0], right, kit).filter(FOCUS)

    def _met(self, operation: Operation, left: Frame, right: Frame, kit: Kit) -> Frame:
        meet = semi if operation.node == "Intersect" else anti
        return Distinct().build(operation, [meet(left, right, _equal(operation))], kit)


def _named(child: Operation, operation: Operation) -> list[str]:
    pairs = {c.id: (mine, c) for mine, c in zip(placed(child.columns), operation.columns, strict=True)}.values()
    return [named(mine, c) for mine, c in pairs]


def _sides(operation: Operation, inputs: Sequence[Frame], kit: Kit) -> tuple[Frame, Frame]:
    one, other = (kit.operation(c) for c in operation.children)
    right = select(inputs[1], _named(other, operation))
    away = [f"{n} AS `__{i}`" for i, n in enumerate(labels(operation.columns))]
    return select(inputs[0], _named(one, operation)), select(right, away)


def _equal(operation: Operation) -> str:
    return " AND ".join(f"{n} <=> `__{i}`" for i, n in enumerate(labels(operation.columns)))
