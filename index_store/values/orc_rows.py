"""Rows of ORC files: reads the stripes up to the last row that is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
from pyarrow import orc

from provspark.index_store.values.columns import Columns
from provspark.index_store.values.files import DataFile
from provspark.index_store.values.rows import Bounds
from provspark.model.arrays import Int64
from provspark.model.datasets import Field

__all__ = ["OrcReader"]

_TIME = re.compile(r"\btimestamp\b")


class OrcReader:
    """A `RowReader` for ORC.

    It rejects Hive's files without column names (``_col0`` …), and times: ORC stores them as local time of the writer,
    whose zone pyarrow does not provide, and Spark reads them in the zone of its own JVM.
    """

    def take(self, file: DataFile, wanted: Int64, fields: Sequence[Field]) -> pa.Table:
        tables = []
        for start, table in self.scan(file, fields, lambda _: True):
            here = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, start + len(table))]
            tables.append(table.take(pa.array(here - start)))
            if not len(wanted) or wanted[-1] < start + len(table):
                break
        if tables:
            return pa.concat_tables(tables)
        with _opened(file) as opened:
            return Columns(file, opened.schema, fields).empty()

    def scan(self, file: DataFile, fields: Sequence[Field], bounds: Bounds) -> Iterator[tuple[int, pa.Table]]:
        for field in fields:
            if _TIME.search(field.type):
                raise file.unreadable(
                    f"column {field.name} is {field.type}, and times in ORC depend on the time zones of the JVMs that "
                    f"wrote and read them, which are unknown here; select other columns"
                )
        with _opened(file) as opened:
            columns = Columns(file, opened.schema, fields)
            start = 0
            for stripe in range(opened.nstripes):
                # Only a column shows how long a stripe is.
                names = columns.stored or opened.schema.names[:1]
                batch = opened.read_stripe(stripe, columns=names)
                yield start, columns.shape(pa.Table.from_batches([batch]), batch.num_rows)
                start += batch.num_rows


@contextmanager
def _opened(file: DataFile) -> Iterator[orc.ORCFile]:
    try:
        with file.open() as raw:
            opened = orc.ORCFile(raw)
            if opened.nrows != file.rows:
                raise file.wrong_count(opened.nrows)
            if opened.schema.names and all(n.startswith("_col") for n in opened.schema.names):
                raise file.unreadable("its columns are named _col0 and so on by Hive")
            yield opened
    except (OSError, pa.ArrowException) as e:
        raise file.unreadable(e) from e
