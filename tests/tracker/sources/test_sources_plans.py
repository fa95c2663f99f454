"""What Spark does with a plan is still done with addresses in it: pruning, reuse, tables, buckets, nested columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _source_rows import ADDRESS, conf, tagged
from pyspark.sql import DataFrame

from provspark.model.datasets import Field
from provspark.tracker.sources import scan_relation
from provspark.tracker.spark.jvm import Jvm

pytestmark = pytest.mark.spark
formats = pytest.mark.parametrize("kind", ["parquet", "csv", "json", "orc"])


@pytest.fixture(scope="module")
def jvm(spark: Any) -> Jvm:
    return Jvm(spark)


def executed(frame: Any) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def files_read(frame: Any) -> int:
    """Files that the scans of a run plan really read."""
    plan = frame._jdf.queryExecution().executedPlan()
    nodes = [plan.executedPlan() if plan.getClass().getSimpleName() == "AdaptiveSparkPlanExec" else plan]
    total = 0
    while nodes:
        node = nodes.pop()
        kind = node.getClass().getSimpleName()
        if kind == "FileSourceScanExec":
            total += node.metrics().apply("numFiles").value()
        if "QueryStage" in kind:
            nodes.append(node.plan())
        children = node.children()
        nodes += [children.apply(i) for i in range(children.size())]
    return total


@pytest.fixture
def parts(spark: Any, tmp_path: Path) -> Callable[[str], Path]:
    def write(kind: str) -> Path:
        frame = spark.range(400).selectExpr(
            "id", "named_struct('a', id, 'b', 'x') s" if kind != "csv" else "'x' s", "id % 5 p"
        )
        frame.repartition(1).sortWithinPartitions("p", "id").write.partitionBy("p").format(kind).save(
            str(tmp_path / kind)
        )
        return tmp_path / kind

    return write


def read(spark: Any, kind: str, path: Path) -> Any:
    schema = "id bigint, s string" if kind == "csv" else "id bigint, s struct<a:bigint, b:string>"
    return spark.read.format(kind).schema(schema).load(str(path))


@formats
def test_predicates_on_partition_columns(spark: Any, jvm: Jvm, parts: Callable[[str], Path], kind: str) -> None:
    t = tagged(jvm, read(spark, kind, parts(kind)), "p in (1, 3) and id >= 100 and P + id < 1000")
    frame = t.frame.select("id", "p", ADDRESS)
    got, version, _ = t.numbered(frame)
    assert files_read(frame) == len(version.files.paths) == 2
    assert all(p.startswith(("p=1/", "p=3/")) for p in version.files.paths)
    assert version.fields[-1] == Field("p", "int")
    assert version.partitions == ("p",)
    ids = [i for p in (1, 3) for i in range(400) if i % 5 == p]
    assert sorted(got) == [(n, i, i % 5) for n, i in enumerate(ids) if i >= 100]


@formats
def test_a_filter_from_elsewhere_still_prunes(spark: Any, jvm: Jvm, parts: Callable[[str], Path], kind: str) -> None:
    t = tagged(jvm, read(spark, kind, parts(kind)))
    few = spark.createDataFrame([(2, "yes"), (4, "no")], "q int, keep string").where("keep = 'yes'")
    with conf(spark, spark__sql__optimizer__dynamicPartitionPruning__reuseBroadcastOnly="false"):
        frame = t.frame.join(few.hint("broadcast"), t.frame["p"] == few["q"]).select("id", ADDRESS)
        assert "dynamicpruning" in executed(frame)
        got, version, _ = t.numbered(frame)
    assert version.files.rows.tolist() == [80] * 5
    assert files_read(frame) == 1
    assert sorted(got) == [(160 + n, 2 + 5 * n) for n in range(80)]


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_nested_columns_are_pruned(spark: Any, jvm: Jvm, parts: Callable[[str], Path], kind: str) -> None:
    t = tagged(jvm, read(spark, kind, parts(kind)))
    frame = t.frame.selectExpr("s.a", ADDRESS)
    assert "ReadSchema: struct<s:struct<a:bigint>>" in executed(frame)
    assert "Batched: true" in executed(frame)
    got, _, _ = t.numbered(frame)
    assert sorted(got) == [(80 * p + n, p + 5 * n) for p in range(5) for n in range(80)]


@formats
def test_one_scan_used_twice_is_read_once(spark: Any, jvm: Jvm, parts: Callable[[str], Path], kind: str) -> None:
    t = tagged(jvm, read(spark, kind, parts(kind)))
    with conf(spark, spark__sql__autoBroadcastJoinThreshold=-1, spark__sql__adaptive__enabled="false"):
        left = t.frame.groupBy("id").agg({ADDRESS: "max"}).withColumnRenamed(f"max({ADDRESS})", ADDRESS)
        both = left.alias("a").join(left.alias("b"), "id").select("id", f"a.{ADDRESS}", f"b.{ADDRESS}")
        assert "ReusedExchange" in executed(both)
        rows = both.collect()
    _, segments = t.scan.finish()
    ids = segments.rows_of(np.array([r[1] for r in rows]))
    assert [80 * (r[0] % 5) + r[0] // 5 for r in rows] == ids.tolist()
    assert [r[1] for r in rows] == [r[2] for r in rows]


def test_scans_of_one_listing_are_the_same_to_spark(spark: Any, jvm: Jvm, parts: Callable[[str], Path]) -> None:
    frame = read(spark, "parquet", parts("parquet"))
    one, same, other = tagged(jvm, frame), tagged(jvm, frame), tagged(jvm, frame, "p = 1")
    plans = [t.scan.plan for t in (one, same, other)]
    assert plans[0].sameResult(plans[1])
    relations = [p.collectLeaves().head().relation().fileFormat() for p in plans]
    assert relations[0].equals(relations[1])
    assert not relations[0].equals(relations[2])


@pytest.fixture
def table(spark: Any) -> Iterator[str]:
    yield "sources_table"
    spark.sql("DROP TABLE IF EXISTS sources_table")


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_tables_and_buckets(spark: Any, jvm: Jvm, table: str, kind: str) -> None:
    frame = spark.range(300).selectExpr("id", "id % 7 k", "id % 3 p")
    frame.repartition(1).write.format(kind).partitionBy("p").bucketBy(4, "k").sortBy("id").saveAsTable(table)
    scanned = spark.read.table(table)
    relation = scanned._jdf.queryExecution().analyzed().collectLeaves().head()
    scan = scan_relation(jvm, relation, [])
    frame = DataFrame(jvm.jvm.org.apache.spark.sql.classic.Dataset.ofRows(jvm.session, scan.plan), spark)
    with conf(spark, spark__sql__autoBroadcastJoinThreshold=-1):
        counts = frame.groupBy("k").count().withColumnRenamed("k", "k2")
        joined = frame.join(counts, frame["k"] == counts["k2"])
        assert "Bucketed: true" in executed(joined)
        assert "hashpartitioning" not in executed(joined.where("p = 1"))
        rows = joined.where("p = 1").collect()
    version, segments = scan.finish()
    assert version.files.total == 300
    assert all(path.startswith("p=") for path in version.files.paths)
    assert version.dataset.name.endswith("/sources_table")
    ids = segments.rows_of(np.array([r[ADDRESS] for r in rows]))
    assert len(rows) == 100
    want: list[int] = []
    for path in version.files.paths:
        reader = spark.read.schema("id bigint, k bigint").format(kind)
        want += [r["id"] for r in reader.load(f"{version.dataset.name}/{path}").collect()]
    assert [want[i] for i in ids.tolist()] == [r["id"] for r in rows]


def test_a_table_pruned_by_the_catalogue(spark: Any, jvm: Jvm, table: str) -> None:
    spark.range(30).selectExpr("id", "id % 3 p").repartition(1).write.partitionBy("p").saveAsTable(table)
    relation = spark.read.table(table)._jdf.queryExecution().analyzed().collectLeaves().head()
    above = spark.read.table(table).where("p = 2")._jdf.queryExecution().analyzed().condition()
    attribute = relation.output().last()
    condition = jvm.jvm.org.apache.spark.sql.catalyst.expressions.EqualTo(attribute, above.right())
    scan = scan_relation(jvm, relation, [condition])
    version, _ = scan.finish()
    assert [p.split("/")[0] for p in version.files.paths] == ["p=2"]
    assert version.files.rows.tolist() == [10]


@pytest.mark.long
@formats
def test_many_files(spark: Any, jvm: Jvm, tmp_path: Path, kind: str) -> None:
    spark.range(0, 600, 1, 200).write.format(kind).save(str(tmp_path / "many"))
    t = tagged(jvm, spark.read.schema("id bigint").format(kind).load(str(tmp_path / "many")))
    got, version, _ = t.numbered(t.frame)
    assert sorted(got) == [(i, i) for i in range(600)]
    assert version.files.rows.tolist() == [3] * 200


@formats
def test_a_column_with_the_addresss_name(spark: Any, jvm: Jvm, tmp_path: Path, kind: str) -> None:
    spark.range(10).selectExpr(f"id {ADDRESS}").repartition(1).write.format(kind).save(str(tmp_path / "x"))
    frame = spark.read.schema(f"{ADDRESS} bigint").format(kind).load(str(tmp_path / "x"))
    scan = scan_relation(jvm, frame._jdf.queryExecution().analyzed(), [])
    rows = DataFrame(jvm.jvm.org.apache.spark.sql.classic.Dataset.ofRows(jvm.session, scan.plan), spark).collect()
    assert scan.plan.output().last().name() == f"{ADDRESS}_"
    assert len(scan.finish()[1].rows_of(np.array([r[1] for r in rows]))) == 10


@formats
def test_a_partition_column_that_the_files_hold_too(spark: Any, jvm: Jvm, tmp_path: Path, kind: str) -> None:
    for p in (1, 2):
        rows = spark.range(p * 10, p * 10 + 5, 1, 1).selectExpr("id", "100 p", "id / 2 h")
        rows.write.format(kind).option("header", True).save(str(tmp_path / f"p={p}"))
    options = {"header": True, "inferSchema": True} if kind == "csv" else {}
    frame = spark.read.format(kind).options(**options).load(str(tmp_path))
    t = tagged(jvm, frame, "p = 2")
    got, version, _ = t.numbered(t.frame)
    plain = sorted((tuple(r) for r in frame.where("p = 2").collect()), key=lambda r: r[frame.columns.index("id")])
    assert len(plain) == 5
    assert sorted(got) == [(i, *r) for i, r in enumerate(plain)]
    assert [f.name for f in version.fields] == [c for c in frame.columns if c != "p"] + ["p"]
    assert version.partitions == ("p",)


def test_wide_files_are_read_by_rows(spark: Any, jvm: Jvm, tmp_path: Path) -> None:
    columns = [f"id + {i} c{i}" for i in range(120)]
    spark.range(0, 50, 1, 2).selectExpr("id", *columns, "id % 2 p").write.partitionBy("p").parquet(str(tmp_path / "w"))
    t = tagged(jvm, spark.read.parquet(str(tmp_path / "w")))
    assert "Batched: false" in executed(t.frame)
    rows = t.frame.collect()
    _, segments = t.scan.finish()
    ids = segments.rows_of(np.array([r[ADDRESS] for r in rows])).tolist()
    assert sorted((i, r["id"], r["c7"], r["p"]) for i, r in zip(ids, rows, strict=True)) == [
        (25 * p + n, 2 * n + p, 2 * n + p + 7, p) for p in (0, 1) for n in range(25)
    ]
