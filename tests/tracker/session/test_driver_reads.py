"""What the script brings to the driver is a read in the manifest; writes that take nothing of it have no edge to it."""

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
from provspark.model.steps import Manifest
from provspark.model.writes import Write
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
        for line in lineage.lines(prov.backward(self.path(name), rows=range(len(rows)), kinds=kind).table()):
            found[line["row"]].add((names.get(line["dataset"], line["dataset"]), line["related_row"]))
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
    "approxQuantile": lambda d: d.approxQuantile("w", [0.5], 0.1),
}
SINGLE = {"count", "isEmpty", "aggregate", "RDD sum", "frame of an RDD"}
"""Those that return one number."""


def whole(read: Write) -> dict[str, int]:
    """Rows of what a read was computed from, by the name of its folder."""
    sources = {axis.label.rsplit("/", 1)[-1]: axis.size for axis in read.axes if axis.role == "input"}
    assert sum(t.edges for t in read.tensors) == read.output.rows * sum(sources.values()), read
    return sources


def reads(manifest: Manifest | None) -> list[tuple[str, str, bool]]:
    assert manifest is not None and manifest.driver_reads == "on"
    return [(read.action, read.coverage, read.single) for read in manifest.reads]


@pytest.mark.parametrize("how", READS)
def test_reads(how: str, world: World) -> None:
    """Each is a data set of its own, and a write that takes nothing of it has no edge to it."""
    with world.step() as capture:
        READS[how](world.t.dept)
        world.t.emp.select("id").filter("id < 3").write.parquet(world.path("out"))
    assert capture.untracked == () and capture.manifest is not None
    assert world.edges("out", "data") == [((i,), {("emp", i)}) for i in range(3)]
    assert world.edges("out", "context") == [((i,), set()) for i in range(3)]
    (write,) = capture.manifest.writes
    assert write.coverage == "exact" and [axis.role for axis in write.axes] == ["output", "input"]
    read = capture.manifest.reads[-1]
    assert read.single == (how in SINGLE) and read.site.startswith(__file__)
    assert read.output.dataset.namespace == "memory://driver"
    assert read.output.dataset.name.startswith("test_driver_reads.py:")
    assert {axis.version for axis in read.axes if axis.role == "input"} == {v.id for v in read.inputs}
    assert {v.dataset.uri for v in read.inputs} == {f"file://{world.t.paths['dept']}"}


def test_each_call_is_a_version(world: World) -> None:
    """Two calls of a line that return the same are two versions of one data set."""
    with world.step() as capture:
        counts = [world.t.dept.count() for _ in range(2)]
    assert capture.manifest is not None and counts == [len(DEPT.rows)] * 2
    first, second = capture.manifest.reads
    assert first.output.dataset == second.output.dataset and first.output.id != second.output.id
    assert first.inputs == second.inputs and whole(first) == whole(second) == {"dept": len(DEPT.rows)}


def test_one_number_is_told_by_the_plan(world: World) -> None:
    d = world.t.dept
    number = [
        d.agg(sf.max("w"), sf.count("*")),
        d.select(sf.avg("w").alias("a")),
        d.groupBy().agg((sf.sum("w") / sf.count("w")).alias("mean")).withColumn("half", sf.expr("mean / 2")),
        d.filter("w > 1").agg(sf.min("w") > 0),
        d.agg(sf.stddev("w"), sf.corr("w", "w"), sf.approx_count_distinct("w")).limit(1),
        d.agg(sf.max(sf.lit(1).cast("timestamp"))),
        d.limit(1).agg(sf.count("*"), sf.count_if(sf.col("w") > 1), sf.approx_count_distinct("w")),
        d.sample(0.5, seed=1).agg(sf.count("w") / sf.lit(2)),
    ]
    rows = [
        d.groupBy("w").count(),
        d.agg(sf.max(sf.col("w").cast("string"))),
        d.agg(sf.length(sf.max(sf.col("w").cast("string")))),
        d.agg(sf.collect_list("w")),
        d.agg(sf.first("w")),
        d.agg(sf.udf(lambda x: x, "bigint")(sf.max("w"))),
        d.agg(sf.max("w").alias("m")).filter("m > 0"),
        d.select("w").limit(1),
        d.orderBy(sf.desc("w")).limit(1).agg(sf.max("k")),
        d.orderBy("w").limit(1).filter("w > 0").select("k").agg(sf.avg("k"), sf.count("k")),
        d.orderBy("w").offset(7).agg(sf.sum("k")),
        d.sample(0.5, seed=1).agg(sf.min("k")),
        d.join(d.select("k").limit(1), "k").agg(sf.max("w")),
    ]
    with world.step() as capture:
        for frame in (*number, *rows):
            frame.collect()
    assert [single for _, _, single in reads(capture.manifest)] == [True] * len(number) + [False] * len(rows)


