"""OperationList for people: those of one script line, or of one name, as one composite, with the columns in and out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from provspark.index_store.query.memo import kept
from provspark.index_store.query.nodes import WriteNode
from provspark.index_store.query.tabular import Tabular
from provspark.model.operations import Category, Column, Operation

__all__ = ["OperationLine", "OperationList", "operation_lines", "operation_table"]


@dataclass(frozen=True, slots=True)
class OperationLine:
    """One operation, or several of one script line or of one name that read as one."""

    step: str
    write: int
    dataset: str
    """What the write wrote."""
    operations: tuple[int, ...]
    """The operations' numbers within the write."""
    categories: tuple[Category, ...]
    contextual: bool
    text: str
    site: str
    name: str
    columns_in: tuple[str, ...]
    columns_out: tuple[str, ...]
    reads: tuple[str, ...]
    """Columns that go into others, or decide about rows."""
    makes: tuple[str, ...]
    """Columns that it does not read as they are: new ones, and those that it computes anew."""
    drops: tuple[str, ...]
    """Columns that it does not hand on, under any name."""
    rows_in: int | None
    """Over all that it reads; None where that was not counted."""
    rows_out: int | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OperationList(Tabular):
    """OperationList, in the order in which they ran."""

    lines: tuple[OperationLine, ...]

    def table(self) -> pa.Table:
        """One line for each `OperationLine`."""
        return operation_table(self.lines)

    def __repr__(self) -> str:
        return f"<{len(self.lines):,} operations>"


def operation_lines(
    node: WriteNode, chosen: Iterable[int] | None = None, *, parts: bool = False
) -> list[OperationLine]:
    """The operations of a write, in order; some of them only, or each alone instead of as composites."""
    numbers = None if chosen is None else [i for i in chosen if i < len(node.operations)]
    if numbers is None or len(numbers) == len(node.operations):
        return list(_all_lines(node, parts))
    return list(_lines(node, numbers, parts))


@kept
def _all_lines(node: WriteNode, parts: bool) -> tuple[OperationLine, ...]:
    return _lines(node, list(range(len(node.operations))), parts)


def _lines(node: WriteNode, numbers: list[int], parts: bool) -> tuple[OperationLine, ...]:
    operations = node.operations
    groups: dict[object, list[int]] = {}
    for i in numbers:
        op = operations[i]
        alone = parts or not (op.name or op.site) or "source" in op.categories
        groups.setdefault(i if alone else (op.name, op.site if not op.name else ""), []).append(i)
    return tuple(_line(node, operations, g) for g in sorted(groups.values(), key=max))


def operation_table(lines: Sequence[OperationLine]) -> pa.Table:
    """One line for each."""
    return pa.table({name: [getattr(line, name) for line in lines] for name in _SCHEMA.names}, schema=_SCHEMA)


_TEXTS = pa.list_(pa.string())
_SCHEMA = pa.schema(
    [
        *(("step", pa.string()), ("write", pa.int32()), ("dataset", pa.string())),
        *(("operations", pa.list_(pa.int32())), ("categories", _TEXTS), ("contextual", pa.bool_())),
        *((name, pa.string()) for name in ("text", "site", "name")),
        *((name, _TEXTS) for name in ("columns_in", "columns_out", "reads", "makes", "drops")),
        *(("rows_in", pa.int64()), ("rows_out", pa.int64())),
    ]
)


def _line(node: WriteNode, operations: Sequence[Operation], group: list[int]) -> OperationLine:
    members = [operations[i] for i in group]
    inside = set(group)
    below = list(dict.fromkeys(i for op in members for i in op.children if i not in inside))
    read_on = {i for k, op in enumerate(operations) if k not in inside for i in (*op.children, *op.subqueries)}
    above = [i for i in group if i in read_on or i == len(operations) - 1] or group[-1:]
    roots = _roots(members)
    ins = _distinct(c for i in below for c in operations[i].columns)
    outs = _distinct(c for i in above for c in operations[i].columns)
    kept = {c.id: roots.get(c.id, c.id) for c in outs}
    handed_on = set(kept.values())
    if below and max(below) > group[0]:
        fresh, handed_on = _changes(operations, group, roots)
        ins = [c for c in ins if c.id not in fresh]
    known = {c.id: c for c in ins}
    made = [c for c in outs if kept[c.id] not in known or known[kept[c.id]].name != c.name]
    used = dict.fromkeys(k.source for op in members for k in op.links if k.kind != "identity")
    rows_in = [operations[i].rows for i in below]
    last = operations[above[-1]]
    return OperationLine(
        step=node.step,
        write=node.write.index,
        dataset=str(node.write.output.dataset),
        operations=tuple(group),
        categories=tuple(dict.fromkeys(c for op in members for c in op.categories)),
        contextual=any(op.contextual for op in members),
        text="; ".join(op.text for op in members),
        site=members[-1].site,
        name=members[-1].name,
        columns_in=tuple(c.name for c in ins),
        columns_out=tuple(c.name for c in outs),
        reads=tuple(dict.fromkeys(known[i].name for i in used if i in known)),
        makes=tuple(c.name for c in made) if below else (),
        drops=tuple(c.name for c in ins if c.id not in handed_on),
        rows_in=sum(rows_in) if below and min(rows_in) >= 0 else None,
        rows_out=last.rows if len(above) == 1 and last.rows >= 0 else None,
    )


def _changes(
    operations: Sequence[Operation], group: Sequence[int], roots: Mapping[int, int]
) -> tuple[set[int], set[int]]:
    """The columns that a line's operations make, and those before them that all of them hand on, under any name.

    Told operation by operation, as in a script's loop operations of other lines stand between those of one.
    """
    ids = {
        i: {c.id for c in operations[i].columns} for i in {*group, *(j for k in group for j in operations[k].children)}
    }
    fresh: set[int] = set()
    gone: set[int] = set()
    for k in group:
        before = set[int]().union(*(ids[i] for i in operations[k].children))
        fresh |= ids[k] - before
        if lost := before - ids[k]:
            gone |= {roots.get(i, i) for i in lost} - {roots.get(i, i) for i in ids[k]}
    return fresh, set[int]().union(*ids.values()) - gone


def _roots(members: Iterable[Operation]) -> dict[int, int]:
    """The column that each column is under another id."""
    roots: dict[int, int] = {}
    for op in members:
        by_out: dict[int, list[tuple[int, str]]] = {}
        for link in op.links:
            by_out.setdefault(link.out, []).append((link.source, link.kind))
        for out, sources in by_out.items():
            if len(sources) == 1 and sources[0][1] == "identity":
                roots[out] = roots.get(sources[0][0], sources[0][0])
    return roots


def _distinct(columns: Iterable[Column]) -> list[Column]:
    return list({c.id: c for c in columns}.values())
