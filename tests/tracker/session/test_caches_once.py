"""What is cached is computed once: random rows stay the ones that they were, for the user's own actions too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oracle import lineage, outputs
from oracle.cases import Frames, configured
from oracle.tables import DEPT, EMP, SKEW
from pyspark import StorageLevel
from pyspark.sql import functions as sf

import provspark
from provspark.tracker import attach

pytestmark = pytest.mark.spark

TABLES = [EMP, DEPT, SKEW]


@pytest.fixture(autouse=True)
def nothing_cached(spark: Any) -> Iterator[None]:
    spark.catalog.clearCache()
    yield
    spark.catalog.clearCache()


def edges(store: Path, output: Path, to: str | None = None) -> list[tuple[tuple[Any, ...], set[int]]]:
    """Rows of an output, each with the ids of its data witnesses."""
    rows = outputs.read(output).rows
    found: list[set[int]] = [set() for _ in rows]
    for line in lineage.lines(
        provspark.open(store.as_uri()).backward(str(output), rows=range(len(rows)), to=to).table()
    ):
        found[line["row"]].add(line["related_row"])
    return list(zip(rows, found, strict=True))


def counting(spark: Any) -> tuple[Any, Any]:
    """A function of a number that counts its calls; without Arrow, by which Spark 4.2.0 waits for ever over a cache."""
    calls = spark.sparkContext.accumulator(0)

    def same(x):  # type: ignore[no-untyped-def]
        calls.add(1)
        return x

    return calls, sf.udf(same, "long", useArrow=False)


@pytest.mark.parametrize(
    "level", ["MEMORY_ONLY", "DISK_ONLY", "MEMORY_AND_DISK_2", "MEMORY_AND_DISK_DESER", "OFF_HEAP"]
)
def test_two_writes_of_a_random_sample(level: str, spark: Any, sources: Path, tmp_path: Path) -> None:
    """Both writes, and what the script counted, are of the same rows."""
    t = Frames(spark, TABLES, sources)
    calls, same = counting(spark)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        some = t.skew.filter(sf.rand() < 0.5).withColumn("u", sf.expr("uuid()")).withColumn("c", same("n"))
        some = some.select("n", "u", "c").persist(getattr(StorageLevel, level))
        seen = {r.u: r.n for r in some.collect()}
        some.write.parquet(str(tmp_path / "a"))
        some.groupBy("u").agg(sf.max("n").alias("n")).write.parquet(str(tmp_path / "b"))
        assert some.columns == ["n", "u", "c"] and some.count() == len(seen) == calls.value
        assert some.storageLevel == getattr(StorageLevel, level)
    assert capture.untracked == ()
    assert {u: n for (n, u, _), _ in edges(tmp_path / "store", tmp_path / "a")} == seen
    assert all(found == {n} for (n, _, _), found in edges(tmp_path / "store", tmp_path / "a"))
    assert {u: n for (u, n), _ in edges(tmp_path / "store", tmp_path / "b")} == seen
    assert all(found == {n} for (_, n), found in edges(tmp_path / "store", tmp_path / "b"))


def test_computed_bit_by_bit(spark: Any, sources: Path, tmp_path: Path) -> None:
    """Without adaptive execution an action that needs one partition computes one, the write the rest."""
    t = Frames(spark, TABLES, sources)
    calls, same = counting(spark)
    adaptive = {"spark.sql.adaptive.enabled": False}
    with configured(spark, adaptive), attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        sums = (
            t.skew.repartitionByRange(4, "v").groupBy("v").agg(sf.sum("n").alias("s")).select(same("v").alias("v"), "s")
        )
        sums.cache()
        first = [tuple(row) for row in sums.take(1)]
        few = calls.value
        sums.write.parquet(str(tmp_path / "all"))
    assert capture.untracked == ()
    by_v: dict[Any, set[int]] = {}
    for i, row in enumerate(SKEW.rows):
        by_v.setdefault(row[SKEW.columns.index("v")], set()).add(i)
    assert 0 < few < calls.value == len(by_v)
    rows = edges(tmp_path / "store", tmp_path / "all")
    assert all(found == by_v[v] for (v, _), found in rows) and first[0] in dict(rows)


def block_manager(spark: Any) -> Any:
    """By its field: Spark 4.3 names a class of protobuf, which it does not come with, in a method of SparkEnv."""
    environment = spark.sparkContext._jsc.sc().env()
    field = spark._jvm.java.lang.Class.forName("org.apache.spark.SparkEnv").getDeclaredField("blockManager")
    field.setAccessible(True)
    return field.get(environment)


def test_parts_that_get_lost(spark: Any, sources: Path, tmp_path: Path) -> None:
    """What Spark computes again notes itself again, and each row is still told once."""
    t = Frames(spark, TABLES, sources)
    calls, same = counting(spark)
    adaptive = {"spark.sql.adaptive.enabled": False}
    with configured(spark, adaptive), attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        sums = t.skew.repartition(3, "v").groupBy("v").agg(sf.sum("n").alias("s")).select(same("v").alias("v"), "s")
        before = set(spark.sparkContext._jsc.getPersistentRDDs())
        sums.persist(StorageLevel.MEMORY_ONLY)
        sums.collect()
        many = calls.value
        (rdd,) = set(spark.sparkContext._jsc.getPersistentRDDs()) - before
        storage = spark._jvm.org.apache.spark.storage
        for part in (0, 2):
            block = storage.RDDBlockId(rdd, part)
            block_manager(spark).removeBlock(block, True)
        sums.write.parquet(str(tmp_path / "a"))
        assert many < calls.value < 2 * many
        sums.coalesce(1).write.parquet(str(tmp_path / "b"))
    assert capture.untracked == ()
    by_v: dict[Any, set[int]] = {}
    for i, row in enumerate(SKEW.rows):
        by_v.setdefault(row[SKEW.columns.index("v")], set()).add(i)
    for name in ("a", "b"):
        assert {v: found for (v, _), found in edges(tmp_path / "store", tmp_path / name)} == by_v


@pytest.mark.parametrize("grouped", [True, False])
def test_parts_that_a_failed_action_left(grouped: bool, spark: Any, sources: Path, tmp_path: Path) -> None:
    """A task that fails after it filled a part of the cache leaves the part, and what is known of it."""
    t = Frames(spark, TABLES, sources)
    calls, same = counting(spark)

    def fail(_):  # type: ignore[no-untyped-def]
        raise ValueError("on purpose")

    adaptive = {"spark.sql.adaptive.enabled": False}
    with configured(spark, adaptive), attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        below = t.emp.coalesce(1)
        groups = (below.groupBy("k") if grouped else below).agg(sf.sum("id").alias("s"))
        sums = groups.select(same("s").alias("s")).cache()
        with pytest.raises(Exception, match="on purpose"):
            sums.select(sf.udf(fail, "long", useArrow=False)("s")).collect()
        assert calls.value == 0  # of a failed task nothing is told
        sums.write.parquet(str(tmp_path / "a"))
    assert calls.value == 0 and capture.untracked == ()
    k = EMP.columns.index("k")
    parts = [{i for i, r in enumerate(EMP.rows) if r[k] == key} for key in {r[k] for r in EMP.rows}]
    expected = parts if grouped else [set(range(12))]
    found = edges(tmp_path / "store", tmp_path / "a")
    assert sorted(sorted(w) for _, w in found) == sorted(sorted(p) for p in expected)
    assert all(s == sum(w) for (s,), w in found)


def test_lazy_table(spark: Any, sources: Path, tmp_path: Path) -> None:
    t = Frames(spark, TABLES, sources)
    calls, same = counting(spark)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        t.emp.select(same("v").alias("v"), "id").createOrReplaceTempView("counted")
        spark.sql("CACHE LAZY TABLE counted")
        assert calls.value == 0
        spark.table("counted").filter("id < 3").write.parquet(str(tmp_path / "a"))
        spark.sql("CACHE TABLE counted")  # is already
        spark.table("counted").write.parquet(str(tmp_path / "b"))
        assert calls.value == 12
        spark.sql("UNCACHE TABLE counted")
        assert not spark.catalog.isCached("counted")
        spark.table("counted").write.parquet(str(tmp_path / "c"))
        assert calls.value == 24
    assert capture.untracked == ()
    for name, n in (("a", 3), ("b", 12), ("c", 12)):
        assert sorted((i, found) for (_, i), found in edges(tmp_path / "store", tmp_path / name)) == [
            (i, {i}) for i in range(n)
        ]


def test_eager_table_in_sql_computes_at_once(spark: Any, sources: Path, tmp_path: Path) -> None:
    t = Frames(spark, TABLES, sources)
    calls, same = counting(spark)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        t.emp.select(same("v").alias("v"), "id").createOrReplaceTempView("counted_e")
        assert spark.sql("CACHE TABLE counted_e").collect() == []
        assert calls.value == 12
        with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
            spark.sql("CACHE TABLE not_there")
        spark.table("counted_e").write.parquet(str(tmp_path / "a"))
    assert (capture.untracked, calls.value) == ((), 12)


@pytest.mark.parametrize("how", ["localCheckpoint", "checkpoint", "lazy localCheckpoint"])
def test_checkpoints(how: str, spark: Any, sources: Path, tmp_path: Path) -> None:
    spark.sparkContext.setCheckpointDir(str(tmp_path / "checkpoints"))
    t = Frames(spark, TABLES, sources)
    calls, same = counting(spark)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        made = t.skew.filter(sf.rand() < 0.5).groupBy("v").agg(sf.sum("n").alias("s")).withColumn("c", same("v"))
        made = made.checkpoint() if how == "checkpoint" else made.localCheckpoint("lazy" not in how)
        assert made.columns == ["v", "s", "c"]
        made.filter("v >= 0").union(made).write.parquet(str(tmp_path / "a"))
        seen = {tuple(r) for r in made.collect()}
        made.select("s").write.parquet(str(tmp_path / "b"))
    assert capture.untracked == ()
    assert calls.value == len(seen)
    place = {n: i for i, n in enumerate(r[SKEW.columns.index("n")] for r in SKEW.rows)}
    numbers = {i: n for n, i in place.items()}
    rows = edges(tmp_path / "store", tmp_path / "a")
    assert {row for row, _ in rows} == seen
    for (_, s, _), found in rows:
        assert sum(numbers[i] for i in found) == s
    assert sorted(sum(numbers[i] for i in found) for _, found in edges(tmp_path / "store", tmp_path / "b")) == sorted(
        s for _, s, _ in seen
    )


def test_checkpoint_that_may_run_twice(spark: Any, sources: Path, tmp_path: Path) -> None:
    """Spark computes a lazy checkpoint for the action and again for the files: its rows can't be followed."""
    spark.sparkContext.setCheckpointDir(str(tmp_path / "checkpoints"))
    t = Frames(spark, TABLES, sources)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        t.dept.checkpoint(eager=False).write.parquet(str(tmp_path / "a"))
    assert [u.node for u in capture.untracked] == ["LogicalRDD"]
    assert len(outputs.read(tmp_path / "a").rows) == 8


