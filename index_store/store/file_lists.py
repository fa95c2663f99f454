"""File lists of versions: the Parquet files in versions/ (docs/format.md)."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from provspark.model.arrow import bools, int64s, numbers, texts
from provspark.model.datasets import Files

__all__ = ["dump_files", "load_files"]

_SCHEMA = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("mtime", pa.int64(), nullable=False),
        pa.field("rows", pa.int64(), nullable=False),
        pa.field("written", pa.bool_(), nullable=False),
    ]
)
_DELTA = "DELTA_BINARY_PACKED"


def dump_files(files: Files) -> bytes:
    """Serialize the file list of a version."""
    columns = [texts(list(files.paths)), *map(int64s, (files.sizes, files.mtimes, files.rows)), bools(files.written)]
    table = pa.Table.from_arrays(columns, schema=_SCHEMA)
    sink = io.BytesIO()
    pq.write_table(
        table,
        sink,
        compression="zstd",
        use_dictionary=False,
        column_encoding={"path": "DELTA_BYTE_ARRAY", "size": _DELTA, "mtime": _DELTA, "rows": _DELTA},
        write_statistics=False,
        write_page_checksum=True,
        store_schema=False,
    )
    return sink.getvalue()


def load_files(data: bytes) -> Files:
    """Parse the file list of a version; raise ValueError or an error of pyarrow if it is malformed."""
    table = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True).read(use_threads=False)
    if table.column_names != _SCHEMA.names:
        raise ValueError(f"columns {', '.join(table.column_names)} instead of {', '.join(_SCHEMA.names)}")
    ints = [numbers(table.column(n)).astype(np.int64) for n in ("size", "mtime", "rows")]
    written = numbers(table.column("written")).astype(np.bool_)
    return Files(tuple(table.column("path").to_pylist()), ints[0], ints[1], ints[2], written)
