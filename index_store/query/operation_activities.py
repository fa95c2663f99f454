"""Operations as activities of W3C PROV, as in Chapman et al.

An operation that reads a dataset used its rows or cells. The last operation generated the written rows, and the one
that made a column generated its cells. Rows between operations are not stored, so an operation was informed by the one
before it. ``dcterms:isPartOf`` links an operation to its composite or write, and a composite to its write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from provspark.index_store.export.prov_json import ProvDocument, qualified
from provspark.index_store.query.column_maps import leaves_rows, names_of
from provspark.index_store.query.nodes import WriteNode
from provspark.index_store.query.operation_line import OperationLine
from provspark.index_store.query.operation_list import operation_lines
from provspark.model.neighbours import CellEdge, RowEdge, RowNode

__all__ = ["TextOf", "add_operations", "add_operations_of_cells"]

TextOf = Callable[[WriteNode, Sequence[int], str], str | None]
"""Return the text that may be shown for operations of a write, given their numbers and their text."""

Writes = Mapping[tuple[str, int], WriteNode]


def add_operations(
    document: ProvDocument,
    writes: Writes,
    edges: Iterable[RowEdge],
    dropped: Iterable[tuple[RowNode, str, int]],
    text: TextOf,
) -> None:
    """Add the operations of writes, and the rows that they used, generated and invalidated."""
    for node in writes.values():
        _add_activities(document, node, text)
    for edge in edges:
        node = writes[edge.step, edge.write]
        if node.operations:
            for i in _reading(node, edge.occurrence):
                document.add_usage(_operation(node, i), edge.source)
            if edge.kind == "data":
                document.add_generation(_operation(node, len(node.operations) - 1), edge.row)
    for row, step, number in dropped:
        node = writes[step, number]
        ends = _ending(node)
        if len(ends) == 1:
            document.add_invalidation(_operation(node, ends[0]), row)


def add_operations_of_cells(document: ProvDocument, writes: Writes, edges: Iterable[CellEdge]) -> None:
    """Add the cells that operations used and generated."""
    for edge in edges:
        node = writes[edge.step, edge.write]
        if not node.operations:
            continue
        for i in _reading(node, edge.occurrence):
            document.add_usage(_operation(node, i), edge.source)
        made = _maker(node, edge.cell.column) if edge.kind == "data" else None
        if made is not None:
            document.add_generation(_operation(node, made), edge.cell)


def _add_activities(document: ProvDocument, node: WriteNode, text: TextOf) -> None:
    write = document.write_of(node.step, node.write.index)
    within: dict[int, str] = {}
    for line in operation_lines(node):
        if len(line.operations) > 1:
            name = f"ps:composite/{node.step}/{node.write.index}/{line.operations[0]}"
            shown = text(node, line.operations, line.text)
            document.add_activity(name, _about(line, "ps:Composite", write, shown))
            within |= dict.fromkeys(line.operations, name)
    for line in operation_lines(node, parts=True):
        (number,) = line.operations
        shown = text(node, line.operations, line.text)
        name = _operation(node, number)
        document.add_activity(name, _about(line, "ps:Operation", within.get(number, write), shown))
        op = node.operations[number]
        for before in (*op.children, *op.subqueries):
            document.add_communication(name, _operation(node, before))


def _about(line: OperationLine, kind: str, whole: str, shown: str | None) -> dict[str, object]:
    return {
        "prov:type": qualified(kind),
        "prov:label": line.name or shown,
        "dcterms:isPartOf": qualified(whole),
        "ps:category": [*line.category],
        "ps:text": shown,
        "ps:site": line.site,
        "ps:name": line.name,
    }


def _operation(node: WriteNode, number: int) -> str:
    return f"ps:operation/{node.step}/{node.write.index}/{number}"


def _reading(node: WriteNode, occurrence: int) -> list[int]:
    """Return the numbers of the operations that read an occurrence of an input."""
    axes = {i for i, a in enumerate(node.write.axes) if a.role == "input" and a.occurrence == occurrence}
    return [op.index for op in node.operations if axes & {*op.axes}]


def _ending(node: WriteNode) -> list[int]:
    """Return the numbers of the operations that may drop rows."""
    return [
        op.index
        for op in node.operations
        if op.children and not leaves_rows(op, node.operations) and any(link.kind != "sort" for link in op.links)
    ]


def _maker(node: WriteNode, column: str) -> int | None:
    """Return the number of the operation that made a column of the output."""
    last = node.operations[-1]
    names = names_of(node.output)
    wanted = column if column in names else ""
    ids = [c.id for c in last.columns if c.name.lower() == wanted.lower()]
    makers = [op.index for op in node.operations for c in op.columns if ids and c.id == ids[0]]
    return min(makers, default=None)