def test_computed_before_capture(spark: Any, sources: Path, tmp_path: Path) -> None:
    """It is used as it is; what is cached but not computed yet can still be followed."""
    t = Frames(spark, TABLES, sources)
    calls, same = counting(spark)
    done, not_yet = t.dept.select(same("w").alias("w")).cache(), t.emp.select("id").cache()
    done.count()
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        done.filter("w > 2").write.parquet(str(tmp_path / "a"))
        not_yet.filter("id > 2").write.parquet(str(tmp_path / "b"))
    assert calls.value == 8
    assert [(u.node, "before capture" in u.why) for u in capture.untracked] == [("InMemoryRelation", True)]
    assert sorted((i, found) for (i,), found in edges(tmp_path / "store", tmp_path / "b")) == [
        (i, {i}) for i in range(3, 12)
    ]


def test_refused_operator_below(spark: Any, sources: Path, tmp_path: Path) -> None:
    """The cache stays the user's own; a write that reads it is refused by the operator's name and line."""
    t = Frames(spark, TABLES, sources)
    (tmp_path / "lines").write_text("a\nb\n")
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        made = spark.sparkContext.textFile(str(tmp_path / "lines")).map(lambda line: (line,)).toDF(["w"]).cache()
        assert made.count() == 2
        made.write.parquet(str(tmp_path / "a"))
        t.emp.write.parquet(str(tmp_path / "b"))
    (reason,) = capture.untracked
    assert [read.coverage for read in capture.manifest.reads] == ["untracked"]
    assert reason.node == "LogicalRDD" and "in what is cached" in reason.why and __file__ in reason.site
    assert sorted(outputs.read(tmp_path / "a").rows) == [("a",), ("b",)]


