"""Rows of a version by their ids, in the requested order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from provspark.index_store.values.converters import text_converter
from provspark.index_store.values.files import DataFile, check, files_of
from provspark.index_store.values.partitions import partition_text
from provspark.index_store.values.rows import Bounds, LineReader, RowReader
from provspark.index_store.values.types import arrow_type
from provspark.model.arrays import Int64
from provspark.model.datasets import Field, Files, Version
from provspark.model.errors import RowOutOfRangeError, ValuesUnavailableError, near_columns
from provspark.model.progress import tell

__all__ = ["find_column", "partition_table", "read_rows", "reader_of", "scan_rows"]


def read_rows(version: Version, files: Files, rows: Int64, columns: Sequence[str] | None = None) -> pa.Table:
    """Read the values of rows by their position, as Spark would read them.

    Parameters
    ----------
    version : Version
    files : Files
        Files of the version.
    rows : int64 array
        Row ids, in any order, repeats allowed.
    columns : sequence of str, optional
        Names of columns; by default all of ``version.fields``. Case matters only if two names differ by it.

    Returns
    -------
    pyarrow.Table
        One row for each entry of `rows`, in that order. Timestamps are in UTC.

    Raises
    ------
    RowOutOfRangeError
        A row id is outside of the version.
    UnknownColumnError
        The version has no such column.
    VersionChangedError
        A file with some of the rows is missing, or its size or time differs from the recorded one.
    ValuesUnavailableError
        Rows in this format, or with these options, can't be read by position; or the number of a file's rows differs
        from the recorded one.
    """
    fields = _fields(version, columns)
    ids = np.asarray(rows, dtype=np.int64)
    if len(ids) and (ids.min() < 0 or ids.max() >= files.total):
        wrong = int(ids.min()) if ids.min() < 0 else int(ids.max())
        raise RowOutOfRangeError(str(version.dataset), wrong, files.total)
    wanted, place = np.unique(ids, return_inverse=True)
    schema = pa.schema([pa.field(f.name, _type_or_null(f)) for f in fields])
    if not len(wanted):
        return schema.empty_table()
    reader = reader_of(version)
    bases, data_files = files.bases, files_of(version, files)
    where = np.searchsorted(bases, wanted, side="right") - 1
    touched = np.unique(where).tolist()
    for at in touched:
        check(data_files[at])
    tables = []
    for number, at in enumerate(touched):
        tell("files", number, len(touched))
        mine = wanted[where == at] - bases[at]
        stored = [f for f in fields if f.name not in version.partitions]
        table = reader.take(data_files[at], mine, stored) if stored else None
        tables.append(_assemble(version, data_files[at], table, len(mine), fields))
    return pa.concat_tables(tables).take(pa.array(place.reshape(-1)))


def scan_rows(version: Version, files: Files, columns: Sequence[str], bounds: Bounds) -> Iterator[tuple[int, pa.Table]]:
    """Yield (first row id, values) for stretches of a version, in order.

    A stretch is skipped if `bounds`, called with the minima and maxima of its columns, returns False.

    Raises
    ------
    UnknownColumnError, VersionChangedError, ValuesUnavailableError
        The same as for `read_rows`.
    """
    fields = _fields(version, columns)
    stored = [f for f in fields if f.name not in version.partitions]
    reader = reader_of(version)
    for file in files_of(version, files):
        if not file.rows:
            continue
        fixed = partition_table(version, file, 1, [f for f in fields if f.name in version.partitions])
        here = {name: (fixed[name][0].as_py(),) * 2 for name in fixed.column_names if fixed[name].null_count == 0}
        if not bounds(here):
            continue
        check(file)
        base = int(files.bases[file.place])
        if not stored:
            yield base, _assemble(version, file, None, file.rows, fields)
            continue
        tell("rows", base, files.total)
        for start, table in reader.scan(file, stored, lambda more, here=here: bounds({**here, **more})):  # type: ignore[misc]
            tell("rows", base + start, files.total)
            yield base + start, _assemble(version, file, table, len(table), fields)


def reader_of(version: Version) -> RowReader:
    """Return the reader of the version's format.

    Raises
    ------
    ValuesUnavailableError
        Rows can't be found by position in this format, or with an option.
    """
    kind = version.format.lower()
    if kind == "parquet":
        from provspark.index_store.values.parquet_rows import ParquetReader

        return ParquetReader()
    if kind == "orc":
        from provspark.index_store.values.orc_rows import OrcReader

        return OrcReader()
    if kind == "csv":
        from provspark.index_store.values.csv_rows import CsvFormat

        return LineReader(CsvFormat(version))
    if kind == "json":
        from provspark.index_store.values.json_rows import JsonFormat

        return LineReader(JsonFormat(version))
    if kind == "text":
        from provspark.index_store.values.text_rows import TextFormat

        return LineReader(TextFormat(version))
    raise ValuesUnavailableError(
        f"{version.dataset} has the format {version.format!r}; values can be read from parquet, orc, csv, json and "
        f"text. The row ids are still valid."
    )


def find_column(version: Version, name: str) -> Field:
    """Return a column by its name, or by its name without case if that is unambiguous.

    Raises
    ------
    UnknownColumnError
        There is no such column; the message suggests similar names.
    """
    matches = [f for f in version.fields if f.name == name] or [
        f for f in version.fields if f.name.lower() == name.lower()
    ]
    if len(matches) == 1:
        return matches[0]
    raise near_columns(version.dataset, name, [f.name for f in version.fields])


def partition_table(version: Version, file: DataFile, rows: int, fields: Sequence[Field]) -> pa.Table:
    """Return the partition columns among `fields`, which have one value for all rows of a file."""
    options = {k: v for k, v in version.options if k == "timezone"}
    arrays = []
    for field in fields:
        text = partition_text(file, field.name)
        value = None
        if text is not None:
            value = text_converter(field.type, options)(text)
            if value is None:
                raise ValuesUnavailableError(
                    f"The folder of {file.full} has {text!r} for {field.name}, which is not a valid {field.type}. "
                    f"Select other columns."
                )
        arrays.append(pa.repeat(pa.scalar(value, arrow_type(field.type)), rows))
    return pa.Table.from_arrays(arrays, names=[f.name for f in fields])


def _fields(version: Version, columns: Sequence[str] | None) -> list[Field]:
    return list(version.fields) if columns is None else [find_column(version, c) for c in columns]


def _assemble(version: Version, file: DataFile, table: pa.Table | None, rows: int, fields: Sequence[Field]) -> pa.Table:
    fixed = iter(partition_table(version, file, rows, [f for f in fields if f.name in version.partitions]).columns)
    stored = iter([] if table is None else table.columns)
    arrays = [next(fixed if f.name in version.partitions else stored) for f in fields]
    return pa.Table.from_arrays(arrays, names=[f.name for f in fields])


def _type_or_null(field: Field) -> pa.DataType:
    try:
        return arrow_type(field.type)
    except ValuesUnavailableError:
        return pa.null()
