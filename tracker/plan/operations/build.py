"""From drafts to what is stored."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from provspark.model.operations import Column, Expression, Operation, Operations, Term
from provspark.model.writes import Axis
from provspark.tracker.plan.operations.categories import categories
from provspark.tracker.plan.operations.draft import DraftExpression, DraftOperation, Tree, drafts
from provspark.tracker.plan.operations.links import links
from provspark.tracker.plan.operations.opaque import opaque
from provspark.tracker.plan.operations.texts import text

log = logging.getLogger("provspark")

AS_MANY = frozenset(
    {"Project", "Sort", "Window", "Repartition", "RepartitionByExpression", "RebalancePartitions", "ResolvedHint"}
    | {"CollectMetrics", "EventTimeWatermark"}
)
"""Operations that hand on as many rows as they get."""
GROUPS = frozenset({"Aggregate", "Deduplicate", "Distinct"})
"""Operations that become an aggregate, which reads all rows before it hands one on."""
_CONTEXTUAL = frozenset({"Aggregate", "Window"})


@dataclass(frozen=True, slots=True)
class Draft:
    """The operations of a plan that is not written yet."""

    reading: Any
    """java/plan/PlanOperations.java's."""

    def build(
        self,
        axes: Sequence[Axis] = (),
        paths: Sequence[tuple[int, ...]] = (),
        rows: int = -1,
        grouped: int = -1,
        names: Sequence[str] = (),
    ) -> Operations:
        """Return what is stored.

        Parameters
        ----------
        axes : of the write, its inputs' in the order of `paths` right behind its output's
        paths : see `Rewriter.paths`; none of a write that is not tracked
        rows : how many were written
        grouped : how many went into the aggregate whose groups were all written, where there is one
        names : of the columns where they are written by position; none where by name
        """
        found, settings = drafts(str(self.reading.json()))
        found += _renamed(found, names)
        counts = _counts(found, rows, grouped)
        return Operations(tuple(_one(o, found, axes, paths, counts) for o in found), settings)


def _renamed(found: Sequence[DraftOperation], names: Sequence[str]) -> tuple[DraftOperation, ...]:
    """Return the operation that gives the columns the names under which they are written, as SQL's INSERT has it."""
    last = found[-1]
    if len(names) != len(last.columns) or [n.lower() for n in names] == [c.name.lower() for c in last.columns]:
        return ()
    first = 1 + max(c.id for o in found for c in o.columns)
    made = tuple(Column(first + i, n, c.type) for i, (n, c) in enumerate(zip(names, last.columns, strict=True)))
    expressions = []
    for new, old in zip(made, last.columns, strict=True):
        terms = (Term("AttributeReference", old.name, old.id),)
        sql = "`" + old.label.replace("`", "``") + "`"
        expressions.append(DraftExpression(Expression("output", sql, terms, new.id), Tree.of(terms), "", ""))
    return (
        DraftOperation(
            last.index + 1, "Project", (last.index,), (), made, tuple(expressions), (), None, last.site, last.name
        ),
    )


def _counts(found: Sequence[DraftOperation], rows: int, grouped: int) -> dict[int, int]:
    """Return how many rows operations handed on: all that go straight on to where they were written, or counted."""
    counts = {}
    at = found[-1]
    while True:
        counts[at.index] = rows
        if len(at.children) != 1 or at.subqueries:
            return counts
        if at.node in GROUPS:
            rows, grouped = grouped, -1
        elif at.node not in AS_MANY:
            return counts
        at = found[at.children[0]]


def _one(
    o: DraftOperation,
    found: Sequence[DraftOperation],
    axes: Sequence[Axis],
    paths: Sequence[tuple[int, ...]],
    counts: dict[int, int],
) -> Operation:
    mine = () if o.path is None else tuple(1 + i for i, p in enumerate(paths) if p[: len(o.path)] == o.path)
    source = ", ".join(dict.fromkeys(axes[i].label for i in mine))
    outer = sorted({t.column for e in o.expressions for t in e.tree.walk() if t.node == "OuterReference"})
    details = o.details + ((("outer columns", " ".join(map(str, outer))),) if outer else ())
    return Operation(
        index=o.index,
        node=o.node,
        categories=categories(o, found),
        text=text(o, found, source),
        children=o.children,
        subqueries=o.subqueries,
        columns=o.columns,
        expressions=tuple(e.expression for e in o.expressions),
        links=links(o, found),
        details=details,
        axes=mine,
        contextual=o.node in _CONTEXTUAL or any(_scalar(o)) or o.detail("transformer").endswith("Model"),
        site=o.site,
        name=o.name,
        rows=counts.get(o.index, -1),
        opaque=opaque(o),
    )


def built(
    draft: Draft,
    axes: Sequence[Axis] = (),
    paths: Sequence[tuple[int, ...]] = (),
    rows: int = -1,
    grouped: int = -1,
    names: Sequence[str] = (),
) -> Operations | None:
    """Return what `Draft.build` does; None, with a line in the log, where it fails."""
    try:
        return draft.build(axes, paths, rows, grouped, names)
    except Exception as e:
        log.info("provspark: the operations of a write are not known: %s", e)
        return None


def _scalar(o: DraftOperation) -> list[bool]:
    return [t.node == "ScalarSubquery" for e in o.expressions for t in e.tree.walk()]
