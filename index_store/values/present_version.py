"""A dataset's present files as a version; listed and counted without Spark."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from provspark.index_store.values.files import DataFile, files_of
from provspark.index_store.values.listing import Listed, listing
from provspark.index_store.values.row_reader import reader_of
from provspark.index_store.values.rows import LineReader
from provspark.model.datasets import Dataset, Field, Files, Version
from provspark.model.errors import InvalidWriteError, ValuesUnavailableError
from provspark.model.pending import PendingVersion

__all__ = ["list_files", "present_version"]


def list_files(dataset: Dataset) -> list[Listed]:
    """List the data files of a dataset like Spark, sorted by path, without names that begin with ``_`` or ``.``.

    Raises
    ------
    InvalidWriteError
        The dataset has no data files.
    """
    listed = listing(dataset, max_age=0)
    if not listed.files:
        why = f" ({listed.why})" if listed.why else ""
        raise InvalidWriteError(f"{dataset} has no data files{why}. Record a step while its datasets exist.")
    return list(listed.files)


def present_version(
    dataset: Dataset, format_name: str, options: Mapping[str, str], columns: tuple[Field, ...] = ()
) -> PendingVersion:
    """Count the rows of a dataset's files, and read its columns if the files contain them.

    Parameters
    ----------
    format_name : str
        ``parquet``, ``orc``, ``csv``, ``json`` or ``text``.
    options : mapping
        Spark's reader options that define rows (``header``, ``lineSep``, …).
    columns : tuple of Field, optional
        Columns to use instead of those in the files.

    Raises
    ------
    InvalidWriteError
        The dataset has no data files.
    ValuesUnavailableError
        The rows can't be counted.
    """
    listed = list_files(dataset)
    kept = tuple(sorted((name.lower(), str(value)) for name, value in options.items()))
    version = Version("", dataset, 0, len(listed), format_name.lower(), kept)
    blank = Files.of([(path, size, mtime, 0, False) for path, size, mtime in listed])
    counted: list[tuple[str, int, int, int, bool]] = []
    fields: tuple[Field, ...] = ()
    for file in files_of(version, blank):
        rows, fields = _counted(version, file)
        counted.append((file.path, file.size, file.mtime, rows, False))
    parts = dict.fromkeys(p.split("=", 1)[0] for path, _, _ in listed for p in path.split("/")[:-1] if "=" in p)
    if fields and not columns:
        named = {f.name for f in fields}
        columns = (*fields, *(Field(p, "string") for p in parts if p not in named))
    return PendingVersion(dataset, Files.of(counted), version.format, kept, columns, tuple(parts) if columns else ())


def _counted(version: Version, file: DataFile) -> tuple[int, tuple[Field, ...]]:
    try:
        if version.format == "parquet":
            import pyarrow.parquet as pq

            with file.open() as raw, pq.ParquetFile(raw) as parquet:
                return parquet.metadata.num_rows, _fields(parquet.schema_arrow)
        if version.format == "orc":
            from pyarrow import orc

            with file.open() as raw:
                opened = orc.ORCFile(raw)
                return opened.nrows, _fields(opened.schema)
    except (OSError, pa.ArrowException) as e:
        raise file.unreadable(e) from e
    reader = reader_of(version)
    if not isinstance(reader, LineReader):
        raise ValuesUnavailableError(
            f"Rows of format {version.format!r} can't be counted. Use parquet, orc, csv, json or text."
        )
    return reader.count(file), ()


def _fields(schema: pa.Schema) -> tuple[Field, ...]:
    """Return the columns with Spark's names of their types; none if a type has no such name."""
    kinds = [spark_type(f.type) for f in schema]
    return tuple(Field(f.name, k) for f, k in zip(schema, kinds, strict=True) if k) if all(kinds) else ()


_SIMPLE = {
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
}


def spark_type(kind: pa.DataType) -> str | None:
    """Return Spark's name of an Arrow type, or None."""
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz else "timestamp_ntz"
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_list(kind):
        inner = spark_type(kind.value_type)
        return inner and f"array<{inner}>"
    if pa.types.is_struct(kind):
        parts = [(f.name, spark_type(f.type)) for f in kind]
        return "struct<" + ",".join(f"{n}:{t}" for n, t in parts) + ">" if all(t for _, t in parts) else None
    return None
