"""Lists of operations. Those of one script line or one name are combined, unless each is requested on its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from provspark.index_store.query.memo import kept
from provspark.index_store.query.nodes import WriteNode
from provspark.index_store.query.notebook import brief, listed
from provspark.index_store.query.operation_line import OperationLine, line_of
from provspark.index_store.query.tabular import METADATA, FormerTable
from provspark.model.json_form import jsonable
from provspark.model.operations import Operation
from provspark.model.stops import Stop
from provspark.model.wording import counted

__all__ = ["OperationLine", "OperationList", "operation_lines", "operation_table"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OperationList(FormerTable):
    """Operations in execution order."""

    lines: tuple[OperationLine, ...]
    stops: tuple[Stop, ...] = ()
    """Places where the list is incomplete or less precise."""

    def table(self) -> pa.Table:
        """Return a table with one line for each `OperationLine`."""
        stops = {METADATA: json.dumps({"stops": jsonable(self.stops)})}
        return operation_table(self.lines).replace_schema_metadata(stops)

    def __len__(self) -> int:
        return len(self.lines)

    def __repr__(self) -> str:
        steps = dict.fromkeys(line.step for line in self.lines)
        where = f": {counted(len(self), 'operation')} of {listed(steps)}" if steps else ": none"
        sure = all(line.exact for line in self.lines)
        return brief("operations", None, self.stops, where if sure else f"{where}, a superset")


def operation_lines(
    node: WriteNode, chosen: Iterable[int] | None = None, *, parts: bool = False
) -> list[OperationLine]:
    """Return the operations of a write in order, or only the `chosen` ones. With `parts`, none are combined."""
    numbers = None if chosen is None else [i for i in chosen if i < len(node.operations)]
    if numbers is None or len(numbers) == len(node.operations):
        return list(_all_lines(node, parts))
    return list(_lines(node, numbers, parts))


@kept
def _all_lines(node: WriteNode, parts: bool) -> tuple[OperationLine, ...]:
    return _lines(node, list(range(len(node.operations))), parts)


def _lines(node: WriteNode, numbers: list[int], parts: bool) -> tuple[OperationLine, ...]:
    wholes = _groups(node, parts)
    groups: dict[object, list[int]] = {}
    for i in numbers:
        groups.setdefault(_place(node.operations[i], parts), []).append(i)
    return tuple(line_of(node, g, wholes[key]) for key, g in sorted(groups.items(), key=lambda item: max(item[1])))


@kept
def _groups(node: WriteNode, parts: bool) -> dict[object, list[int]]:
    """Return the numbers of the operations of a write that are combined, by name or script line."""
    groups: dict[object, list[int]] = {}
    for op in node.operations:
        groups.setdefault(_place(op, parts), []).append(op.index)
    return groups


def _place(op: Operation, parts: bool) -> object:
    alone = parts or not (op.name or op.site) or "source" in op.categories
    return op.index if alone else (op.name, op.site if not op.name else "")


def operation_table(lines: Sequence[OperationLine]) -> pa.Table:
    """Return a table with one line for each `OperationLine`."""
    columns = {name: [getattr(line, _FIELDS.get(name, name)) for line in lines] for name in _SCHEMA.names}
    return pa.table(columns, schema=_SCHEMA)


_TEXTS = pa.list_(pa.string())
_SCHEMA = pa.schema(
    [
        *(("step", pa.string()), ("write", pa.int32()), ("dataset", pa.string())),
        *(("operations", pa.list_(pa.int32())), ("paper_categories", _TEXTS), ("contextual", pa.bool_())),
        *((name, pa.string()) for name in ("text", "site", "name")),
        *((name, _TEXTS) for name in ("columns_in", "columns_out", "reads", "makes", "drops")),
        *(("rows_in", pa.int64()), ("rows_out", pa.int64()), ("exact", pa.bool_()), ("why", pa.string())),
        *((name, _TEXTS) for name in ("category", "categories")),
    ]
)
_FIELDS = {"categories": "paper_categories"}
"""Former names of columns, which the next release removes."""
