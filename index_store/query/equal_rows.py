"""Finds rows with equal values, for set semantics."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provspark.model.arrays import Int64
from provspark.model.runs import expand


def equal_rows(
    read: Callable[[Int64], pa.Table], scan: Callable[[], Iterable[tuple[int, pa.Table]]], rows: Int64
) -> tuple[Int64, Int64]:
    """Find for each given row all rows of its version that equal it in every column.

    Values are equal as in Spark's GROUP BY: null equals null, NaN equals NaN, 0.0 equals -0.0.

    Parameters
    ----------
    read : callable
        Reads the values of rows, given ascending row ids.
    scan : callable
        Reads the whole version in parts, each with its first row id.
    rows : int64 array
        Ascending row ids; label i is the i-th of them.

    Returns
    -------
    tuple of two int64 arrays of equal length
        Labels, and the rows that equal the row of the label; each row equals itself.
    """
    mine, classes, members = equal_classes(read, scan, rows)
    by_class = np.argsort(mine, kind="stable")
    sorted_classes = mine[by_class]
    first = sorted_classes.searchsorted(classes)
    count = sorted_classes.searchsorted(classes, "right") - first
    return by_class[expand(first, count)], np.repeat(members, count)


def equal_classes(
    read: Callable[[Int64], pa.Table], scan: Callable[[], Iterable[tuple[int, pa.Table]]], rows: Int64
) -> tuple[Int64, Int64, Int64]:
    """Do the same as `equal_rows`, but return classes of equal rows, so that equal rows are not paired with each other.

    Returns
    -------
    tuple of three int64 arrays
        The class of each of `rows`; and, of equal length, classes and the rows in them.
    """
    if not len(rows):
        return rows, rows, rows
    classes = _Classes(read(rows))
    parts = [(which, start + place) for start, table in scan() for place, which in [classes.match(table)]]
    return classes.of_wanted, np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


class _Classes:
    """Numbers the distinct rows of a table, column by column, and finds rows of other tables among them."""

    def __init__(self, wanted: pa.Table) -> None:
        self.coders = {name: _coder(wanted[name]) for name in wanted.column_names}
        self.pairs: dict[str, Int64] = {}
        here = np.zeros(wanted.num_rows, dtype=np.int64)
        for name, (code, size) in self.coders.items():
            self.pairs[name], here = np.unique(here * size + code(wanted[name]), return_inverse=True)
        self.of_wanted: Int64 = here

    def match(self, table: pa.Table) -> tuple[Int64, Int64]:
        """Return the positions of the rows that are among the wanted ones, and their classes."""
        place = np.arange(table.num_rows, dtype=np.int64)
        here = np.zeros(table.num_rows, dtype=np.int64)
        for name, (code, size) in self.coders.items():
            codes = code(table[name].take(pa.array(place)))
            pair = here * size + codes
            known = self.pairs[name]
            at = np.minimum(known.searchsorted(pair), len(known) - 1)
            hit = (codes >= 0) & (known[at] == pair)
            place, here = place[hit], at[hit]
        return place, here


def _coder(column: pa.ChunkedArray) -> tuple[Callable[[pa.ChunkedArray], Int64], int]:
    """Return a function that maps values to their numbers among a column's values (-1 for others), and their count."""
    if pa.types.is_nested(column.type):
        numbers: dict[Hashable, int] = {}
        for value in column.to_pylist():
            numbers.setdefault(_frozen(value), len(numbers))
        return lambda c: np.array([numbers.get(_frozen(v), -1) for v in c.to_pylist()], dtype=np.int64), len(numbers)
    distinct = _plain(column).unique()
    return lambda c: _codes(_plain(c), distinct), len(distinct)


def _codes(column: pa.ChunkedArray, distinct: pa.Array) -> Int64:
    indices = pc.fill_null(pc.index_in(column, value_set=distinct), -1)
    codes: Int64 = indices.to_numpy().astype(np.int64)
    return codes


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return floats with one zero and one NaN, and dictionaries decoded; other columns unchanged."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not pa.types.is_floating(column.type):
        return column
    column = pc.add(column, pa.scalar(0, column.type))
    return pc.if_else(pc.is_nan(column), pa.scalar(float("nan"), column.type), column)


def _frozen(value: Any) -> Hashable:
    if isinstance(value, dict):
        return ("struct", tuple((k, _frozen(v)) for k, v in value.items()))
    if isinstance(value, (list, tuple)):
        return ("list", tuple(map(_frozen, value)))
    if isinstance(value, float):
        return "nan" if value != value else value + 0.0
    frozen: Hashable = value
    return frozen
