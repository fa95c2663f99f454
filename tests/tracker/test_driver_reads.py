"""What was brought to the driver before a write is context of all that it wrote, as a whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracle import lineage, outputs
from oracle.cases import Frames, configured
from oracle.sources import Source
from oracle.tables import DEPT, EMP, SKEW
from pyspark.sql import functions as sf

import provspark
from provspark.tracker import attach

pytestmark = pytest.mark.spark

LINES = Source(
    "numbers",
    ("n",),
    ((1,), (2,), (3,)),
    {"a.csv": b"1\n2\n", "b.csv": b"3\n"},
    lambda s, p: s.read.schema("n INT").csv(p),
)
TABLES = [EMP, DEPT, SKEW, LINES]


class World:
    def __init__(self, spark: Any, sources: Path, folder: Path) -> None:
        self.t, self.spark, self.folder = Frames(spark, TABLES, sources), spark, folder

    def step(self, name: str = "s") -> Any:
        return attach(store=(self.folder / "store").as_uri(), step=name)

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def edges(self, name: str, kind: str) -> list[tuple[tuple[Any, ...], set[tuple[str, int]]]]:
        """Rows of an output, each with its witnesses of a kind."""
        rows = outputs.read(self.folder / name).rows
        found: list[set[tuple[str, int]]] = [set() for _ in rows]
        names = lineage.names(self.t.paths)
        prov = provspark.open((self.folder / "store").as_uri())
        for line in lineage.lines(prov.backward(self.path(name), rows=range(len(rows)), kinds=kind)):
            found[line["row"]].add((names.get(line["dataset"], line["dataset"]), line["source_row"]))
        return list(zip(rows, found, strict=True))


@pytest.fixture
def world(spark: Any, sources: Path, tmp_path: Path) -> World:
    return World(spark, sources, tmp_path)


def all_of(*tables: Source) -> set[tuple[str, int]]:
    return {(t.name, i) for t in tables for i in range(len(t.rows))}


def fitted(dept: Any) -> Any:
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import Imputer

    return Pipeline(stages=[Imputer(inputCols=["w"], outputCols=["v"])]).fit(dept)


def view(frame: Any) -> str:
    frame.createOrReplaceTempView("read_r")
    return "read_r"


def variable(spark: Any, text: str) -> None:
    spark.sql("DECLARE OR REPLACE VARIABLE most BIGINT")
    spark.sql(text)


READS: dict[str, Callable[[Any], Any]] = {
    "collect": lambda d: d.collect(),
    "count": lambda d: d.count(),
    "first": lambda d: d.first(),
    "head": lambda d: d.head(2),
    "take": lambda d: d.take(1),
    "tail": lambda d: d.tail(1),
    "isEmpty": lambda d: d.isEmpty(),
    "toPandas": lambda d: d.toPandas(),
    "toArrow": lambda d: d.toArrow(),
    "toLocalIterator": lambda d: list(d.toLocalIterator()),
    "aggregate": lambda d: d.agg(sf.max("w")).collect()[0][0],
    "SET VARIABLE": lambda d: variable(d.sparkSession, f"set var most = (SELECT max(w) FROM {view(d)})"),
    "EXECUTE IMMEDIATE … INTO": lambda d: variable(
        d.sparkSession, f"EXECUTE IMMEDIATE 'SELECT max(w) FROM {view(d)}' INTO most"
    ),
    "RDD": lambda d: d.rdd.map(lambda r: r.w).collect(),
    "RDD sum": lambda d: d.rdd.map(lambda r: r.w).repartition(2).sum(),
    "runJob": lambda d: d.sparkSession.sparkContext.runJob(d.toJSON(), list),
    "frame of an RDD": lambda d: d.rdd.map(lambda r: (r.w,)).toDF(["w"]).count(),
    "filtered": lambda d: d.filter("w > 100").collect(),
    "fit": lambda d: fitted(d),
}


@pytest.mark.parametrize("how", READS)
def test_reads(how: str, world: World) -> None:
    with world.step() as capture:
        READS[how](world.t.dept)
        world.t.emp.select("id").filter("id < 3").write.parquet(world.path("out"))
    assert capture.untracked == ()
    assert world.edges("out", "data") == [((i,), {("emp", i)}) for i in range(3)]
    assert world.edges("out", "context") == [((i,), all_of(DEPT)) for i in range(3)]
    assert len(capture.manifest.writes[0].inputs) == 2


def test_what_gives_nothing(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    with world.step() as capture:
        world.t.dept.show(), world.t.dept.printSchema(), world.t.dept.explain()
        world.spark.range(3).count(), world.spark.createDataFrame([(1,)], "i INT").collect()
        world.spark.sql("SHOW TABLES").collect(), world.spark.sql("SELECT 1").first()
        world.t.emp.select("id").write.parquet(world.path("out"))
        world.t.skew.count()  # after
    assert capsys.readouterr().out
    assert capture.untracked == ()
    assert all(not found for _, found in world.edges("out", "context"))
    assert len(capture.manifest.writes[0].inputs) == 1


def test_joins_subqueries_caches_and_csv(world: World) -> None:
    """Every leaf counts; a data set can be both, and is one input then."""
    world.t.skew.createOrReplaceTempView("skew_r")
    with world.step() as capture:
        cached = world.t.dept.cache()
        cached.count()
        world.t.emp.join(cached, "k").filter("id IN (SELECT n FROM skew_r)").collect()
        world.t.numbers.collect()
        world.t.emp.groupBy("g").agg(sf.max("id").alias("m")).write.parquet(world.path("out"))
    cached.unpersist()
    assert capture.untracked == ()
    g = EMP.columns.index("g")
    assert dict(world.edges("out", "data")) == {
        (key, max(r[0] for r in EMP.rows if r[g] == key)): {("emp", r[0]) for r in EMP.rows if r[g] == key}
        for key in {r[g] for r in EMP.rows}
    }
    assert {frozenset(found) for _, found in world.edges("out", "context")} == {frozenset(all_of(*TABLES))}
    assert len(capture.manifest.writes[0].inputs) == len(TABLES)


def test_checkpoint_and_own_output(world: World) -> None:
    """A checkpoint stands for what it was made of; what a write made can be read back."""
    with world.step() as capture:
        made = world.t.dept.filter("w > 1").localCheckpoint()
        made.write.parquet(world.path("mid"))
        assert world.spark.read.parquet(world.path("mid")).count() == made.count() == 7
        world.t.emp.select("id").filter("id = 5").write.parquet(world.path("out"))
    assert capture.untracked == ()
    prov = provspark.open((world.folder / "store").as_uri())
    one_step = prov.backward(world.path("out"), rows=[0], to=world.path("mid"), kinds="context")
    assert {(line["kind"], line["source_row"]) for line in lineage.lines(one_step)} == {
        ("context", i) for i in range(7)
    }
    assert world.edges("out", "context") == [((5,), all_of(DEPT))]


def test_rows_that_stay_have_no_context(world: World) -> None:
    world.t.emp.select("id").filter("id < 3").write.parquet(world.path("out"))
    with world.step() as capture:
        world.t.dept.count()
        world.t.emp.select("id").filter("id >= 3").write.mode("append").parquet(world.path("out"))
    assert capture.untracked == ()
    assert dict(world.edges("out", "context")) == {(i,): all_of(DEPT) if i >= 3 else set() for i in range(12)}


def test_read_then_overwritten(world: World) -> None:
    """The version is the one that was read; its rows are counted before the write takes it away."""
    world.t.emp.select("id").write.parquet(world.path("both"))
    with world.step() as capture:
        top = world.spark.read.parquet(world.path("both")).agg(sf.max("id")).first()[0]
        world.t.dept.select("w").filter(sf.col("w") < top).write.mode("overwrite").parquet(world.path("both"))
    assert capture.untracked == ()
    write = capture.manifest.writes[0]
    assert [v.rows for v in write.inputs if v.dataset == write.output.dataset] == [12]
    context = [t for t in write.tensors if t.kind == "context"]
    assert [t.edges for t in context] == [12 * 8]


def test_lost_before_it_was_counted(world: World) -> None:
    """What somebody else took away is told of, and costs the write no other edge."""
    world.t.emp.select("id").write.parquet(world.path("gone"))
    with world.step() as capture:
        world.spark.read.parquet(world.path("gone")).count()
        for file in Path(world.path("gone")).iterdir():
            file.unlink()
        world.t.dept.select("w").write.parquet(world.path("out"))
    assert [(u.node, __file__ in u.site) for u in capture.untracked] == [("LogicalRelation count", True)]
    assert [w.coverage for w in capture.manifest.writes] == ["exact"]


def test_rows_of_unknown_origin(world: World) -> None:
    """It is told only if a write follows, once."""
    with world.step() as capture:
        lines = world.spark.sparkContext.textFile(str(world.t.paths["numbers"]))
        rows = lines.map(lambda line: (line,)).toDF("n STRING")
        rows.count(), rows.collect(), lines.count()
        assert capture.untracked == ()
        world.t.emp.write.parquet(world.path("a"))
        world.t.emp.write.parquet(world.path("b"))
    assert [u.node for u in capture.untracked] == ["LogicalRDD count", "LogicalRDD count"]


def test_switched_off(world: World) -> None:
    with configured(world.spark, {"spark.provspark.driverReads": "false"}), world.step() as capture:
        world.t.dept.count()
        world.t.emp.write.parquet(world.path("out"))
    assert len(capture.manifest.writes[0].inputs) == 1
