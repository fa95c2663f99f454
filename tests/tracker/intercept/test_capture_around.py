"""What goes around the writers is noticed and marks the step; what was captured beside it stays exact."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import provspark
from provspark.errors import UnsupportedPlanError
from provspark.tracker import attach

pytestmark = pytest.mark.spark


def text(frame: Any, to: str) -> None:
    frame.rdd.map(lambda r: str(r.id)).saveAsTextFile(to)


def pickles(frame: Any, to: str) -> None:
    frame.rdd.saveAsPickleFile(to)


def sequence(frame: Any, to: str) -> None:
    frame.rdd.map(lambda r: (r.id, str(r.id))).saveAsSequenceFile(to)


def hadoop(frame: Any, to: str) -> None:
    pairs = frame.rdd.map(lambda r: (r.id, str(r.id)))
    pairs.saveAsNewAPIHadoopFile(to, "org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat")


def java_rdd(frame: Any, to: str) -> None:
    frame._jdf.toJSON().toJavaRDD().saveAsTextFile(to)


@pytest.mark.parametrize("save", [text, pickles, sequence, hadoop, java_rdd], ids=lambda f: f.__name__)
def test_saves(save: Callable[[Any, str], None], spark: Any, tmp_path: Path) -> None:
    frame = spark.range(5)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        frame.write.parquet(str(tmp_path / "good"))
        save(frame, str(tmp_path / "around"))
    assert any((tmp_path / "around").rglob("*"))
    assert capture.untracked
    told = [str(u) for u in capture.untracked]
    where = "Java code" if save is java_rdd else str(tmp_path / "around")  # its job does not say what it saves
    assert any(where in t for t in told), told
    assert len(told) == len(set(told)) == 1
    assert [w.coverage for w in capture.manifest.writes] == ["exact"]


def test_foreach(spark: Any, tmp_path: Path) -> None:
    """The function runs once a row, and the step says that it is not seen."""
    frame, seen = spark.range(6), spark.sparkContext.accumulator(0)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        frame.foreach(lambda row: seen.add(1))
        frame.foreachPartition(lambda rows: seen.add(sum(1 for _ in rows)))
        frame.rdd.foreach(lambda row: seen.add(1))
        frame.rdd.foreachPartition(lambda rows: seen.add(sum(1 for _ in rows)))
    assert seen.value == 24
    assert [(u.node, __file__ in u.site) for u in capture.untracked] == [
        ("DataFrame.foreach", True),
        ("DataFrame.foreachPartition", True),
        ("RDD.foreach", True),
        ("RDD.foreachPartition", True),
    ]


def test_stream(spark: Any, tmp_path: Path) -> None:
    spark.range(5).write.parquet(str(tmp_path / "in"))
    lines = spark.readStream.schema("id LONG").parquet(str(tmp_path / "in"))

    def run() -> None:
        writer = lines.writeStream.option("checkpointLocation", str(tmp_path / "check")).trigger(availableNow=True)
        query = writer.start(str(tmp_path / "out"), format="parquet")
        assert query.awaitTermination(120)

    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        run()
    assert spark.read.parquet(str(tmp_path / "out")).count() == 5
    assert [(u.node, __file__ in u.site) for u in capture.untracked] == [("DataStreamWriter.start", True)]
    with (
        pytest.raises(UnsupportedPlanError, match="streaming"),
        attach(store=(tmp_path / "store").as_uri(), step="t", on_error="fail"),
    ):
        run()


def test_batches_of_a_stream(spark: Any, tmp_path: Path) -> None:
    spark.range(5).write.parquet(str(tmp_path / "in"))
    lines = spark.readStream.schema("id LONG").parquet(str(tmp_path / "in"))
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        query = (
            lines.writeStream.foreachBatch(lambda batch, _: batch.write.parquet(str(tmp_path / "out")))
            .option("checkpointLocation", str(tmp_path / "check"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(120)
    assert spark.read.parquet(str(tmp_path / "out")).count() == 5
    assert {u.node for u in capture.untracked} > {"DataStreamWriter.start"}
    assert all(w.coverage == "untracked" for w in capture.manifest.writes)


def test_a_batch_of_a_stream_names_the_line_that_writes_it(spark: Any, tmp_path: Path) -> None:
    spark.range(5).write.parquet(str(tmp_path / "in"))
    lines = spark.readStream.schema("id LONG").parquet(str(tmp_path / "in"))
    out, kept, other = (str(tmp_path / name) for name in ("out", "kept", "other"))
    at: list[int] = []

    def each(batch: Any, number: int) -> None:
        at.append(sys._getframe().f_lineno)
        batch.selectExpr("id + 1 AS more").write.parquet(out)
        batch.cache().rdd.map(lambda row: (row.id,)).toDF(["id"]).write.parquet(kept)
        batch.sparkSession.range(3).write.parquet(other)

    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        writer = lines.writeStream.foreachBatch(each).option("checkpointLocation", str(tmp_path / "check"))
        query = writer.trigger(availableNow=True).start()
        assert query.awaitTermination(120)
    assert [spark.read.parquet(path).count() for path in (out, kept, other)] == [5, 5, 3]
    told = {u.node: int(u.site.rpartition(":")[2]) for u in capture.untracked if u.site.startswith(__file__)}
    assert len(told) == len({u.node for u in capture.untracked}), capture.untracked
    assert set(told) == {"DataStreamWriter.start", "foreachBatch"} and at[0] < told["foreachBatch"] <= at[0] + 2
    found = {w.output.dataset.name: (w.coverage, w.reason and w.reason.node) for w in capture.manifest.writes}
    assert found == {out: ("untracked", "foreachBatch"), kept: ("untracked", "foreachBatch"), other: ("exact", None)}


AWAY: dict[str, Callable[[Any, str], Any]] = {
    "foreach": lambda frame, to: frame.foreach(lambda row: None),
    "foreachPartition": lambda frame, to: frame.foreachPartition(lambda rows: None),
    "RDD.foreach": lambda frame, to: frame.rdd.foreach(lambda row: None),
    "RDD.saveAsTextFile": lambda frame, to: frame.rdd.map(str).saveAsTextFile(to),
    "a Java writer": lambda frame, to: frame._jdf.write().json(to),
    "a directory of Hive's": lambda frame, to: (
        frame.createOrReplaceTempView("away_0022"),
        frame.sparkSession.sql(f"INSERT OVERWRITE DIRECTORY '{to}' USING json SELECT * FROM away_0022"),
    ),
}


@pytest.mark.parametrize("name", AWAY)
def test_a_question_from_the_source_knows_where_its_rows_went(name: str, spark: Any, tmp_path: Path) -> None:
    """Another step wrote the source, so that nothing but the stored read or write can tell."""
    source, store = str(tmp_path / "source"), (tmp_path / "store").as_uri()
    with attach(store=store, step="first"):
        spark.range(5).write.parquet(source)
    with attach(store=store, step="second") as capture:
        AWAY[name](spark.read.parquet(source), str(tmp_path / "away"))
    prov = provspark.open(store)
    found = prov.trace(source, [1], "forward")
    assert [s for s in found.stops if s.step == capture.manifest.step] or prov.forward(source, [1]).table().num_rows, (
        name
    )
