"""Rows with values: a page as JSON, or all rows as a stream."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from fastapi.responses import StreamingResponse

from provspark.index_store.export.formulas import neutral, neutral_column
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.values.json_cells import plain
from provspark.index_store.values.row_reader import read_rows
from provspark.model.arrays import Int64
from provspark.model.errors import ValuesUnavailableError, VersionChangedError
from provspark.model.runs import Runs
from provspark.web import describe, models
from provspark.web.threads import chunks
from provspark.web.visible import Visible

__all__ = ["MEDIA_TYPES", "ExportFormat", "cells", "export", "page"]

ExportFormat = Literal["csv", "json", "jsonl", "arrow"]
_CHUNK = 8192
_SAFE = 2**53 - 1
_NO_VALUES = "The administrator has hidden all values ([provspark] show_values is False)."
MEDIA_TYPES = {
    "csv": "text/csv",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "arrow": "application/vnd.apache.arrow.stream",
}


def page(
    at: VersionReference,
    selected: Runs | Int64,
    visible: Visible,
    cursor: int,
    limit: int,
    columns: Sequence[str] | None,
) -> models.RowsJson:
    """Return a page of the selected rows; only ids, with the reason, if their values can't be read.

    Rows selected by an array are returned in its order, with duplicates.
    """
    version = at.version
    names = {f.name for f in version.fields} if columns is None else {visible.find(at, c).name for c in columns}
    told = zip((f.name for f in version.fields), describe.columns(at, visible), strict=True)
    listed = [(name, column) for name, column in told if name in names]
    count = selected.count if isinstance(selected, Runs) else len(selected)
    ids = _ids(selected, cursor, limit) if isinstance(selected, Runs) else selected[cursor : cursor + limit]
    values: list[list[Any]] | None = None
    why = ""
    if not visible.values:
        why = _NO_VALUES
    else:
        shown = [name for name, column in listed if not column.masked]
        try:
            table = read_rows(version, at.files, ids, shown)
        except (VersionChangedError, ValuesUnavailableError) as e:
            why = visible.error(e)
        else:
            read = dict(zip(shown, (cells(c) for c in table.columns), strict=True))
            nothing = [None] * len(ids)
            values = [list(row) for row in zip(*(read.get(name, nothing) for name, _ in listed), strict=True)]
            values = values if listed else [[] for _ in range(len(ids))]
    after = cursor + len(ids)
    return models.RowsJson(
        dataset=describe.dataset(version.dataset, visible),
        version=version.id,
        total=version.rows,
        selected=count,
        columns=[column for _, column in listed],
        rows=ids.tolist(),
        values=values,
        why=why,
        next=after if after < count else None,
    )


def export(at: VersionReference, selected: Runs, visible: Visible, form: ExportFormat) -> StreamingResponse:
    """Stream all selected rows with their ids and version, without masked columns.

    The first rows are read before the response starts, so that rows that can't be read result in an error status.
    """
    shown = visible.columns(at)
    named = "provspark_version"
    while named in shown:
        named += "_"

    def tables() -> Iterator[pa.Table]:
        for cursor in range(0, max(selected.count, 1), _CHUNK):
            ids = _ids(selected, cursor, _CHUNK)
            values = read_rows(at.version, at.files, ids, shown) if shown else None
            columns = [] if values is None else values.columns
            version = pa.array([at.version.id] * len(ids), pa.string())
            yield pa.table([pa.array(ids), *columns, version], names=["provspark_row", *shown, named])

    parts = tables()
    first = next(parts)
    label = describe.dataset(at.version.dataset, visible).label
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in label)[:80]
    headers = {"Content-Disposition": f'attachment; filename="{safe}.{form}"'}
    return StreamingResponse(
        chunks(_WRITERS[form](chain([first], parts))), media_type=MEDIA_TYPES[form], headers=headers
    )


def _ids(selected: Runs, cursor: int, limit: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return selected.at(np.arange(min(cursor, selected.count), min(cursor + limit, selected.count), dtype=np.int64))


def cells(column: pa.ChunkedArray) -> list[Any]:
    """Return a column's values as JSON that a browser reads without loss."""
    return [_safe(plain(v)) for v in column.to_pylist()]


def _safe(value: Any) -> Any:
    """Convert integers that a browser would round to texts."""
    if isinstance(value, int) and abs(value) > _SAFE:
        return str(value)
    if isinstance(value, list):
        return [_safe(v) for v in value]
    if isinstance(value, dict):
        return {k: _safe(v) for k, v in value.items()}
    return value


def _records(table: pa.Table) -> Iterator[list[Any]]:
    columns = [[plain(v) for v in c.to_pylist()] for c in table.columns]
    yield from (list(row) for row in zip(*columns, strict=True))


def _csv(tables: Iterator[pa.Table]) -> Iterator[bytes]:
    for number, table in enumerate(tables):
        out = io.StringIO()
        writer = csv.writer(out)
        if not number:
            writer.writerow([neutral(name) for name in table.column_names])
        table = pa.Table.from_arrays([neutral_column(column) for column in table.columns], table.column_names)
        for row in _records(table):
            writer.writerow([json.dumps(v, ensure_ascii=False) if isinstance(v, (list, dict)) else v for v in row])
        yield out.getvalue().encode()


def _jsonl(tables: Iterator[pa.Table]) -> Iterator[bytes]:
    for table in tables:
        names = table.column_names
        lines = (_object(names, row) for row in _records(table))
        yield "".join(line + "\n" for line in lines).encode()


def _json(tables: Iterator[pa.Table]) -> Iterator[bytes]:
    before = "["
    for table in tables:
        for row in _records(table):
            yield (before + _object(table.column_names, row)).encode()
            before = ",\n"
    yield b"[]" if before == "[" else b"]"


def _object(names: list[str], row: list[Any]) -> str:
    """Format one record; if several columns have the same name, all of them are kept."""
    pairs = zip(names, row, strict=True)
    return "{" + ", ".join(f"{json.dumps(n)}: {json.dumps(v, ensure_ascii=False)}" for n, v in pairs) + "}"


def _arrow(tables: Iterator[pa.Table]) -> Iterator[bytes]:
    out = io.BytesIO()
    writer = None
    for table in tables:
        writer = writer or pa.ipc.new_stream(out, table.schema)
        writer.write_table(table)
        yield out.getvalue()
        out.seek(0)
        out.truncate()
    assert writer is not None
    writer.close()
    yield out.getvalue()


_WRITERS: dict[str, Callable[[Iterator[pa.Table]], Iterator[bytes]]] = {
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
    "arrow": _arrow,
}
