"""Read kept rows into Python, and compare values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from provspark.index_store.query.helper_columns import meanings
from provspark.model.operations import Column, Operation
from provspark.replay.columns import PARENT, WITNESS, distinct
from provspark.replay.engine import Kept
from provspark.replay.records import InputRow, Line, Stage
from provspark.replay.write_rows import Witness

__all__ = ["same", "stages_of", "witnesses_of"]


def stages_of(
    operations: Sequence[Operation], kept: Mapping[int, Kept], sources: Callable[[Witness], tuple[InputRow, ...]]
) -> tuple[Stage, ...]:
    """Read the kept rows after each operation. `sources` returns the input rows of a witness."""
    stages: dict[int, Stage] = {}
    own = meanings(operations)
    for index in sorted(kept):
        operation = operations[index]
        lines = []
        for values, parents, witnesses in _rows(kept[index], operation):
            from_rows = tuple(sorted({s for w in witnesses for s in sources(w)}))
            changed, added = _marks(operation, values, parents, stages, own)
            lines.append(Line(values, parents, from_rows, changed, added))
        stages[index] = Stage(operation, tuple(lines), kept[index].cut, own)
    return tuple(stages.values())


def witnesses_of(kept: Kept, operation: Operation) -> list[frozenset[Witness]]:
    """Return the witnesses of each kept row after an operation."""
    return [frozenset(witnesses) for *_, witnesses in _rows(kept, operation)]


def _rows(kept: Kept, operation: Operation) -> list[tuple[tuple[Any, ...], tuple[Witness, ...], tuple[Witness, ...]]]:
    width = len(distinct(operation.columns))
    if kept.pickled:
        from pyspark.serializers import CPickleSerializer

        (unpickled,) = CPickleSerializer().loads(kept.pickled)
        rows = [tuple(r) for r in unpickled]
        names = unpickled[0].__fields__
    else:
        table = kept.frame.toArrow()
        names = table.column_names
        rows = list(zip(*(c.to_pylist() for c in table.columns), strict=True))
    parent, witness = names.index(PARENT), names.index(WITNESS)
    return [(r[:width], _pairs(r[parent]), _pairs(r[witness])) for r in rows]


def _pairs(witnesses: Sequence[Any]) -> tuple[Witness, ...]:
    return tuple(sorted((p["op"], p["row"]) for p in witnesses))


def _marks(
    operation: Operation,
    values: Sequence[Any],
    parents: Sequence[Witness],
    stages: Mapping[int, Stage],
    own: Mapping[int, str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns whose values differ from those of the parent rows, and columns that these do not have."""
    befores = [
        (distinct(stages[op].operation.columns), stages[op].lines[n].values) for op, n in parents if op in stages
    ]
    if not befores:
        return (), ()
    kept = {c.id for columns, _ in befores for c in columns}

    def called(column: Column) -> tuple[bool, str]:
        return column.id in own, own.get(column.id, column.name)

    changed, added = [], []
    for column, value in zip(distinct(operation.columns), values, strict=True):
        if column.id in kept:
            continue
        name = called(column)
        olds = [v for columns, row in befores for c, v in zip(columns, row, strict=True) if called(c) == name]
        if not olds:
            added.append(name[1])
        elif any(not same(old, value) for old in olds):
            changed.append(name[1])
    return tuple(changed), tuple(added)


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal as in Spark's grouping: null equals null, and NaN equals NaN."""
    return bool(key_of(a) == key_of(b))


def key_of(value: Any) -> Any:
    """Return a hashable key that is equal for equal values."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, dict):
        return tuple((key_of(k), key_of(v)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(key_of(v) for v in value)
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else value
