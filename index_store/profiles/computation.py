"""Profiles of stored values, computed in this process: a few columns at a time, counted by Arrow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provspark.index_store.profiles.correlation import correlate
from provspark.index_store.profiles.profile import BINS, QUANTILES, TOP, Bin, ColumnProfile, Profile, Share
from provspark.index_store.values.json_cells import plain
from provspark.index_store.values.row_reader import find_column, read_rows, scan_rows
from provspark.index_store.values.types import arrow_type
from provspark.model.arrays import Floats
from provspark.model.datasets import Field, Files, Version
from provspark.model.errors import ValuesUnavailableError
from provspark.model.progress import tell
from provspark.model.runs import Runs

__all__ = ["LIMIT", "profile_of", "readable", "text_of"]

LIMIT = 200_000_000
"""Maximum number of cells that are profiled in this process."""
_AT_ONCE = 20_000_000
"""Number of cells in memory at once."""
_READ_ALL = 8
"""A version is read from start to end if more than one row in this many is wanted."""


def profile_of(
    version: Version,
    files: Files,
    columns: Sequence[str] | None = None,
    rows: Runs | None = None,
    read: Callable[[list[str]], pa.Table] | None = None,
) -> Profile:
    """Profile a version, or some rows and columns of it.

    Parameters
    ----------
    version : Version
    files : Files
        Files of the version.
    columns : sequence of str, optional
        Columns to profile; by default all whose values can be read.
    rows : Runs, optional
        Rows to profile; by default all.
    read : callable, optional
        Takes column names and returns the values of all rows; by default they are read by position.

    Raises
    ------
    UnknownColumnError, VersionChangedError
    ValuesUnavailableError
        A requested column, or the format, can't be read by position; or there are more cells than `LIMIT`.
    """
    fields, left_out = readable(version, columns)
    chosen = Runs.span(version.rows) if rows is None else rows
    if chosen.count * len(fields) > LIMIT:
        raise ValuesUnavailableError(
            f"{version.dataset} has {chosen.count:,} rows to profile in {len(fields)} columns, more than "
            f"{LIMIT:,} cells. Select fewer columns or rows."
        )
    values = read or (lambda names: _values(version, files, names, chosen))
    profiles: list[ColumnProfile] = []
    numbers: dict[str, Floats] = {}
    per = max(1, _AT_ONCE // max(1, chosen.count))
    for at in range(0, len(fields), per):
        part = fields[at : at + per]
        table = values([f.name for f in part])
        for number, (field, column) in enumerate(zip(part, table.columns, strict=True), at):
            tell("columns", number, len(fields))
            floats = _floats(column)
            if floats is not None:
                numbers[field.name] = floats
            profiles.append(_column(field, column, floats))
    return Profile(
        dataset=str(version.dataset),
        version=version.id,
        rows=chosen.count,
        columns=tuple(profiles),
        correlations=correlate(numbers),
        left_out=left_out,
    )


def readable(version: Version, columns: Sequence[str] | None) -> tuple[list[Field], tuple[tuple[str, str], ...]]:
    """Return the columns that can be profiled, by default of all; and those that can't, each with the reason."""
    if columns is not None:
        fields = list(dict.fromkeys(find_column(version, name) for name in columns))
        for field in fields:
            arrow_type(field.type)
        return fields, ()
    fields, left_out = [], []
    for field in version.fields:
        try:
            arrow_type(field.type)
        except ValuesUnavailableError as e:
            left_out.append((field.name, str(e)))
        else:
            fields.append(field)
    return fields, tuple(left_out)


def _values(version: Version, files: Files, names: list[str], rows: Runs) -> pa.Table:
    if not names or rows.count * _READ_ALL <= version.rows:
        return read_rows(version, files, rows.rows(), names)
    parts = list(_parts(version, files, names, rows))
    return pa.concat_tables(parts) if parts else read_rows(version, files, rows.rows(), names)


def _parts(version: Version, files: Files, names: list[str], rows: Runs) -> Iterator[pa.Table]:
    every = rows.count == version.rows
    for start, table in scan_rows(version, files, names, lambda bounds: True):
        if every:
            yield table
            continue
        here = rows & Runs.united(np.array([start], dtype=np.int64), np.array([len(table)], dtype=np.int64))
        if here:
            yield table.take(pa.array(here.rows() - start))


def _floats(values: pa.ChunkedArray) -> Floats | None:
    """Return the numbers of a column, NaN for null; None if the column is not numeric."""
    kind = values.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    numbers: Floats = values.cast(pa.float64(), safe=False).to_numpy().astype(np.float64)
    return numbers


def _column(field: Field, values: pa.ChunkedArray, floats: Floats | None) -> ColumnProfile:
    nulls = values.null_count
    told = ColumnProfile(field.name, field.type, len(values) - nulls, nulls)
    if pa.types.is_nested(values.type):
        return told
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0, values.type))  # -0.0 equals 0.0
    distinct, top = _counted(values)
    low, high = _ends(values)
    told = replace(told, distinct=distinct, low=low, high=high, top=top)
    return told if floats is None else _of_numbers(told, floats)


def _of_numbers(told: ColumnProfile, floats: Floats) -> ColumnProfile:
    """Add the statistics of the numbers that are neither NaN nor infinite."""
    usual = floats[np.isfinite(floats)]
    told = replace(told, unusual=told.count - len(usual))
    if not len(usual):
        return told
    with np.errstate(over="ignore", invalid="ignore"):
        mean = _number(usual.mean())
        deviation = _number(usual.std(ddof=1)) if len(usual) > 1 else None
        width = usual.max() - usual.min()
    told = replace(told, mean=mean, deviation=deviation)
    if not np.isfinite(width):
        return told
    counts, edges = np.histogram(usual, bins=BINS if width else 1)
    ends = edges.tolist()
    return replace(
        told,
        quantiles=tuple(np.quantile(usual, QUANTILES).tolist()),
        histogram=tuple(Bin(low, high, n) for low, high, n in zip(ends, ends[1:], counts.tolist(), strict=False)),
    )


def _number(value: float) -> float | None:
    """Return a statistic; None if the numbers are too large for it."""
    return float(value) if np.isfinite(value) else None


def _counted(values: pa.ChunkedArray) -> tuple[int, tuple[Share, ...]]:
    tallied = pc.value_counts(values.drop_null())
    if not len(tallied):
        return 0, ()
    kinds, counts = tallied.field("values"), tallied.field("counts").to_numpy()
    many = np.flatnonzero(counts >= np.partition(counts, -TOP)[-TOP]) if len(counts) > TOP else np.arange(len(counts))
    shares = [
        Share(text_of(v), n) for v, n in zip(kinds.take(pa.array(many)).to_pylist(), counts[many].tolist(), strict=True)
    ]
    return len(counts), tuple(sorted(shares, key=lambda s: (-s.count, s.value))[:TOP])


def _ends(values: pa.ChunkedArray) -> tuple[str | None, str | None]:
    if pa.types.is_null(values.type) or pa.types.is_boolean(values.type):
        return None, None
    ends = pc.min_max(values)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    return (None if low is None else text_of(low)), (None if high is None else text_of(high))


def text_of(value: object) -> str:
    """Return a value as text: text unchanged, other values as JSON."""
    told = plain(value)
    return told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
