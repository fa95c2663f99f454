"""Selection of a version's rows by conditions on its columns; conditions are data, not code or SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provspark.index_store.values.conditions import Condition, parse_condition
from provspark.index_store.values.literals import bind
from provspark.index_store.values.paths import ColumnPath, find_path
from provspark.index_store.values.row_reader import scan_rows
from provspark.index_store.values.types import arrow_type
from provspark.model.arrays import Int64
from provspark.model.datasets import Files, Version
from provspark.model.errors import ConditionError

__all__ = ["OPERATORS", "Condition", "parse_condition", "select_rows", "select_there"]

OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "in", "like", "startswith", "is null", "is not null")


def select_rows(version: Version, files: Files, conditions: Sequence[Condition | tuple[str, str, Any]]) -> Int64:
    """Return the rows that satisfy all conditions, which compare by the columns' types.

    A null satisfies no comparison. As in Spark, NaN equals NaN and is greater than any number; text is compared by its
    UTF-8 bytes. Times without a zone are read as UTC.

    Parameters
    ----------
    version : Version
    files : Files
        Files of the version.
    conditions : sequence of Condition
        Conditions, or (column, operator, value) tuples. Without any, all rows are selected.

    Returns
    -------
    int64 array
        Row ids, increasing.

    Raises
    ------
    ConditionError
        A condition is malformed, its operator is unknown, or its value does not fit the column's type.
    UnknownColumnError
        There is no such column (a ConditionError); the message suggests similar names.
    VersionChangedError, ValuesUnavailableError
        The rows can't be read; see `read_rows`.
    """
    if not conditions:
        return np.arange(files.total, dtype=np.int64)
    bound = [_bind(version, condition_of(c)) for c in conditions]
    columns = list(dict.fromkeys(b.path.column.name for b in bound))

    def may_match(bounds: dict[str, tuple[Any, Any]]) -> bool:
        return all(b.within(*bounds[b.path.leaf.name]) for b in bound if b.path.leaf.name in bounds)

    parts = [np.zeros(0, dtype=np.int64)]
    for start, table in scan_rows(version, files, columns, may_match):
        mask: Any = True
        for condition in bound:
            mask = pc.and_(mask, condition.holds(condition.path.of(table.column(condition.path.column.name))))
        parts.append(np.flatnonzero(np.asarray(mask)) + start)
    return np.concatenate(parts)


def select_there(
    version: Version, files: Files, conditions: Sequence[Condition | tuple[str, str, Any]], missing: frozenset[int]
) -> Int64:
    """Return the rows that satisfy all conditions, from those files of a version that exist.

    Parameters
    ----------
    missing : set of int
        Numbers of the version's files that are missing.
    """
    if not missing:
        return select_rows(version, files, conditions)
    there = files.without(missing)
    rows = select_rows(replace(version, rows=there.total, n_files=len(there.paths)), there, conditions)
    bases = np.delete(files.bases[:-1], sorted(missing))
    file = there.bases.searchsorted(rows, "right") - 1
    return rows - there.bases[file] + bases[file]


def condition_of(given: Condition | tuple[str, str, Any]) -> Condition:
    """Return a condition, which may be given as a tuple.

    Raises
    ------
    ConditionError
        The argument is not a condition.
    """
    if isinstance(given, tuple | list) and 2 <= len(given) <= 3 and all(isinstance(word, str) for word in given[:2]):
        return Condition(*given)
    raise ConditionError(
        f"A condition must be (column, operator, value), not {given!r:.200}. Use "
        f"provspark.index_store.values.selection.parse_condition to parse text."
    )


class _Bound:
    """A condition on a column of the version, with Arrow scalars of a comparable type as its values."""

    def __init__(self, path: ColumnPath, kind: pa.DataType, operator: str, values: list[pa.Scalar]) -> None:
        self.path, self._kind, self._operator, self._values = path, kind, operator, values

    def holds(self, values: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return whether each value satisfies the condition; no result is null."""
        if self._operator == "is null":
            return values.is_null()
        if self._operator == "is not null":
            return values.is_valid()
        if self._operator in _TEXTS:
            return pc.fill_null(_TEXTS[self._operator](values, self._values[0].as_py()), False)
        compare = _compare_floating if pa.types.is_floating(self._kind) else _compare
        out = compare(values, self._operator if self._operator != "in" else "=", self._values[0])
        for other in self._values[1:]:
            out = pc.or_(out, compare(values, "=", other))
        return pc.fill_null(out, False)

    def within(self, least: Any, greatest: Any) -> bool:
        """Return whether a value between two others may satisfy the condition, if Python orders its type alike."""
        kind = self._kind
        if not (pa.types.is_integer(kind) or pa.types.is_date(kind) or pa.types.is_string(kind)):
            return True
        wanted = [v.as_py() for v in self._values]
        if self._operator in ("=", "in"):
            return any(least <= w <= greatest for w in wanted)
        if self._operator in _TEXTS:
            begin = wanted[0] if self._operator == "startswith" else _PATTERN.split(wanted[0])[0]
            return bool(least[: len(begin)] <= begin <= greatest[: len(begin)])
        tests = {"<": lambda w: least < w, "<=": lambda w: least <= w}
        tests |= {">": lambda w: greatest > w, ">=": lambda w: greatest >= w}
        return self._operator not in tests or tests[self._operator](wanted[0])


_PATTERN = re.compile(r"[%_\\]")
_TEXTS = {"like": pc.match_like, "startswith": pc.starts_with}
_FUNCTIONS = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def _compare(values: pa.ChunkedArray, operator: str, other: pa.Scalar) -> pa.ChunkedArray:
    return _FUNCTIONS[operator](values, other)


def _compare_floating(values: pa.ChunkedArray, operator: str, other: pa.Scalar) -> pa.ChunkedArray:
    nan = pc.is_nan(values)
    if other.as_py() == other.as_py():
        plain = _compare(values, operator, other)
        return pc.or_(plain, nan) if operator in (">", ">=", "!=") else plain
    everything = values.is_valid()
    return {
        "=": nan,
        ">=": nan,
        "!=": pc.invert(nan),
        "<": pc.invert(nan),
        "<=": pc.or_(everything, nan),
        ">": pc.and_(pc.invert(everything), nan),
    }[operator]


def _bind(version: Version, condition: Condition) -> _Bound:
    path = find_path(version, condition.column)
    field = path.leaf
    kind = arrow_type(field.type)
    operator = " ".join(str(condition.operator).lower().split())
    if operator not in OPERATORS:
        raise ConditionError(f"Unknown operator {condition.operator!r}. Use one of {', '.join(OPERATORS)}.")
    if operator in ("is null", "is not null"):
        if condition.value is not None:
            raise ConditionError(f"{field.name} {operator} takes no value, but has {condition.value!r}. Remove it.")
        return _Bound(path, kind, operator, [])
    if operator in _TEXTS and not (pa.types.is_string(kind) and isinstance(condition.value, str)):
        raise ConditionError(f"{operator} compares text with text; {field.name} is {field.type}. Use another operator.")
    values = [condition.value]
    if operator == "in":
        if isinstance(condition.value, (str, bytes)) or not hasattr(condition.value, "__iter__"):
            raise ConditionError(f"{field.name} in … takes a list of values, not {condition.value!r}")
        values = list(condition.value)
        if not values:
            raise ConditionError(f"{field.name} in () matches no row. Pass at least one value.")
    return _Bound(path, kind, operator, [bind(field, kind, v) for v in values])
