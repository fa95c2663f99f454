"""Writes of several threads and sessions: each is captured once, with the line of the script that made it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from _watching import drained

import provspark
from provspark.tracker import attach

pytestmark = pytest.mark.spark


def here() -> int:
    """Return the line of the caller."""
    return sys._getframe(1).f_lineno


def found(capture: Any) -> list[tuple[str, str, int]]:
    """Return folder, coverage and line of each write of this file."""
    out = []
    for write in capture.manifest.writes:
        file, _, line = write.site.rpartition(":")
        assert file == __file__, write.site
        out.append((Path(write.output.dataset.name).name, write.coverage, int(line)))
    return sorted(out)


@pytest.fixture
def source(spark: Any, tmp_path: Path) -> str:
    spark.range(0, 40, 1, 2).selectExpr("id", "id % 5 AS k").write.parquet(str(tmp_path / "source"))
    return str(tmp_path / "source")


def test_threads_that_write_at_once(spark: Any, source: str, tmp_path: Path) -> None:
    lines: dict[str, int] = {}
    start = threading.Barrier(4)

    def of_a_frame(name: str) -> None:
        start.wait(60)
        for i in range(3):
            frame = spark.read.parquet(source).where(f"id > {i}")
            lines[f"{name}{i}"] = here() + 1
            frame.write.parquet(str(tmp_path / f"{name}{i}"))

    def of_sql(name: str) -> None:
        start.wait(60)
        for i in range(3):
            to = tmp_path / f"{name}{i}"
            lines[f"{name}{i}"] = here() + 1
            spark.sql(
                f"INSERT OVERWRITE DIRECTORY '{to}' USING parquet SELECT id FROM parquet.`{source}` WHERE id > {i}"
            )

    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture, ThreadPoolExecutor(4) as pool:
        done = [
            pool.submit(run, name) for run, name in ((of_a_frame, "a"), (of_sql, "b"), (of_a_frame, "c"), (of_sql, "d"))
        ]
        for one in done:
            one.result(300)
    assert capture.untracked == ()
    assert found(capture) == sorted((name, "exact", line) for name, line in lines.items())
    assert len(lines) == 12
    prov = provspark.open((tmp_path / "store").as_uri())
    for name in lines:
        values = spark.read.parquet(str(tmp_path / name)).count()
        kept = prov.values(str(tmp_path / name), range(values)).table()["id"].to_pylist()
        for row in (0, values - 1):
            assert prov.values(prov.backward(str(tmp_path / name), [row])).table()["id"].to_pylist() == [kept[row]]


SESSIONS: dict[str, Callable[[Any], Any]] = {
    "newSession": lambda spark: spark.newSession()._jsparkSession,
    "of Java": lambda spark: spark._jsparkSession.newSession(),
    "cloned": lambda spark: spark._jsparkSession.cloneSession(),
    "cloned of a new one": lambda spark: spark._jsparkSession.newSession().cloneSession(),
}


@pytest.mark.parametrize("when", ["before", "within"])
@pytest.mark.parametrize("name", SESSIONS)
def test_sessions(name: str, when: str, spark: Any, source: str, tmp_path: Path) -> None:
    text = "INSERT OVERWRITE DIRECTORY '{}' USING parquet SELECT id FROM parquet.`{}` WHERE id < 9"
    session = SESSIONS[name](spark) if when == "before" else None
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        session = session or SESSIONS[name](spark)
        line = here() + 1
        session.sql(text.format(tmp_path / "one", source))
        session.read().parquet(source).write().parquet(str(tmp_path / "two"))
        from pyspark.sql import SparkSession

        wrapped = SparkSession(spark.sparkContext, session)
        wrapped.read.parquet(source).write.parquet(str(tmp_path / "three"))
        wrapped.sql(text.format(tmp_path / "four", source))
        spark.sql(text.format(tmp_path / "five", source))
    assert capture.untracked == ()
    lines = {"one": line, "two": line + 1, "three": line + 5, "four": line + 6, "five": line + 7}
    assert found(capture) == sorted((name, "exact", at) for name, at in lines.items())
    session.sql(text.format(tmp_path / "after", source))
    for one in (session, spark._jsparkSession):
        assert one.experimental().extraStrategies().isEmpty()


def test_the_session_of_a_batch(spark: Any, source: str, tmp_path: Path) -> None:
    rows = spark.readStream.schema("id LONG, k LONG").parquet(source)
    lines: dict[str, int] = {}

    def each(batch: Any, number: int) -> None:
        session = batch.sparkSession
        read = session.read.parquet(source)
        read.createOrReplaceTempView("read_0027")
        lines["frame"] = here() + 1
        read.where("k = 1").write.parquet(str(tmp_path / "frame"))
        lines["text"] = here() + 1
        session.sql(f"INSERT OVERWRITE DIRECTORY '{tmp_path}/text' USING parquet SELECT id FROM read_0027")
        lines["batch"] = here() + 1
        batch.write.parquet(str(tmp_path / "batch"))
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda name: write(session, name), ("one", "two")))

    def write(session: Any, name: str) -> None:
        lines[name] = here() + 1
        session.read.parquet(source).write.parquet(str(tmp_path / name))

    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        writer = rows.writeStream.foreachBatch(each).option("checkpointLocation", str(tmp_path / "check"))
        assert writer.trigger(availableNow=True).start().awaitTermination(120)
    expected = {name: "untracked" if name == "batch" else "exact" for name in lines}
    assert found(capture) == sorted((name, coverage, lines[name]) for name, coverage in expected.items())


class Copying:
    """A listener of the script that writes after each query of its session, but not after its own."""

    def __init__(self, spark: Any, source: str, folder: Path) -> None:
        self._spark, self._source, self._folder = spark, source, folder
        self.lines: dict[str, int] = {}
        self.errors: list[BaseException] = []

    def onSuccess(self, function: str, execution: Any, nanos: int) -> None:
        name = f"copy{len(self.lines)}"
        if len(self.lines) == 3:
            return
        try:
            other = self._spark.newSession()
            self.lines[name] = here() + 1
            other.read.parquet(self._source).write.parquet(str(self._folder / name))
        except BaseException as e:
            self.errors.append(e)

    def onFailure(self, function: str, execution: Any, error: Any) -> None:
        pass

    class Java:
        implements = ("org.apache.spark.sql.util.QueryExecutionListener",)


def test_a_write_in_a_listener(spark: Any, source: str, tmp_path: Path) -> None:
    from pyspark.java_gateway import ensure_callback_server_started

    ensure_callback_server_started(spark.sparkContext._gateway)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        own = spark.newSession()
        manager, copying = own._jsparkSession.listenerManager(), Copying(spark, source, tmp_path)
        drained(own)
        manager.register(copying)
        lines = {}
        for i in range(3):
            lines[f"own{i}"] = here() + 1
            own.read.parquet(source).where(f"k = {i}").write.parquet(str(tmp_path / f"own{i}"))
        drained(own)
        manager.clear()
    assert copying.errors == []
    assert len(copying.lines) == 3
    assert capture.untracked == ()
    assert found(capture) == sorted((name, "exact", at) for name, at in {**lines, **copying.lines}.items())


def test_a_write_while_rows_are_fetched(spark: Any, source: str, tmp_path: Path) -> None:
    """The iterator's jobs and the writes between them share a thread."""
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        for i, row in enumerate(spark.read.parquet(source).limit(4).toLocalIterator()):
            if i % 2 == 0:
                spark.read.parquet(source).where(f"id = {row.id}").write.parquet(str(tmp_path / f"out{i}"))
    assert [(name, coverage) for name, coverage, _ in found(capture)] == [("out0", "exact"), ("out2", "exact")]


