"""Export of answers to CSV and Parquet files."""

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
    """Write a table, or an answer, as CSV or Parquet, depending on the suffix of the file's name.

    Raises
    ------
    SettingsError
        The name has another suffix, or the file can't be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise SettingsError(f"{path} has no supported format. Use a name that ends with .csv or .parquet.")
    (write_csv if suffix == ".csv" else write_parquet)(table.table() if isinstance(table, Tabular) else table, path)


def write_csv(table: pa.Table, path: Target) -> None:
    """Write a table as CSV with a header; null is an empty field, text is quoted, lists are JSON.

    Text that a spreadsheet would run as a formula gets an apostrophe in front; Parquet keeps it unchanged.

    Raises
    ------
    SettingsError
        The file can't be written.
    """
    from pyarrow import csv

    _write(lambda out: csv.write_csv(_shown(table), out), path)


def write_parquet(table: pa.Table, path: Target) -> None:
    """Write a table as Parquet, with its metadata, which contains the question and the stops.

    Raises
    ------
    SettingsError
        The file can't be written.
    """
    import pyarrow.parquet as pq

    _write(lambda out: pq.write_table(table, out, compression="zstd"), path)


def write_pages(pages: Iterable[pa.Table], path: Target, *, csv: bool) -> int:
    """Write tables of one schema one after another, as they arrive; return their number of rows.

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
        raise SettingsError(f"{path} can't be written: {e}. Check the folder and its permissions.") from e


def _shown(table: pa.Table) -> pa.Table:
    """Return a table as it is shown in CSV."""
    names = [neutral(name) for name in table.column_names]
    return pa.Table.from_arrays([neutral_column(_plain(column)) for column in table.columns], names=names)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decode dictionaries, and convert lists and structs to JSON."""
    if pa.types.is_nested(column.type):
        texts = (None if v is None else json.dumps(plain(v), ensure_ascii=False) for v in column.to_pylist())
        return pa.chunked_array([pa.array(texts, pa.string())])
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
