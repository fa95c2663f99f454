"""Rows that the script makes itself: their ids are their places, their data set is named by line or by range."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from oracle import lineage, outputs
from oracle.cases import Frames
from oracle.tables import EMP
from pyspark.sql import functions as sf

import provspark
from provspark.errors import ValuesUnavailableError
from provspark.tracker import attach

pytestmark = pytest.mark.spark

HERE = "memory://local/" + __file__.strip("/")
Edges = list[tuple[tuple[Any, ...], set[tuple[str, int]]]]


def run(spark: Any, folder: Path, plan: Callable[[], Any]) -> tuple[Any, Edges]:
    """Write a plan plainly and tracked; return the capture, and each row with its witnesses, lines left out."""
    plan().write.parquet(str(folder / "plain"))
    with attach(store=(folder / "store").as_uri(), step="s") as capture:
        plan().write.parquet(str(folder / "out"))
    assert capture.untracked == ()
    plain, out = outputs.read(folder / "plain"), outputs.read(folder / "out")
    assert (out.rows, out.schemas) == (plain.rows, plain.schemas)
    found: list[set[tuple[str, int]]] = [set() for _ in out.rows]
    for line in lineage.lines(
        provspark.open(str(folder / "store")).backward(str(folder / "out"), rows=range(len(found))).table()
    ):
        name = line["dataset"].rsplit(":", 1)[0] if line["dataset"].startswith(HERE) else line["dataset"]
        found[line["row"]].add((name, line["related_row"]))
    return capture, list(zip(out.rows, found, strict=True))


def here(*rows: int) -> set[tuple[str, int]]:
    return {(HERE, i) for i in rows}


def test_lists_join_files(spark: Any, sources: Path, tmp_path: Path) -> None:
    t = Frames(spark, [EMP], sources)
    rows = [(2, "b"), (1, "a"), (None, "c"), (1, "A"), (9, "d")]

    def plan() -> Any:
        made = spark.createDataFrame(rows, "k INT, s STRING")
        return made.join(t.emp, "k").select("s", "id").orderBy("s", "id").coalesce(1)

    emp = lineage.names(t.paths)
    expected = sorted((s, e[0], i) for i, (k, s) in enumerate(rows) for e in EMP.rows if k is not None and e[1] == k)
    _, edges = run(spark, tmp_path, plan)
    assert edges == [((s, e), here(i) | {(next(iter(emp)), e)}) for s, e, i in expected]


def test_many_rows_over_partitions(spark: Any, sources: Path, tmp_path: Path) -> None:
    """Places run on over the partitions of what is handed over, and through an aggregate."""

    def plan() -> Any:
        made = spark.createDataFrame([(i, i % 7) for i in range(1000)], "i INT, m INT")
        return made.filter("i % 3 = 0").groupBy("m").agg(sf.count("*").alias("n"))

    _, edges = run(spark, tmp_path, plan)
    of = {m: [i for i in range(0, 1000, 3) if i % 7 == m] for m in range(7)}
    assert dict(edges) == {(m, len(i)): here(*i) for m, i in of.items()}


def test_pandas(spark: Any, tmp_path: Path) -> None:
    """With Arrow, rows are in the plan itself: Spark evaluates filters on them while it plans."""
    import pandas as pd

    data = pd.DataFrame({"a": [1, 2, 2, 5], "s": ["x", None, "y", "z"]})
    spark.conf.set("spark.sql.execution.arrow.pyspark.enabled", "true")
    try:
        made = lambda: spark.createDataFrame(data).filter("a > 1").withColumn("r", sf.rand(7)).limit(3)  # noqa: E731
        _, edges = run(spark, tmp_path, made)
    finally:
        spark.conf.unset("spark.sql.execution.arrow.pyspark.enabled")
    assert [(row[0], found) for row, found in edges] == [(2, here(1)), (2, here(2)), (5, here(3))]


def test_rows_of_an_rdd(spark: Any, tmp_path: Path) -> None:
    """What was only handed over is the script's, row by row; what a function of an RDD made, as a whole."""
    rows = [(i, str(i)) for i in range(40)]
    _, edges = run(spark, tmp_path, lambda: spark.sparkContext.parallelize(rows, 3).toDF(["i", "s"]).filter("i > 37"))
    assert edges == [((38, "38"), here(38)), ((39, "39"), here(39))]
    (tmp_path / "t").mkdir()
    made = lambda: spark.sparkContext.parallelize(rows).filter(lambda r: r[0] > 38).toDF(["i", "s"])  # noqa: E731
    capture, edges = run(spark, tmp_path / "t", made)
    assert edges == [((39, "39"), here(*range(40)))]
    assert capture.manifest.writes[0].coverage == "coarse"