UNPINNED = """
import json, sys, threading
from concurrent.futures import ThreadPoolExecutor
from pyspark.sql import SparkSession
from provspark.tracker import attach

work = sys.argv[1]
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
spark.range(9).write.parquet(work + "/source")
lines = {}

def write(name):
    for i in range(3):
        lines[name + str(i)] = sys._getframe().f_lineno + 1
        spark.read.parquet(work + "/source").write.parquet(f"{work}/{name}{i}")
    lines[name] = sys._getframe().f_lineno + 1
    spark.sql(f"INSERT OVERWRITE DIRECTORY '{work}/{name}' USING parquet SELECT * FROM parquet.`{work}/source`")

with attach(store=work + "/store", step="s") as capture:
    write("main")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, ["a", "b"]))
    lines["java"] = sys._getframe().f_lineno + 1
    spark.read.parquet(work + "/source")._jdf.write().parquet(work + "/java")
    def each(batch, number):
        lines["batch"] = sys._getframe().f_lineno + 1
        batch.sparkSession.read.parquet(work + "/source").write.parquet(work + "/batch")
    writer = spark.readStream.schema("id LONG").parquet(work + "/source").writeStream.foreachBatch(each)
    writer.option("checkpointLocation", work + "/check").trigger(availableNow=True).start().awaitTermination(120)
writes = capture.manifest.writes
found = {w.output.dataset.name.rsplit("/", 1)[-1]: (w.coverage, int(w.site.rsplit(":", 1)[-1])) for w in writes}
print(json.dumps([len(writes), found, lines, [str(u) for u in capture.untracked]]))
"""


@pytest.mark.parametrize("pinned", ["false", "true"])
def test_threads_without_pinning(pinned: str, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(UNPINNED)
    environment = {**os.environ, "PYSPARK_PIN_THREAD": pinned, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, tmp_path / "job.py", tmp_path]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    count, found, lines, untracked = json.loads(done.stdout.splitlines()[-1])
    assert found == {name: ["exact", line] for name, line in lines.items()}
    assert count == len(lines) == 14
    assert [reason.split(":")[0] for reason in untracked] == ["DataStreamWriter.start"]
