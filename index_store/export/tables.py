"""Answers as files: CSV and Parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from provspark.index_store.export.formulas import neutral, neutral_column
from provspark.index_store.query.tabular import Tabular
from provspark.index_store.values.json_cells import plain
from provspark.model.errors import SettingsError

__all__ = ["Target", "write_csv", "write_pages", "write_parquet", "write_table"]

Target = str | Path | BinaryIO
"""A file's path, or an open file."""


def write_table(table: pa.Table | Tabular, path: str | Path) -> None:
    """Write a table, or an answer, as CSV or Parquet, by the end of the name.

    Raises
    ------
    SettingsError
        The name ends otherwise, or the file can't be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise SettingsError(f"{path} is of no format that tables are written in; name it .csv or .parquet")
    (write_csv if suffix == ".csv" else write_parquet)(table.table() if isinstance(table, Tabular) else table, path)


def write_csv(table: pa.Table, path: Target) -> None:
    """Write a table as CSV with a header; null is an empty field, texts stand in quotes, lists are JSON.

    An apostrophe is put before texts that a spreadsheet would run as formulas; Parquet has them as they are.

    Raises
    ------
    SettingsError
        The file can't be written.
    """
    from pyarrow import csv

    _write(lambda out: csv.write_csv(_shown(table), out), path)


def write_parquet(table: pa.Table, path: Target) -> None:
    """Write a table as Parquet; its metadata, with the question and the stops, go along.

    Raises
    ------
    SettingsError
        The file can't be written.
    """
    import pyarrow.parquet as pq

    _write(lambda out: pq.write_table(table, out, compression="zstd"), path)


def write_pages(pages: Iterable[pa.Table], path: Target, *, csv: bool) -> int:
    """Write tables of one schema one behind the other, as they come; return how many lines they had.

    Raises
    ------
    SettingsError
        The file can't be written.
    """
    import pyarrow.parquet as pq
    from pyarrow import csv as text

    writer: Any = None
    lines = 0

    def write(out: str | BinaryIO) -> None:
        nonlocal writer, lines
        for page in pages:
            shown = _shown(page) if csv else page
            if writer is None:
                kind = shown.schema
                writer = text.CSVWriter(out, kind) if csv else pq.ParquetWriter(out, kind, compression="zstd")
            writer.write_table(shown)
            lines += page.num_rows

    try:
        _write(write, path)
    finally:
        if writer is not None:
            writer.close()
    return lines


def _write(how: Callable[[str | BinaryIO], None], path: Target) -> None:
    try:
        how(str(path) if isinstance(path, str | Path) else path)
    except BrokenPipeError:  # who read it has had enough
        raise
    except (OSError, pa.ArrowException) as e:
        raise SettingsError(f"{path} can't be written: {e}") from e


def _shown(table: pa.Table) -> pa.Table:
    """As CSV has it."""
    names = [neutral(name) for name in table.column_names]
    return pa.Table.from_arrays([neutral_column(_plain(column)) for column in table.columns], names=names)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dictionaries written out, lists and structs as JSON."""
    if pa.types.is_nested(column.type):
        texts = (None if v is None else json.dumps(plain(v), ensure_ascii=False) for v in column.to_pylist())
        return pa.chunked_array([pa.array(texts, pa.string())])
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
