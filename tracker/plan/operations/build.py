"""Builds the operations that are stored from their drafts."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import OperationRule
from provspark.model.operations import Operation, Operations
from provspark.model.writes import Axis
from provspark.tracker.families.registry import operation_rule
from provspark.tracker.plan.operations.draft import drafts
from provspark.tracker.plan.operations.opaque import opaque

log = logging.getLogger("provspark")

_MOST = 240
"""Maximum length of an operation's text, in characters."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Operations of a plan that has not been written yet."""

    reading: Any
    """A `PlanReading` of java/plan/PlanOperations.java."""

    def build(
        self,
        axes: Sequence[Axis] = (),
        paths: Sequence[tuple[int, ...]] = (),
        rows: int = -1,
        grouped: int = -1,
    ) -> Operations:
        """Return the operations to store.

        Parameters
        ----------
        axes : of the write: its output's, then its inputs' in the order of `paths`
        paths : see `Rewriter.paths`; empty if the write is not tracked
        rows : number of rows written; -1 if it is unknown
        grouped : number of rows that went into the aggregate whose groups were all written; -1 if there is none
        """
        drafted, settings = drafts(str(self.reading.json()))
        counts = _counts(drafted, rows, grouped)
        return Operations(tuple(_one(o, drafted, axes, paths, counts) for o in drafted), settings)


def _counts(drafted: Sequence[DraftOperation], rows: int, grouped: int) -> dict[int, int]:
    """Return the row counts of operations that follow from the counts of written and grouped rows."""
    counts = {}
    at = drafted[-1]
    while True:
        counts[at.index] = rows
        if len(at.children) != 1 or at.subqueries:
            return counts
        rule = operation_rule(at.node)
        if rule.groups:
            rows, grouped = grouped, -1
        elif not rule.as_many:
            return counts
        at = drafted[at.children[0]]


def _one(
    o: DraftOperation,
    drafted: Sequence[DraftOperation],
    axes: Sequence[Axis],
    paths: Sequence[tuple[int, ...]],
    counts: dict[int, int],
) -> Operation:
    mine = () if o.path is None else tuple(1 + i for i, p in enumerate(paths) if p[: len(o.path)] == o.path)
    source = ", ".join(dict.fromkeys(axes[i].label for i in mine))
    outer = sorted({t.column for e in o.expressions for t in e.tree.walk() if t.node == "OuterReference"})
    details = o.details + ((("outer columns", " ".join(map(str, outer))),) if outer else ())
    rule = operation_rule(o.node)
    return Operation(
        index=o.index,
        node=o.node,
        categories=rule.categories_of(o, drafted),
        text=_text(rule, o, drafted, source),
        children=o.children,
        subqueries=o.subqueries,
        columns=o.columns,
        expressions=tuple(e.expression for e in o.expressions),
        links=rule.links_of(o, drafted),
        details=details,
        axes=mine,
        contextual=rule.contextual or any(_scalar(o)) or o.detail("transformer").endswith("Model"),
        site=o.site,
        name=o.name,
        rows=counts.get(o.index, -1),
        opaque=opaque(o),
    )


def _text(rule: OperationRule, o: DraftOperation, drafted: Sequence[DraftOperation], source: str) -> str:
    """Return an operation's text; `source` names what a leaf reads, or is ""."""
    what = source or o.detail("table") or o.detail("format") or o.node
    text = rule.text(o, drafted) if o.children else f"read {what}"
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"


def built(
    draft: Draft,
    axes: Sequence[Axis] = (),
    paths: Sequence[tuple[int, ...]] = (),
    rows: int = -1,
    grouped: int = -1,
) -> Operations | None:
    """Return the result of `Draft.build`; None, with a line in the log, if it fails."""
    try:
        return draft.build(axes, paths, rows, grouped)
    except Exception as e:
        log.info("provspark: can't build the operations of a write, so they are not stored: %s", e)
        return None


def _scalar(o: DraftOperation) -> list[bool]:
    return [t.node == "ScalarSubquery" for e in o.expressions for t in e.tree.walk()]
