"""Operations that make each row from one row: nothing else is needed to replay them."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.operations import Operation
from provspark.replay.columns import HIDDEN, distinct, labels, named, placed, quoted
from provspark.replay.rules.base import Frame, Kit, detail, of_role, outputs, select, united
from provspark.replay.rules.witnesses import anti, semi


class NarrowRule:
    """What these rules share."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `Rule`."""
        raise NotImplementedError

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        """See `Rule`."""
        child = kit.focus(operation.children[0])
        return None if child is None else self.build(operation, [child], kit)


class Project(NarrowRule):
    """Columns computed, renamed, left out."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `Rule`."""
        return select(inputs[0], outputs(operation, kit))


class Filter(NarrowRule):
    """Rows for which a condition holds."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `Rule`."""
        (condition,) = of_role(operation, "condition")
        return select(inputs[0].filter(kit.sql(operation, condition)), labels(operation.columns))

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        """See `Rule`."""
        child = operation.children[0]
        mine = kit.focus(child)
        for subquery in kit.demanded(operation):
            found, met = kit.focus(subquery.met), subquery.condition
            other = semi(kit.rest(child), found, met)
            if mine is not None:
                other = united([other, semi(mine, found, met), anti(mine, found, met)])
            mine = other
        return None if mine is None else self.build(operation, [mine], kit)


class SameRule(NarrowRule):
    """What neither makes nor drops anything: hints, repartitioning, caches, which number their columns anew."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `Rule`."""
        had = kit.operation(operation.children[0]).columns
        pairs = {c.id: (label, c) for label, c in zip(placed(had), operation.columns, strict=True)}.values()
        return select(inputs[0], [named(label, c) for label, c in pairs])


class Sort(NarrowRule):
    """An order of rows."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `Rule`."""
        return inputs[0].orderBy(*order(operation, kit))


class Generate(NarrowRule):
    """explode and its like."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `Rule`."""
        (generator,) = of_role(operation, "generator")
        had = {c.id for c in kit.operation(operation.children[0]).columns}
        made = [c for c in distinct(operation.columns) if c.id not in had]
        text = kit.sql(operation, generator)
        outer = detail(operation, "outer") == "true"
        frame = inputs[0]
        view = f"LATERAL VIEW {'OUTER ' if outer else ''}{text} made AS {', '.join(labels(made))}"
        columns = ", ".join([*labels(operation.columns), *HIDDEN])
        return frame.sparkSession.sql(f"SELECT {columns} FROM {{frame}} {view}", frame=frame)


class Expand(NarrowRule):
    """Grouping sets and unpivoting: several rows of each, one for each branch."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `Rule`."""
        out = [select(inputs[0], branch) for branch in branches(operation, kit)]
        whole = out[0]
        for frame in out[1:]:
            whole = whole.unionByName(frame)
        return whole


def branches(operation: Operation, kit: Kit) -> list[list[str]]:
    """Write the columns of each branch of an append or Expand; one that a branch does not make is handed on."""
    found: dict[int, dict[int, str]] = {}
    for e in of_role(operation, "branch"):
        about = dict(e.details)
        number = int(about.get("child") or about.get("copy") or 0)
        found.setdefault(number, {})[e.column] = kit.sql(operation, e)
    many = int(detail(operation, "copies", "0")) or len(operation.children)
    every = distinct(operation.columns)
    return [[named(found.get(i, {}).get(c.id, quoted(c.label)), c) for c in every] for i in range(many)]


def order(operation: Operation, kit: Kit) -> list[Frame]:
    """Return the columns that an operation sorts by."""
    from pyspark.sql import functions as sf

    out = []
    for e in of_role(operation, "order"):
        about = dict(e.details)
        column = sf.expr(kit.sql(operation, e))
        down = about.get("direction", "").upper().startswith("DESC")
        first = about.get("nulls", "").upper().endswith("FIRST")
        if down:
            out.append(column.desc_nulls_first() if first else column.desc_nulls_last())
        else:
            out.append(column.asc_nulls_first() if first else column.asc_nulls_last())
    return out
