"""Wrapper of a user's function on executors. It is pickled by value, because executors don't have ProvSpark.

Columns that record where a row came from are removed before the function sees its rows, and added to the rows that it
returns: those of the group, or each row's own if the function is declared.
"""

from __future__ import annotations

import inspect
import pickle
from typing import Any


def rebuilt(command: bytes, names: tuple[str, ...], sides: tuple[int, ...], how: str, keyed: bool) -> Any:
    """Return the function and return type that a Spark worker expects, as a wrapper of the user's function.

    Parameters
    ----------
    command : the user's function and return type, as Spark pickled them
    names : of the columns that ProvSpark adds, those of all sides in turn
    sides : number of these columns in each of the function's tables
    how : ``group``, ``rowwise`` or ``keeps_index``
    keyed : whether the function may take the group's key as its first argument
    """
    from pyspark.sql.types import LongType, StructField, StructType

    loaded = pickle.loads(command)
    if not isinstance(loaded, tuple):
        loaded = pickle.loads(loaded.value)
    function, schema = loaded
    extended = StructType([*schema.fields, *(StructField(name, LongType(), True) for name in names)])
    wrapper = Wrapper(function, names, sides, how, None if keyed else len(schema.fields))
    if len(sides) == 2:
        if len(inspect.getfullargspec(function).args) == 3:
            return (lambda key, left, right: wrapper.pair(left, right, key)), extended
        return (lambda left, right: wrapper.pair(left, right)), extended
    if keyed and len(inspect.getfullargspec(function).args) == 2:
        return (lambda key, rows: wrapper.one(rows, key)), extended
    return (lambda rows: wrapper.one(rows)), extended


class Wrapper:
    """A user's function, called by a worker for one group or for one task's batches."""

    def __init__(
        self, function: Any, names: tuple[str, ...], sides: tuple[int, ...], how: str, width: int | None
    ) -> None:
        self.function, self.names, self.sides, self.how = function, names, sides, how
        self.width = width  # Spark ignores further columns of a frame

    def one(self, rows: Any, *key: Any) -> Any:
        if hasattr(rows, "columns"):
            rows, held = self.taken(rows, self.names)
            result = self.function(*key, rows)
            if self.how == "group":
                return self.put(result, [[column[0]] * len(result) for column in held])
            if self.how == "rowwise":
                if len(result) != len(held[0]):
                    self.disproved(f"it returned {len(result)} rows for {len(held[0])} input rows")
                return self.put(result, held)
            return self.put(result, self.by_index(result, held))
        if self.how == "group":
            return self.same_group(rows, key)
        return self.in_order(rows, key) if self.how == "rowwise" else self.last_read(rows, key)

    def pair(self, left: Any, right: Any, *key: Any) -> Any:
        cut = self.sides[0]
        left, first = self.taken(left, self.names[:cut])
        right, second = self.taken(right, self.names[cut:])
        result = self.function(*key, left, right)
        return self.put(result, [[c[0] if len(c) else None] * len(result) for c in first + second])

    def same_group(self, batches: Any, key: Any) -> Any:
        known: list[Any] = []

        def read() -> Any:
            for batch in batches:
                shown, held = self.taken(batch, self.names)
                known[:] = known or [column[0] for column in held]
                yield shown

        source = read()
        first = next(source)
        for result in self.function(*key, chained(first, source)):
            yield self.put(result, [[value] * len(result) for value in known])

    def in_order(self, batches: Any, key: Any) -> Any:
        held: list[list[Any]] = [[] for _ in self.names]

        def read() -> Any:
            for batch in batches:
                shown, columns = self.taken(batch, self.names)
                for to, column in zip(held, columns, strict=True):
                    to.extend(column)
                yield shown

        source = read()
        for result in self.function(*key, source):
            n = len(result)
            if n > len(held[0]):
                self.disproved(f"it returned {n} rows after it had read only {len(held[0])} more")
            yield self.put(result, [column[:n] for column in held])
            for column in held:
                del column[:n]
        for _ in source:
            pass
        if held[0]:
            self.disproved(f"it returned no rows for its last {len(held[0])} input rows")

    def last_read(self, batches: Any, key: Any) -> Any:
        unread = [0]
        held: list[Any] = [[]]

        def read() -> Any:
            for batch in batches:
                shown, held[0] = self.taken(batch, self.names)
                unread[0] += 1
                yield shown

        for result in self.function(*key, read()):
            if unread[0] > 1 and len(result):
                self.disproved(
                    "it read the next batch before it returned a result, or an empty batch, for the last one"
                )
            unread[0] = 0
            yield self.put(result, self.by_index(result, held[0]))

    def by_index(self, result: Any, held: Any) -> Any:
        if not len(result):
            return [[] for _ in self.names]
        index: Any = getattr(result, "index", None)
        if index is None or index.nlevels != 1 or index.dtype.kind not in "iu":
            self.disproved("its result has no integer index")
        n = len(held[0]) if held else 0
        if int(index.min()) < 0 or int(index.max()) >= n:
            self.disproved(f"its result has index {index.min()} to {index.max()} for {n} input rows")
        return [[column[i] for i in index] for column in held]

    def disproved(self, what: str) -> None:
        name = getattr(self.function, "__qualname__", repr(self.function))
        code = getattr(self.function, "__code__", None)
        where = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
        raise ValueError(
            f"{name}{where} is declared provspark.{self.how}, but {what}; fix it or remove the declaration"
        )

    def taken(self, table: Any, names: Any) -> Any:
        if hasattr(table, "iloc"):
            return table, [table.pop(name).tolist() for name in names]
        kept = [i for i, name in enumerate(table.schema.names) if name not in names]
        return table.select(kept), [table.column(table.schema.get_field_index(n)).to_pylist() for n in names]

    def put(self, result: Any, values: Any) -> Any:
        if hasattr(result, "iloc") and hasattr(result, "columns"):
            if not len(result.columns) and not len(result):
                return result
            import pandas  # type: ignore[import-untyped]

            result = result.iloc[:, : self.width].copy(deep=False)
            named = any(isinstance(column, str) for column in result.columns)
            for name, column in zip(self.names, values, strict=True):
                label = name if named else len(result.columns)
                result.insert(len(result.columns), label, pandas.array(column, dtype="Int64"), allow_duplicates=True)
            return result
        if hasattr(result, "schema") and hasattr(result, "num_rows"):
            import pyarrow

            if not result.num_columns and not result.num_rows:
                return result
            for name, column in zip(self.names, values, strict=True):
                result = result.append_column(
                    pyarrow.field(name, pyarrow.int64()), pyarrow.array(column, pyarrow.int64())
                )
        return result


def chained(first: Any, rest: Any) -> Any:
    """Yield the first item, then the others."""
    yield first
    yield from rest
