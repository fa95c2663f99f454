"""What an operation does, in a line for people."""

from __future__ import annotations

import re
from collections.abc import Sequence

from provspark.tracker.plan.operations.draft import DraftExpression, DraftOperation

_LABEL = re.compile(r"`((?:[^`]|``)+)#(\d+)`")
_QUERY = re.compile(r"\(SELECT \* FROM `subquery#(\d+)`\)")
_NUMBER = re.compile(r"CAST\((-?[\d.]+) AS \w+\)")
_PLAIN = re.compile(r"\w+")
_MOST = 240
_SETS = {"Except": "keep rows that are not in the second input", "Intersect": "keep rows that are in both inputs"}


def text(operation: DraftOperation, all_of: Sequence[DraftOperation], source: str) -> str:
    """Return the line; `source` names what a leaf reads, where that is known."""
    made = _text(operation, all_of, source)
    return made if len(made) <= _MOST else made[: _MOST - 1] + "…"


def _text(o: DraftOperation, all_of: Sequence[DraftOperation], source: str) -> str:
    conditions = " AND ".join(_outer(shown(e)) for e in o.of_role("condition"))
    keys = ", ".join(shown(e) for e in o.of_role("group"))
    match o.node:
        case "Project":
            return _project(o, all_of)
        case "Filter":
            return f"keep rows where {conditions}"
        case "Join" | "LateralJoin" | "AsOfJoin":
            how = o.detail("type").lower()
            return f"{how or 'as-of'} join" + (f" on {conditions}" if conditions else "")
        case "Aggregate":
            values = ", ".join(_made(o))
            return (f"group by {keys}" if keys else "aggregate all rows") + (f": {values}" if values else "")
        case "Window":
            return ", ".join(_made(o))
        case "Sort":
            return "sort by " + ", ".join(_ordered(e) for e in o.of_role("order"))
        case "GlobalLimit" | "LocalLimit":
            return f"keep {o.detail('n')} rows"
        case "Tail":
            return f"keep the last {o.detail('n')} rows"
        case "Offset":
            return f"leave out {o.detail('n')} rows"
        case "Distinct":
            return "drop duplicates"
        case "Deduplicate":
            return f"drop duplicates by {keys}"
        case "Sample":
            return f"sample from {o.detail('lower')} to {o.detail('upper')}"
        case "Union":
            return f"append {len(o.children)} inputs"
        case "Except" | "Intersect":
            return _SETS[o.node]
        case "Generate":
            ids = set(map(int, o.detail("columns").split()))
            names = ", ".join(c.name for c in o.columns if c.id in ids)
            return f"{', '.join(shown(e) for e in o.of_role('generator'))} into {names}"
        case "Expand":
            return f"make {o.detail('copies')} copies of each row"
        case "InMemoryRelation" | "LogicalRDD" if o.children:
            return "read what was kept"
    if not o.children:
        return f"read {source or o.detail('table') or o.detail('format') or o.node}"
    return " ".join([o.node, *(shown(e) for e in o.expressions)])


def _project(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    before = {c.id: c.name for i in o.children for c in all_of[i].columns}
    plain = {e.expression.column: e.tree.term.column for e in o.expressions if e.tree.term.column in before}
    kept = {plain.get(c.id, c.id) for c in o.columns}
    renamed = [f"{before[plain[c.id]]} as {c.name}" for c in o.columns if c.id in plain and plain[c.id] in before]
    gone = [name for i, name in before.items() if i not in kept]
    computed = [m for m, e in zip(_made(o), o.of_role("output"), strict=True) if e.expression.column not in plain]
    parts = [", ".join(computed), f"name {', '.join(renamed)}" if renamed else ""]
    parts.append(f"drop {', '.join(gone)}" if gone else "")
    return "; ".join(p for p in parts if p) or "select " + ", ".join(c.name for c in o.columns)


def _made(o: DraftOperation) -> list[str]:
    names = {c.id: c.name for c in o.columns}
    return [f"{names.get(e.expression.column, '')} = {shown(e)}" for e in o.of_role("output")]


def _ordered(e: DraftExpression) -> str:
    direction = dict(e.expression.details).get("direction", "ASC")
    return shown(e) + (" DESC" if direction == "DESC" else "")


def shown(e: DraftExpression) -> str:
    """Return an expression with the user's names."""
    named = _QUERY.sub(r"(operation \1)", _NUMBER.sub(r"\1", e.shown))
    return _LABEL.sub(lambda m: m[1] if _PLAIN.fullmatch(m[1]) else f"`{m[1]}`", named)


def _outer(text: str) -> str:
    """Leave out brackets around it all."""
    if not text.startswith("(") or not text.endswith(")"):
        return text
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and i < len(text) - 1:
            return text
    return text[1:-1]
