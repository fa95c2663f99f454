"""Rows of a step's inputs as DataFrames: some by their ids or all of them, read by Spark or by ProvSpark's readers."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from provspark.index_store.query.nodes import VersionReference, WriteNode
from provspark.index_store.values.files import check, files_of
from provspark.index_store.values.row_reader import find_column, read_rows, scan_rows
from provspark.model.datasets import Version
from provspark.model.errors import ReplayError
from provspark.model.operations import Operation
from provspark.replay.columns import FOCUS, NONE, PARENT, WITNESS, WITNESSES, quoted
from provspark.replay.contract import Frame, Refused
from provspark.replay.java import chosen

__all__ = ["Sources"]

_ROW = "__row"


class Sources:
    """The inputs of one write.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
    node : WriteNode
    """

    def __init__(self, spark: Any, node: WriteNode) -> None:
        self._spark, self._node = spark, node
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._numbered: dict[object, Frame] = {}
        self.scanned: dict[str, int] = {}

    def is_stored(self, operation: Operation) -> bool:
        """Whether a source operation reads a stored dataset."""
        try:
            self.reference(operation)
        except Refused:
            return False
        return True

    def reference(self, operation: Operation) -> VersionReference:
        """Return the version that a source operation reads. Raise `Refused` if it can't be read again."""
        versions = {self._node.write.axes[a].version for a in operation.axes} - {""}
        if len(versions) != 1:
            raise Refused(operation, "its input is not exactly one stored dataset, so its rows can't be read again")
        at = self._node.inputs[versions.pop()]
        if at.version.format == "memory":
            raise Refused(operation, "its rows were created by the script, and their values are not stored")
        return at

    def taken(self, operation: Operation, rows: Sequence[int]) -> Frame:
        """Return rows by their ids, marked as selected, each with itself as its witness.

        Raises
        ------
        VersionChangedError, ValuesUnavailableError, RowOutOfRangeError
        """
        from pyspark.sql.pandas.types import from_arrow_schema

        at = self.reference(operation)
        fields = self._fields(operation, at.version)
        ids = np.asarray(rows, dtype=np.int64)
        table = read_rows(at.version, at.files, ids, list(dict.fromkeys(fields.values())))
        table = table.append_column(_ROW, [ids])
        frame = self._spark.createDataFrame(table, schema=from_arrow_schema(table.schema, True))
        return self._shaped(frame, operation, fields, _witness(operation), "true")

    def whole(self, operation: Operation, focus: Collection[int], *, all_witnesses: bool) -> Frame:
        """Return all rows.

        Parameters
        ----------
        focus : collection of int
            Ids of the selected rows, which are marked.
        all_witnesses : bool
            Whether all rows have a witness. Otherwise only the selected ones do.

        Raises
        ------
        VersionChangedError, ValuesUnavailableError
        """
        at = self.reference(operation)
        fields = self._fields(operation, at.version)
        self.scanned[str(at.version.dataset)] = at.version.rows
        if not focus and not all_witnesses:
            return self._shaped(self._read(at), operation, fields, NONE[WITNESS], "false")
        if at.version.format == "parquet":
            frame = _with_rows(self._read(at), at)
        else:
            frame = self._written(at, list(dict.fromkeys(fields.values())))
        mine = f"{_ROW} IN ({', '.join(map(str, sorted(focus))) or 'NULL'})"
        witness = _witness(operation)
        if not all_witnesses:
            witness = f"CASE WHEN {mine} THEN {witness} ELSE {NONE[WITNESS]} END"
        return self._shaped(frame, operation, fields, witness, f"coalesce({mine}, false)")

    def close(self) -> None:
        """Remove temporary files."""
        if self._folder is not None:
            self._folder.cleanup()

    def _fields(self, operation: Operation, version: Version) -> dict[int, str]:
        """Return the version's column name of each column of the operation, by id."""
        return {c.id: find_column(version, c.name).name for c in operation.columns}

    def _shaped(self, frame: Frame, operation: Operation, fields: Mapping[int, str], witness: str, focus: str) -> Frame:
        there = set(frame.columns)
        columns = [
            f"cast({quoted(fields[c.id]) if fields[c.id] in there else 'NULL'} AS {_ddl(c.type)}) AS {quoted(c.label)}"
            for c in operation.columns
        ]
        hidden = [f"cast({witness} AS {WITNESSES}) AS {WITNESS}", f"{NONE[PARENT]} AS {PARENT}", f"{focus} AS {FOCUS}"]
        return chosen(frame, [*columns, *hidden])

    def _read(self, at: VersionReference) -> Frame:
        """Read the version's files as the step did, after checking that they have not changed."""
        files = files_of(at.version, at.files)
        for file in files:
            check(file)
        schema = ", ".join(f"{quoted(f.name)} {_ddl(f.type)}" for f in at.version.fields)
        root = at.version.dataset.uri if at.version.dataset.namespace != "file" else at.version.dataset.name
        reader = self._spark.read.format(at.version.format).schema(schema).options(**dict(at.version.options))
        if at.version.partitions:
            reader = reader.option("basePath", root)
        paths = [_escaped(f"{root}/{f.path}" if f.path else root) for f in files]
        if not paths:
            return self._spark.createDataFrame([], schema)
        return reader.load(paths)

    def _written(self, at: VersionReference, columns: Sequence[str]) -> Frame:
        """Return a whole version with row ids, which ProvSpark's reader converts to a temporary Parquet file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        key = (at.key, tuple(columns))
        if key not in self._numbered:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="provspark-replay-")
            path = Path(self._folder.name) / f"{len(self._numbered)}.parquet"
            writer = None
            for start, table in scan_rows(at.version, at.files, columns, lambda bounds: True):
                numbered = table.append_column(_ROW, [pa.array(range(start, start + len(table)), pa.int64())])
                if writer is None:
                    writer = pq.ParquetWriter(path, numbered.schema)
                writer.write_table(numbered)
            if writer is None:
                raise ReplayError(
                    f"{at.version.dataset} has no rows, so there is nothing to replay. Choose a step that reads rows."
                )
            writer.close()
            self._numbered[key] = self._spark.read.parquet(str(path))
        return self._numbered[key]


def _witness(operation: Operation) -> str:
    return f"array(named_struct('op', {operation.index}, 'row', {_ROW}))"


def _with_rows(frame: Frame, at: VersionReference) -> Frame:
    """Add the row ids of a Parquet version: the id of the file's first row, plus the row's position in the file."""
    base = at.version.dataset.name if at.version.dataset.namespace == "file" else at.version.dataset.uri
    entries = []
    for path, first in zip(at.files.paths, at.files.bases.tolist(), strict=False):
        full = f"{base}/{path}" if path else base
        entries += [_text(full), f"{first}L"]
    place = "regexp_replace(url_decode(replace(_metadata.file_path, '+', '%2B')), '^file:/+', '/')"
    row = f"element_at(map({', '.join(entries)}), {place}) + _metadata.row_index"
    return frame.selectExpr("*", f"{row} AS {_ROW}")


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _escaped(path: str) -> str:
    """Escape a path so that Hadoop does not read it as a glob pattern."""
    return "".join("\\" + c if c in "*?[]{}\\" else c for c in path)


def _ddl(kind: str) -> str:
    """Convert a type from Spark's ``simpleString`` to SQL, with field names in backticks."""
    if "<" not in kind:
        return kind
    from provspark.index_store.values.types import parts_of

    name, parts = parts_of(kind)
    inner = ", ".join(f"{quoted(n)}: {_ddl(t)}" if name == "struct" else _ddl(t) for n, t in parts)
    return f"{name}<{inner}>"
