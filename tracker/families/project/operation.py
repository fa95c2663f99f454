"""Projections: columns that are computed, renamed or dropped."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import AGAIN, OperationRule, computed
from provspark.model.operation_texts import made


def _text(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    before = {c.id: c.name for i in o.children for c in all_of[i].columns}
    plain = {e.expression.column: e.tree.term.column for e in o.expressions if e.tree.term.column in before}
    kept = {plain.get(c.id, c.id) for c in o.columns}
    renamed = [f"{before[plain[c.id]]} as {c.name}" for c in o.columns if c.id in plain and plain[c.id] in before]
    gone = [name for i, name in before.items() if i not in kept]
    computed = [m for m, e in zip(made(o), o.of_role("output"), strict=True) if e.expression.column not in plain]
    parts = [", ".join(computed), f"name {', '.join(renamed)}" if renamed else ""]
    parts.append(f"drop {', '.join(gone)}" if gone else "")
    return "; ".join(p for p in parts if p) or "select " + ", ".join(c.name for c in o.columns)


OPERATIONS = {"Project": OperationRule(_text, computed, as_many=True, opaque=AGAIN)}
