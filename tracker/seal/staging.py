"""Sealing's own queries in the script's Spark application, and the tables that they exchange with the driver."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from provspark.tracker.spark.jvm import Jvm

BUCKET_ROWS = 1 << 20
"""Rows of an axis whose ranges one task sorts into one file."""
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
"""Broadcasts are off: Spark would estimate sizes from compressed files, and the driver would hold the tables."""


def labels(partitions: int) -> npt.NDArray[np.int32]:
    """Return for each of so many partitions a number that Spark's hash puts there."""
    chosen = np.full(partitions, -1, dtype=np.int32)
    at = 0
    while (chosen < 0).any():
        some = np.arange(at, at + 8 * partitions, dtype=np.int32)
        place = _hashed(some) % partitions
        chosen[place[::-1]] = np.where(chosen[place[::-1]] < 0, some[::-1], chosen[place[::-1]])
        at += len(some)
    return chosen


def _hashed(numbers: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Return the Murmur3 hashes of ints, as Spark's `hash` computes them."""
    one = numbers.view(np.uint32) * np.uint32(0xCC9E2D51)
    one = _turned(one, 15) * np.uint32(0x1B873593)
    hashes = _turned(np.uint32(42) ^ one, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    hashes ^= np.uint32(4)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        hashes = (hashes ^ (hashes >> np.uint32(shift))) * np.uint32(factor)
    return hashes.view(np.int32).astype(np.int64)


def _turned(numbers: npt.NDArray[np.uint32], bits: int) -> npt.NDArray[np.uint32]:
    turned: npt.NDArray[np.uint32] = (numbers << np.uint32(bits)) | (numbers >> np.uint32(32 - bits))
    return turned


def _partition(path: str) -> int:
    """Return the partition number in the name of a file that Spark wrote."""
    return int(path.rsplit("/", 1)[1].split("-")[1])


class Staging:
    """A separate session, invisible to the script's sessions and to capture's audit, with a folder for tables.

    Parameters
    ----------
    jvm : Jvm
    folder : str
        URL of a folder that driver and executors share.
    partitions : int
        Largest number of shuffle partitions.
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

    def dealt(self, text: str, bucket: str, partitions: int, order: str) -> Any:
        """Return a query's rows, each in the partition of the SQL expression `bucket`, sorted by the column `order`."""
        if partitions > 1:
            named = ", ".join(map(str, labels(partitions).tolist()))
            text = f"SELECT /*+ REPARTITION({partitions}, label) */ *, array({named})[{bucket}] AS label FROM ({text})"
        else:
            text = f"SELECT /*+ REPARTITION(1) */ *, 0 AS label FROM ({text})"
        return self.query(f"FROM ({text}) SORT BY {order}").drop("label")

    def query(self, text: str) -> Any:
        """Return the Java Dataset of a query."""
        return self._session.sql(text)

    def view(self, name: str, rows: Any) -> str:
        """Register a Java Dataset as a view. Return the view's name."""
        rows.createOrReplaceTempView(name)
        return name

    def put(self, name: str, table: pa.Table) -> str:
        """Store a table of the driver and register it as a view. Return the view's name."""
        self._files.create_dir(f"{self._path}/{name}", recursive=True)
        with self._files.open_output_stream(f"{self._path}/{name}/table.parquet") as sink:
            pq.write_table(table, sink)
        return self.view(name, self._reader().parquet(f"{self._url}/{name}"))

    def keep(self, name: str, rows: Any, columns: str) -> str:
        """Store a Java Dataset, one file per partition, and register it as a view. Return the view's name.

        `columns` is the schema as DDL.
        """
        writer = rows.write().option("parquet.block.size", _GROUP_BYTES).option("parquet.enable.dictionary", "false")
        writer.parquet(f"{self._url}/{name}")
        return self.view(name, self._reader().schema(columns).parquet(f"{self._url}/{name}"))

    def counts(self, name: str, partitions: int) -> list[int]:
        """Return the number of rows that `keep` stored of each partition."""
        counts = [0] * partitions
        for path in self._parquet(f"{self._path}/{name}"):
            with self._files.open_input_file(path) as file:
                counts[_partition(path)] += pq.ParquetFile(file).metadata.num_rows
        return counts

    def stream(self, name: str, columns: Sequence[str], partitions: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows that `keep` stored of the first so many partitions, in order."""
        for path in self._parquet(f"{self._path}/{name}"):
            if _partition(path) < partitions:
                with self._files.open_input_file(path) as file:
                    yield from pq.ParquetFile(file).iter_batches(_BATCH_ROWS, columns=list(columns))

    def table(self, name: str, text: str) -> pa.Table:
        """Run a query that returns few rows, and return them as a table."""
        self.query(text).coalesce(1).write().parquet(f"{self._url}/{name}")
        paths = self._parquet(f"{self._path}/{name}")
        with contextlib.ExitStack() as opened:
            files = [opened.enter_context(self._files.open_input_file(path)) for path in paths]
            return pa.concat_tables([pq.ParquetFile(file).read() for file in files])

    def _reader(self) -> Any:
        return self._session.read().option("__globPaths__", "false")

    def _parquet(self, path: str) -> list[str]:
        infos = self._files.get_file_info(fs.FileSelector(path))
        return sorted(info.path for info in infos if info.path.endswith(".parquet"))
