"""Queries of our own in the script's Spark application, and the tables that they and the driver hand each other."""

from __future__ import annotations

import contextlib
import itertools
import uuid
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from provspark.tracker.jvm import Jvm

BUCKET_ROWS = 1 << 20
"""Rows of an axis whose ranges are sorted by one task, into one file."""
NONE = -1
"""Buckets from this one down are of rows that should not be there."""
_BATCH_ROWS = 1 << 20
_GROUP_BYTES = 16 << 20
_DESCRIPTION = "spark.job.description"
_CONF = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.maxRecordsPerFile": "0",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.compression.codec": "snappy",
}
"""No broadcast: what is told of its size is told of packed files, and the driver would hold it."""


class Staging:
    """A session of its own, of which the script's sessions and capture's audit see nothing, and a folder for tables.

    Parameters
    ----------
    jvm : Jvm
    folder : str
        URL of a folder that driver and executors share.
    partitions : int
        Of a shuffle, at most.
    """

    def __init__(self, jvm: Jvm, folder: str, partitions: int) -> None:
        self._jvm = jvm
        self._url = f"{folder.rstrip('/')}/seal-{uuid.uuid4().hex[:12]}"
        self._files, self._path = fs.FileSystem.from_uri(folder)
        self._path = f"{self._path.rstrip('/')}/{self._url.rsplit('/', 1)[1]}"
        self._session = jvm.session.newSession()
        for name, value in (_CONF | {"spark.sql.shuffle.partitions": str(partitions)}).items():
            self._session.conf().set(name, value)
        self._context = jvm.spark.sparkContext
        self._described = self._context.getLocalProperty(_DESCRIPTION)

    def __enter__(self) -> Staging:
        self._files.create_dir(self._path, recursive=True)
        self._context.setLocalProperty(_DESCRIPTION, "provspark: sealing")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._context.setLocalProperty(_DESCRIPTION, self._described)
        with contextlib.suppress(OSError):
            self._files.delete_dir(self._path)

    def query(self, text: str) -> Any:
        """Return the Java Dataset of a query over views."""
        return self._session.sql(text)

    def view(self, name: str, rows: Any) -> str:
        """Give a Java Dataset a name in queries; return it."""
        rows.createOrReplaceTempView(name)
        return name

    def put(self, name: str, table: pa.Table) -> str:
        """Hand a table of the driver's over to queries, under a name; return it."""
        self._files.create_dir(f"{self._path}/{name}", recursive=True)
        with self._files.open_output_stream(f"{self._path}/{name}/table.parquet") as sink:
            pq.write_table(table, sink)
        return self.view(name, self._reader().parquet(f"{self._url}/{name}"))

    def keep(self, name: str, text: str, columns: str) -> str:
        """Run a query and keep its rows for queries and the driver, under a name; return it.

        Each value of its column ``p``, the last one, makes a bucket, whose rows stand as the query sorts them.
        `columns` are names and types.
        """
        writer = self.query(text).write().option("parquet.block.size", _GROUP_BYTES)
        writer.partitionBy(self._jvm.array("java.lang.String", ["p"])).parquet(f"{self._url}/{name}")
        return self.view(name, self._reader().schema(columns).parquet(f"{self._url}/{name}"))

    def empty(self, name: str) -> bool:
        """Whether a query left no row at all."""
        return not self._folders(name)

    def missing(self, name: str) -> int:
        """Return how many rows there are in buckets from `NONE` down."""
        total = 0
        for path in itertools.chain.from_iterable(files for p, files in self._folders(name).items() if p < 0):
            with self._files.open_input_file(path) as file:
                total += pq.ParquetFile(file).metadata.num_rows
        return total

    def stream(self, name: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield kept rows bucket by bucket from 0 on, in the order in which they were sorted."""
        folders = self._folders(name)
        for bucket in sorted(b for b in folders if b >= 0):
            for path in folders[bucket]:
                with self._files.open_input_file(path) as file:
                    yield from pq.ParquetFile(file).iter_batches(_BATCH_ROWS, columns=list(columns))

    def table(self, name: str, text: str) -> pa.Table:
        """Run a query of few rows and return them."""
        self.query(text).coalesce(1).write().parquet(f"{self._url}/{name}")
        paths = self._parquet(f"{self._path}/{name}")
        with contextlib.ExitStack() as opened:
            files = [opened.enter_context(self._files.open_input_file(path)) for path in paths]
            return pa.concat_tables([pq.ParquetFile(file).read() for file in files])

    def _reader(self) -> Any:
        return self._session.read().option("__globPaths__", "false")

    def _folders(self, name: str) -> dict[int, list[str]]:
        found = {}
        for info in self._files.get_file_info(fs.FileSelector(f"{self._path}/{name}")):
            if info.type == fs.FileType.Directory and info.base_name.startswith("p="):
                found[int(info.base_name[2:])] = self._parquet(info.path)
        return found

    def _parquet(self, path: str) -> list[str]:
        infos = self._files.get_file_info(fs.FileSelector(path))
        return sorted(info.path for info in infos if info.path.endswith(".parquet"))