def test_values_in_sql(spark: Any, tmp_path: Path) -> None:
    text = "SELECT k, count(*) FROM VALUES (1, 'a'), (2, 'b'), (1, 'c') AS v(k, s) GROUP BY k HAVING k < 3"
    capture, edges = run(spark, tmp_path, lambda: spark.sql(text))
    assert sorted(edges) == [((1, 2), here(0, 2)), ((2, 1), here(1))]
    prov = provspark.open(str(tmp_path / "store"))
    version = capture.manifest.writes[0].inputs[0]
    assert (version.rows, version.format, [f.name for f in version.fields]) == (3, "memory", ["k", "s"])
    with pytest.raises(ValuesUnavailableError, match="memory"):
        prov.values(version.dataset.uri, rows=[0]).table()


def test_sides_of_joins_and_unions(spark: Any, tmp_path: Path) -> None:
    def plan() -> Any:
        a = spark.createDataFrame([(1,), (2,)], "k INT")
        b = spark.sql("SELECT * FROM VALUES (2), (3) AS v(k)")
        return a.join(b, "k", "left_semi").union(b.filter("k > 2")).union(a.join(b, "k", "left_anti")).coalesce(1)

    _, edges = run(spark, tmp_path, plan)
    assert edges == [((2,), here(1, 0)), ((3,), here(1)), ((1,), here(0))]


@pytest.mark.parametrize("bounds", [(10,), (3, 20, 4), (5, -6, -3), (-(2**40), -(2**40) + 3), (4, 4)], ids=str)
def test_ranges(bounds: tuple[int, ...], spark: Any, tmp_path: Path) -> None:
    _, edges = run(spark, tmp_path, lambda: spark.range(*bounds).selectExpr("id * 2 AS d"))
    values = range(*bounds)
    assert edges == [((v * 2,), {(edges[0][1].copy().pop()[0], i)}) for i, v in enumerate(values)]
    if edges:
        assert next(iter(edges[0][1]))[0].startswith("memory://range/")


@pytest.mark.parametrize("kept", [range(5, 20), range(1, 3), [9], []], ids=str)
@pytest.mark.parametrize("bounds", [(5, 105), (5, 105, 2), (3, -40, -1)], ids=str)
def test_stretches_of_ranges(bounds: tuple[int, ...], kept: Sequence[int], spark: Any, tmp_path: Path) -> None:
    """Values that follow one another are noted together, and are not their places."""

    def plan() -> Any:
        return spark.range(*bounds, numPartitions=1).filter(sf.col("id").isin(*kept))

    _, edges = run(spark, tmp_path, plan)
    places = [(value, row) for (value,), witnesses in edges for _, row in witnesses]
    assert places == [(v, i) for i, v in enumerate(range(*bounds)) if v in kept]


def test_range_is_one_version_ever(spark: Any, tmp_path: Path) -> None:
    ids = []
    for name in ("a", "b"):
        capture, _ = run(
            spark, tmp_path / name, lambda: spark.range(4, numPartitions=3).crossJoin(spark.range(2).toDF("j"))
        )
        ids.append([v.id for v in capture.manifest.writes[0].inputs])
    assert ids[0] == ids[1] and len(ids[0]) == 2


def test_same_line_other_rows(spark: Any, tmp_path: Path) -> None:
    """A line that makes other rows makes another version of its data set."""
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        for n in (1, 2, 2):
            made = spark.createDataFrame([(i,) for i in range(n)], "i INT")
            made.write.mode("append").parquet(str(tmp_path / "out"))
    inputs = [w.inputs[0] for w in capture.manifest.writes]
    assert len({v.dataset for v in inputs}) == 1
    assert inputs[0].id != inputs[1].id == inputs[2].id


def test_nothing_at_all(spark: Any, tmp_path: Path) -> None:
    capture, edges = run(spark, tmp_path, lambda: spark.createDataFrame([], "a INT, b STRING"))
    assert edges == []
    assert [v.rows for v in capture.manifest.writes[0].inputs] == [0]
