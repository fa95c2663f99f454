"""Read the number of rows and the columns from the footers of Parquet and ORC files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from provspark.model.datasets import Field
from provspark.tracker.files.file import FileState, look

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Footer", "footer", "spark_type"]

_TYPES = {
    "binary": "binary",
    "bool": "boolean",
    "date32[day]": "date",
    "double": "double",
    "float": "float",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "int8": "tinyint",
    "large_binary": "binary",
    "large_string": "string",
    "null": "void",
    "string": "string",
    "string_view": "string",
    "uint16": "int",
    "uint32": "bigint",
    "uint64": "decimal(20,0)",
    "uint8": "smallint",
}


@dataclass(frozen=True, slots=True)
class Footer:
    """Number of rows and columns of a file; no columns if the Spark type of one of them is unknown."""

    rows: int
    fields: tuple[Field, ...] = ()


def footer(state: FileState, format_name: str) -> Footer | None:
    """Read a file's footer; None if it has none, or has changed since `state`."""
    if format_name not in ("parquet", "orc") or not _unchanged(state):
        return None
    try:
        if format_name == "parquet":
            import pyarrow.parquet as pq  # neither is needed by most scripts

            metadata = pq.read_metadata(state.path)
            rows, schema = metadata.num_rows, metadata.schema.to_arrow_schema()
        else:
            import pyarrow.orc as orc

            file = orc.ORCFile(state.path)
            rows, schema = file.nrows, file.schema
        fields = [(field.name, spark_type(field.type)) for field in schema]
    except (OSError, ValueError, NotImplementedError):  # the file has another format than its suffix says
        return None
    if not _unchanged(state):
        return None
    whole = all(kind for _, kind in fields)
    return Footer(int(rows), tuple(Field(name, kind) for name, kind in fields) if whole else ())


def spark_type(kind: pa.DataType) -> str:
    """Return the name of the Spark type as which Spark reads an Arrow type; "" if it is unknown.

    >>> import pyarrow as pa
    >>> spark_type(pa.list_(pa.struct([("a", pa.int64())])))
    'array<struct<a:bigint>>'
    """
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return spark_type(kind.value_type)
    if types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if types.is_timestamp(kind):
        return "timestamp_ntz" if kind.tz is None else "timestamp"
    if types.is_list(kind) or types.is_large_list(kind):
        inner = spark_type(kind.value_type)
        return inner and f"array<{inner}>"
    if types.is_map(kind):
        key, value = spark_type(kind.key_type), spark_type(kind.item_type)
        return f"map<{key},{value}>" if key and value else ""
    if types.is_struct(kind):
        parts = [(field.name, spark_type(field.type)) for field in kind]
        return f"struct<{','.join(f'{n}:{t}' for n, t in parts)}>" if all(t for _, t in parts) else ""
    return _TYPES.get(str(kind), "")


def _unchanged(state: FileState) -> bool:
    stat = look(state.path)
    return stat is not None and (stat.size, stat.mtime_ns) == (state.size, state.mtime_ns)
