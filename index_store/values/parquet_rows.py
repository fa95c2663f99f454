"""Rows of Parquet files: reads only the row groups and columns that are needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from provspark.index_store.values.columns import Columns
from provspark.index_store.values.files import DataFile
from provspark.index_store.values.rows import Bounds
from provspark.model.arrays import Int64
from provspark.model.datasets import Field

__all__ = ["ParquetReader"]


class ParquetReader:
    """A `RowReader` for Parquet; a row's place is that in the file, as in Spark's ``_metadata.row_index``."""

    def take(self, file: DataFile, wanted: Int64, fields: Sequence[Field]) -> pa.Table:
        with _opened(file) as parquet:
            columns = Columns(file, parquet.schema_arrow, fields)
            bases = _bases(parquet)
            groups = np.searchsorted(bases, wanted, side="right") - 1
            tables = []
            for group in np.unique(groups).tolist():
                places = wanted[groups == group] - bases[group]
                table = parquet.read_row_group(group, columns=columns.stored)
                # Converted first: pyarrow can't take rows of some types that files contain (string_view).
                shaped = columns.shape(table, int(bases[group + 1] - bases[group]))
                tables.append(shaped.take(pa.array(places)))
        return pa.concat_tables(tables) if tables else columns.empty()

    def scan(self, file: DataFile, fields: Sequence[Field], bounds: Bounds) -> Iterator[tuple[int, pa.Table]]:
        with _opened(file) as parquet:
            columns = Columns(file, parquet.schema_arrow, fields)
            bases = _bases(parquet)
            for group in range(parquet.metadata.num_row_groups):
                if bounds(_bounds(parquet.metadata.row_group(group), columns)):
                    table = parquet.read_row_group(group, columns=columns.stored)
                    yield int(bases[group]), columns.shape(table, int(bases[group + 1] - bases[group]))


@contextmanager
def _opened(file: DataFile) -> Iterator[pq.ParquetFile]:
    try:
        with file.open() as raw, pq.ParquetFile(raw, coerce_int96_timestamp_unit="us") as parquet:
            if parquet.metadata.num_rows != file.rows:
                raise file.wrong_count(parquet.metadata.num_rows)
            yield parquet
    except (OSError, pa.ArrowException) as e:
        raise file.unreadable(e) from e


def _bases(parquet: pq.ParquetFile) -> Int64:
    meta = parquet.metadata
    out = np.zeros(meta.num_row_groups + 1, dtype=np.int64)
    np.cumsum([meta.row_group(g).num_rows for g in range(meta.num_row_groups)], out=out[1:])
    return out


def _bounds(group: Any, columns: Columns) -> dict[str, tuple[Any, Any]]:
    """Return minima and maxima of columns, if the footer has them in the requested type."""
    out = {}
    for at in range(group.num_columns):
        chunk = group.column(at)
        field = columns.unchanged.get(chunk.path_in_schema)
        if field is None or not chunk.is_stats_set:
            continue
        stats = chunk.statistics
        if stats.has_min_max:
            out[field.name] = (stats.min, stats.max)
    return out
