"""Columns of a self-describing file, with the names and types of the version."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from provspark.index_store.values.files import DataFile
from provspark.index_store.values.types import arrow_type
from provspark.model.datasets import Field
from provspark.model.errors import ValuesUnavailableError

__all__ = ["Columns"]


class Columns:
    """Columns of a version in one file, found by name, or else by name without case; missing ones are null.

    Parameters
    ----------
    file : DataFile
    schema : pyarrow.Schema
        Schema of the file.
    fields : sequence of Field
        Columns to read.

    Raises
    ------
    ValuesUnavailableError
        Two columns of the file differ only in case, and neither has exactly the name.
    """

    def __init__(self, file: DataFile, schema: pa.Schema, fields: Sequence[Field]) -> None:
        self._file, self._schema, self._fields = file, schema, fields
        self._sources = [self._source(f.name) for f in fields]

    @property
    def stored(self) -> list[str]:
        """Names, in the file, of the columns to read."""
        return list(dict.fromkeys(s for s in self._sources if s is not None))

    @property
    def unchanged(self) -> dict[str, Field]:
        """Fields that the file stores in the requested type, by their names in the file."""
        return {
            s: f
            for s, f in zip(self._sources, self._fields, strict=True)
            if s is not None and self._schema.field(s).type == self._target(f, s)
        }

    def shape(self, table: pa.Table, rows: int) -> pa.Table:
        """Return what was read with the version's names and types; missing columns are null."""
        arrays = []
        for field, source in zip(self._fields, self._sources, strict=True):
            target = self._target(field, source)
            if source is None:
                arrays.append(pa.nulls(rows, target))
                continue
            column = table[source]
            try:
                arrays.append(column if column.type == target else column.cast(target))
            except pa.ArrowException as e:
                raise ValuesUnavailableError(
                    f"Column {field.name!r} of {self._file.full} is {column.type} and can't be read as "
                    f"{field.type}: {e}. Select other columns."
                ) from e
        return pa.Table.from_arrays(arrays, names=[f.name for f in self._fields])

    def empty(self) -> pa.Table:
        """Return a table without rows."""
        return self.shape(self._schema.empty_table(), 0)

    def _source(self, name: str) -> str | None:
        names = self._schema.names
        matches = [n for n in names if n == name] or [n for n in names if n.lower() == name.lower()]
        if len(matches) > 1:
            raise ValuesUnavailableError(
                f"{self._file.full} has the columns {', '.join(map(repr, matches))}, which equal {name!r} but for "
                f"case. Select other columns."
            )
        return matches[0] if matches else None

    def _target(self, field: Field, source: str | None) -> pa.DataType:
        try:
            return arrow_type(field.type)
        except ValuesUnavailableError:
            if source is None:
                raise
            return self._schema.field(source).type