def test_source_overwritten_after_it_was_cached(spark: Any, tmp_path: Path) -> None:
    """The rows are those that were read, of the version that was."""
    source = str(tmp_path / "source")
    spark.range(6).coalesce(1).write.parquet(source)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        before = spark.read.parquet(source).cache()
        half = before.filter("id % 2 = 0").cache()
        before.count(), half.count()
        half.write.mode("overwrite").parquet(source)
        spark.read.parquet(source).groupBy().agg(sf.sum("id")).write.parquet(str(tmp_path / "sum"))
    assert capture.untracked == ()
    first, second = capture.manifest.writes
    assert (first.inputs[0].rows, first.output.rows, second.inputs[0].rows) == (6, 3, 3)
    assert second.inputs[0].id == first.output.id != first.inputs[0].id
    prov = provspark.open((tmp_path / "store").as_uri())
    steps = lineage.lines(prov.backward(source, rows=[0, 1, 2]).table())
    assert sorted((line["row"], line["related_row"]) for line in steps) == [(0, 0), (1, 2), (2, 4)]


def test_source_overwritten_by_what_was_checkpointed_of_it(spark: Any, tmp_path: Path) -> None:
    """As jobs rewrite a part of a dataset in place."""
    source = str(tmp_path / "source")
    spark.range(6).coalesce(1).write.parquet(source)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        kept = spark.read.parquet(source).filter("id > 3").localCheckpoint()
        kept.write.mode("overwrite").parquet(source)
    assert capture.untracked == () and capture.manifest.writes[0].coverage == "exact"
    prov = provspark.open((tmp_path / "store").as_uri())
    found = lineage.lines(prov.backward(source, rows=[0, 1]).table())
    assert [(line["row"], line["related_row"]) for line in found] == [(0, 4), (1, 5)]