def test_an_observation_is_told_by_its_metrics(world: World) -> None:
    from pyspark.sql import Observation

    number, value, one = Observation(), Observation(), Observation()
    with world.step() as capture:
        world.t.dept.observe(number, sf.max("w").alias("m")).select("w").write.parquet(world.path("a"))
        world.t.dept.observe(value, sf.max(sf.col("w").cast("string")).alias("m")).write.parquet(world.path("b"))
        world.t.dept.limit(1).observe(one, sf.max("w").alias("m")).write.parquet(world.path("c"))
        assert [type(each.get["m"]) for each in (number, value, one)] == [int, str, int]
    assert reads(capture.manifest) == [("Observation.get", "coarse", single) for single in (True, False, False)]


def test_what_gives_nothing(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    with world.step() as capture:
        world.t.dept.show(), world.t.dept.printSchema(), world.t.dept.explain()
        world.spark.range(3).count(), world.spark.createDataFrame([(1,)], "i INT").collect()
        world.spark.sql("SHOW TABLES").collect(), world.spark.sql("SELECT 1").first()
        world.t.dept.take(0), world.t.dept.head(0)
        world.t.emp.select("id").write.parquet(world.path("out"))
    assert capsys.readouterr().out
    assert capture.untracked == () and reads(capture.manifest) == []


def test_joins_subqueries_caches_and_csv(world: World) -> None:
    """Every leaf counts."""
    world.t.skew.createOrReplaceTempView("skew_r")
    with world.step() as capture:
        cached = world.t.dept.cache()
        cached.count()
        world.t.emp.join(cached, "k").filter("id IN (SELECT n FROM skew_r)").count()
        world.t.numbers.count()
        world.t.emp.groupBy("g").agg(sf.max("id").alias("m")).write.parquet(world.path("out"))
    cached.unpersist()
    assert capture.untracked == () and capture.manifest is not None
    sizes = {t.name: len(t.rows) for t in TABLES}
    assert list(map(whole, capture.manifest.reads)) == [
        {"dept": sizes["dept"]},
        {name: sizes[name] for name in ("emp", "dept", "skew")},
        {"numbers": sizes["numbers"]},
    ]


def test_checkpoint_and_own_output(world: World) -> None:
    """A checkpoint stands for what it was made of; what a write made can be read back."""
    with world.step() as capture:
        made = world.t.dept.filter("w > 1").localCheckpoint()
        made.write.parquet(world.path("mid"))
        assert world.spark.read.parquet(world.path("mid")).count() == made.count() == 7
    assert capture.untracked == () and capture.manifest is not None
    mid, checkpoint = capture.manifest.reads
    assert whole(mid) == {"mid": 7} and whole(checkpoint) == {"dept": len(DEPT.rows)}
    assert mid.inputs[0].id == capture.manifest.writes[0].output.id


def test_read_then_overwritten(world: World) -> None:
    """The version is the one that was read; its rows are counted before the write takes it away."""
    world.t.emp.select("id").write.parquet(world.path("both"))
    with world.step() as capture:
        top = world.spark.read.parquet(world.path("both")).agg(sf.max("id")).first()[0]
        world.t.dept.select("w").filter(sf.col("w") < top).write.mode("overwrite").parquet(world.path("both"))
    assert capture.untracked == () and capture.manifest is not None
    (read,) = capture.manifest.reads
    assert read.single and whole(read) == {"both": 12}
    assert read.inputs[0].id != capture.manifest.writes[0].output.id


def test_lost_before_it_was_counted(world: World) -> None:
    """What somebody else took away stays a read, without edges, and costs the write none."""
    world.t.emp.select("id").write.parquet(world.path("gone"))
    with world.step() as capture:
        world.spark.read.parquet(world.path("gone")).count()
        for file in Path(world.path("gone")).iterdir():
            file.unlink()
        world.t.dept.select("w").write.parquet(world.path("out"))
    assert capture.untracked == () and capture.manifest is not None
    (read,) = capture.manifest.reads
    assert read.coverage == "untracked" and read.reason is not None and "changed while" in read.reason.why
    assert [w.coverage for w in capture.manifest.writes] == ["exact"]


def test_rows_of_unknown_origin(world: World) -> None:
    """A read says itself that it is untracked; the step is not."""
    with world.step() as capture:
        lines = world.spark.sparkContext.textFile(str(world.t.paths["numbers"]))
        rows = lines.map(lambda line: (line,)).toDF("n STRING")
        rows.count(), lines.count()
        world.t.emp.write.parquet(world.path("a"))
    assert capture.untracked == () and capture.manifest is not None
    assert {(r.coverage, r.reason.node) for r in capture.manifest.reads if r.reason} == {
        ("untracked", "LogicalRDD DataFrame.count"),
        ("untracked", "LogicalRDD RDD.count"),
    }


def test_switched_off(world: World) -> None:
    with configured(world.spark, {"spark.provspark.driverReads": "false"}), world.step() as capture:
        world.t.dept.count()
        world.t.emp.write.parquet(world.path("out"))
    assert capture.manifest is not None
    assert capture.manifest.driver_reads == "off" and capture.manifest.reads == ()
    assert len(capture.manifest.writes[0].inputs) == 1