def test_cache_that_spark_makes_anew(spark: Any, tmp_path: Path) -> None:
    """A write to what a cache reads makes Spark compute it anew, and the new rows are followed."""
    path = str(tmp_path / "in")
    spark.range(3).coalesce(1).write.parquet(path)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        cached = spark.read.parquet(path).filter("id >= 1").cache()
        assert cached.count() == 2
        spark.range(10, 12).coalesce(1).write.mode("append").parquet(path)
        assert cached.count() == 4
        cached.write.parquet(str(tmp_path / "out"))
    assert capture.untracked == ()
    ids = [row[0] for row in outputs.read(tmp_path / "in").rows]
    assert all(ids[next(iter(found))] == v for (v,), found in edges(tmp_path / "store", tmp_path / "out", path))


def test_after_the_step(spark: Any, sources: Path, tmp_path: Path) -> None:
    """What was never computed is the user's own plan again; what was stays usable."""
    t = Frames(spark, TABLES, sources)
    with attach(store=(tmp_path / "one").as_uri(), step="s"):
        done, not_yet = t.dept.groupBy("w").count().cache(), t.emp.select("id").cache()
        done.count()
    assert not_yet.count() == 12 and done.count() == 7
    with attach(store=(tmp_path / "two").as_uri(), step="s") as capture:
        done.write.parquet(str(tmp_path / "a"))
    assert [u.node for u in capture.untracked] == ["InMemoryRelation"]
    assert len(outputs.read(tmp_path / "a").rows) == 7
