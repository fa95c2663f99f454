"""Actions that bring rows to the driver: each returns what plain Spark does, and each row tells where it is from."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from _reads import Edges
from oracle.cases import Frames, configured
from oracle.tables import DEPT, EMP, SKEW
from pyspark.sql import Row
from pyspark.sql import functions as sf

from provspark.model.writes import Write
from provspark.tracker import attach

pytestmark = pytest.mark.spark

TABLES = [EMP, DEPT, SKEW]
FORTY = "forty"
"""Forty files of two rows: (i) is row i."""
Rows = list[Any]


def comparable(value: Any) -> Any:
    """What two results are compared by: types, names, order and values, NaN and the sign of zero among them."""
    if isinstance(value, pa.Table):
        return value.schema, repr(value.to_pylist())
    if hasattr(value, "iloc"):
        return list(value.columns), list(map(str, value.dtypes)), repr(value.to_dict("list")), list(value.index)
    if isinstance(value, list):
        return [comparable(v) for v in value]
    if isinstance(value, Row):
        return value.__fields__, repr(value)
    return repr(value)


def rows_of(value: Any) -> Rows:
    if isinstance(value, pa.Table):
        return [tuple(line.values()) for line in value.to_pylist()]
    if hasattr(value, "iloc"):
        return list(value.itertuples(index=False, name=None))
    if isinstance(value, list):
        return list(map(tuple, value))
    return [] if value is None else [tuple(value)]


class World:
    def __init__(self, spark: Any, sources: Path, folder: Path) -> None:
        self.spark, self.t, self.folder = spark, Frames(spark, TABLES, sources), folder
        self.forty_path = sources / FORTY
        if not self.forty_path.exists():
            import pyarrow.parquet as pq

            self.forty_path.mkdir()
            for i in range(40):
                pq.write_table(pa.table({"i": [2 * i, 2 * i + 1]}), self.forty_path / f"{i:02d}.parquet")

    @property
    def forty(self) -> Any:
        return self.spark.read.parquet(str(self.forty_path))

    def read(self, run: Callable[[World], Any]) -> tuple[Any, list[Write], Edges]:
        """Run plainly and under capture; return the result, the reads and their edges."""
        plain = run(self)
        with attach(store=(self.folder / "store").as_uri(), step="s") as capture:
            result = run(self)
        assert capture.untracked == () and capture.manifest is not None
        assert comparable(result) == comparable(plain) and type(result) is type(plain)
        return result, list(capture.manifest.reads), Edges(self.folder / "store", capture.manifest)


@pytest.fixture
def world(spark: Any, sources: Path, tmp_path: Path) -> World:
    return World(spark, sources, tmp_path)


EMPS = "id", "v"
ACTIONS: dict[str, Callable[[Any], Any]] = {
    "collect": lambda d: d.collect(),
    "take": lambda d: d.take(3),
    "take more": lambda d: d.take(100),
    "head": lambda d: d.head(),
    "head n": lambda d: d.head(n=2),
    "first": lambda d: d.first(),
    "tail": lambda d: d.tail(3),
    "toPandas": lambda d: d.toPandas(),
    "toArrow": lambda d: d.toArrow(),
    "toLocalIterator": lambda d: list(d.toLocalIterator()),
    "toLocalIterator, ahead": lambda d: list(d.toLocalIterator(prefetchPartitions=True)),
    "limit": lambda d: d.limit(4).collect(),
    "limit of a limit": lambda d: d.limit(5).take(2),
    "limit, projected": lambda d: d.limit(3).select("id", "v").collect(),
    "limit to pandas": lambda d: d.limit(4).toPandas(),
    "tail of a limit": lambda d: d.limit(5).tail(2),
    "no rows": lambda d: d.filter("id > 99").collect(),
    "no first row": lambda d: d.filter("id > 99").first(),
    "filtered": lambda d: d.filter("id % 3 = 1").collect(),
    "sorted": lambda d: d.orderBy(sf.desc("id")).collect(),
    "top of sorted": lambda d: d.orderBy(sf.desc("id")).take(4),
    "sorted and limited": lambda d: d.orderBy(sf.desc("id")).limit(4).select("id", "v").toPandas(),
    "tail of sorted": lambda d: d.orderBy(sf.desc("id")).tail(2),
    "offset": lambda d: d.orderBy("id").offset(3).limit(2).collect(),
    "sampled": lambda d: d.sample(fraction=0.5, seed=7).collect(),
    "cached": lambda d: cached(d.filter("id > 2")),
    "checkpoint": lambda d: d.filter("id < 9").localCheckpoint().collect(),
}


def cached(frame: Any) -> Any:
    frame = frame.cache()
    frame.count()
    try:
        return frame.take(5) + frame.collect()
    finally:
        frame.unpersist()


@pytest.mark.parametrize("arrow", [False, True])
@pytest.mark.parametrize("how", ACTIONS)
def test_actions(how: str, arrow: bool, world: World) -> None:
    """A row of these plans is one row of emp, and holds its place."""
    if arrow and "pandas" not in how.lower():
        pytest.skip("only toPandas asks for Arrow")
    with configured(world.spark, {"spark.sql.execution.arrow.pyspark.enabled": arrow}):
        result, reads, edges = world.read(lambda w: ACTIONS[how](w.t.emp.select(*EMPS)))
    rows = [row for read in reads if not read.single for row in edges.of(read).values()]
    assert rows == [{("emp", row[0])} for row in rows_of(result)]
    assert all(read.coverage == ("coarse" if read.single else "exact") for read in reads)
    assert all((read.reason is None) == (read.coverage == "exact") for read in reads)
    last = reads[-1]
    assert [f.name for f in last.output.fields] == ["id", "v"] and last.site.startswith(__file__)


@dataclass(frozen=True)
class Plan:
    """A plan whose rows say what they are made of."""

    frame: Callable[[Frames], Any]
    ends: Callable[[Any], set[tuple[Any, ...]]]
    sizes: dict[str, int] = field(default_factory=dict)


def emp_where(test: Callable[[dict[str, Any]], bool]) -> set[tuple[Any, ...]]:
    return {("emp", i) for i, row in enumerate(EMP.rows) if test(dict(zip(EMP.columns, row, strict=True)))}


def dept_where(test: Callable[[dict[str, Any]], bool]) -> set[tuple[Any, ...]]:
    return {("dept", i) for i, row in enumerate(DEPT.rows) if test(dict(zip(DEPT.columns, row, strict=True)))}


PLANS: dict[str, Plan] = {
    "aggregate": Plan(
        lambda t: t.emp.groupBy("g").agg(sf.collect_list("id").alias("ids")),
        lambda r: emp_where(lambda e: e["g"] == r[0]),
    ),
    "global aggregate of texts": Plan(
        lambda t: t.emp.filter("k = 1").agg(sf.max("g").alias("m")), lambda r: emp_where(lambda e: e["k"] == 1)
    ),
    "join": Plan(
        lambda t: t.emp.join(t.dept.filter("w != 6"), "k").select("id", "w"),
        lambda r: {("emp", r[0])} | dept_where(lambda d: d["w"] == r[1] and d["k"] == EMP.rows[r[0]][1]),
    ),
    "outer join": Plan(
        lambda t: t.emp.join(t.dept.filter("w < 4"), "k", "left").select("id", "w"),
        lambda r: {("emp", r[0])} | (dept_where(lambda d: d["w"] == r[1]) if r[1] is not None else set()),
    ),
    "aggregate of a join": Plan(
        lambda t: t.emp.join(t.dept.filter("w < 3"), "k").groupBy("k").count().orderBy("k"),
        lambda r: emp_where(lambda e: e["k"] == r[0]) | dept_where(lambda d: d["k"] == r[0] and d["w"] < 3),
    ),
    "distinct": Plan(lambda t: t.emp.select("g").distinct(), lambda r: emp_where(lambda e: e["g"] == r[0])),
    "union": Plan(
        lambda t: t.emp.filter("id < 3").select("id").union(t.emp.filter("id > 9").select("id")),
        lambda r: {("emp", r[0])},
    ),
    "exploded": Plan(
        lambda t: t.emp.select("id", sf.explode(sf.array(sf.lit(1), sf.lit(2)))), lambda r: {("emp", r[0])}
    ),
    "Python function": Plan(
        lambda t: t.emp.select(sf.udf(lambda i: i + 1, "int")("id").alias("j")), lambda r: {("emp", r[0] - 1)}
    ),
    "semi-join": Plan(
        lambda t: t.emp.filter("id < 4").join(t.dept.filter("w = 3"), "k", "left_semi").select("id"),
        lambda r: {("emp", r[0]), ("dept", 2)},
    ),
    "same names": Plan(
        lambda t: t.emp.filter("id < 2").select("id", sf.col("k").alias("id")), lambda r: {("emp", r[0])}
    ),
}


@pytest.mark.parametrize("how", ["collect", "take", "toLocalIterator", "tail"])
@pytest.mark.parametrize("plan", PLANS)
def test_plans(plan: str, how: str, world: World) -> None:
    """In the order in which plain Spark returns the rows."""
    case = PLANS[plan]
    result, (read,), edges = world.read(lambda w: ACTIONS[how](case.frame(w.t)))
    assert read.coverage == "exact" and read.reason is None
    assert list(edges.of(read).values()) == [case.ends(row) for row in rows_of(result)]


def tasks(world: World, run: Callable[[], Any]) -> int:
    """How many tasks Spark runs."""
    tracker, context = world.spark.sparkContext.statusTracker(), world.spark.sparkContext
    group = f"g{uuid.uuid4()}"
    context.setJobGroup(group, "")
    try:
        run()
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
    stages = [s for job in tracker.getJobIdsForGroup(group) for s in tracker.getJobInfo(job).stageIds]
    return sum(tracker.getStageInfo(s).numTasks for s in stages)


LIMITS: dict[str, Callable[[Any], Any]] = {
    "head": lambda d: d.head(),
    "take": lambda d: d.take(2),
    "limit": lambda d: d.limit(1).collect(),
    "limit, projected": lambda d: d.limit(2).selectExpr("i + 1 AS j").toPandas(),
    "take over a limit": lambda d: d.limit(30).take(1),
}


@pytest.mark.parametrize("how", LIMITS)
def test_limits_stay_incremental(how: str, world: World) -> None:
    """Of forty files the first is read, by one task."""
    conf = {"spark.sql.files.openCostInBytes": 1 << 30, "spark.sql.execution.arrow.pyspark.enabled": False}
    with configured(world.spark, conf):
        frame = world.forty
        assert frame.rdd.getNumPartitions() == 40
        plain = tasks(world, lambda: LIMITS[how](frame))
        with attach(store=(world.folder / "store").as_uri(), step="s") as capture:
            captured = tasks(world, lambda: LIMITS[how](frame))
        assert plain == captured == 1
    assert capture.manifest is not None and [read.coverage for read in capture.manifest.reads] == ["exact"]


@pytest.mark.parametrize("wanted", [7, 31, 80])
def test_limits_in_several_rounds(wanted: int, world: World) -> None:
    """Spark reads four times as many files in each round; the rows are in the files' order."""
    conf = {"spark.sql.files.openCostInBytes": 1 << 30}
    with configured(world.spark, conf):
        result, (read,), edges = world.read(lambda w: w.forty.filter("i % 2 = 1").take(wanted))
    assert [{(FORTY, row.i)} for row in result] == list(edges.of(read).values())


def test_an_iterator_is_a_read_of_what_was_taken(world: World) -> None:
    """What is taken before a write begins is one version, and what is taken later another; what is not is none."""
    with attach(store=(world.folder / "store").as_uri(), step="s") as capture:
        rows = world.t.emp.select("id").toLocalIterator()
        first = [next(rows).id for _ in range(5)]
        world.t.dept.write.parquet(str(world.folder / "a"))
        second = [next(rows).id for _ in range(2)]
        world.t.dept.write.parquet(str(world.folder / "b"))
        world.t.dept.write.parquet(str(world.folder / "c"))
    edges = Edges(world.folder / "store", capture.manifest)
    reads = edges.manifest.reads
    assert [[next(iter(ends))[1] for ends in edges.of(read).values()] for read in reads] == [first, second]
    assert len({read.output.dataset for read in reads}) == 1 and len({read.output.id for read in reads}) == 2


def test_errors_are_the_users_own(world: World) -> None:
    def fails(value: Any) -> Any:
        raise ValueError(f"no {value}")

    wrong: dict[str, Callable[[Any], Any]] = {
        "function": lambda d: d.select(sf.udf(fails, "int")("id")).collect(),
        "division": lambda d: d.select(sf.expr("1 / (id - id)")).toPandas(),
        "argument": lambda d: d.take("3"),
        "negative": lambda d: d.take(-1),
        "column": lambda d: d.select("nowhere").collect(),
    }
    for name, run in wrong.items():
        seen = []
        for captured in (False, True):
            step = attach(store=(world.folder / name).as_uri(), step="s")
            with pytest.raises(Exception) as raised:
                if captured:
                    with step:
                        run(world.t.emp)
                else:
                    run(world.t.emp)
            said = re.sub(r"\bo\d+", "o", str(raised.value).split("JVM stacktrace")[0])
            seen.append((type(raised.value), said.splitlines()[0], type(raised.value.__context__)))
        assert seen[0] == seen[1], name


def test_rows_dealt_out_by_a_hash_are_coarse(world: World) -> None:
    """repartition(n) orders rows by a hash of all columns: with ours among them they would come in another order."""
    result, (read,), _ = world.read(lambda w: w.t.emp.select("id").repartition(2).collect())
    assert (read.coverage, read.output.rows) == ("coarse", len(result)) and read.reason is not None
    assert read.reason.node == "Repartition" and "another order" in read.reason.why
    assert [t.edges for t in read.tensors] == [len(result) ** 2]


def test_refused_plans_are_coarse(world: World) -> None:
    result, (read,), _ = world.read(lambda w: w.t.emp.select("id", sf.input_file_name().alias("f")).collect())
    assert read.coverage in ("exact", "coarse") and read.output.rows == len(result)


def test_most_reads_of_a_step(world: World) -> None:
    """Beyond a limit they are coarse."""
    with (
        configured(world.spark, {"spark.provspark.driverReads.traced": "2"}),
        attach(store=(world.folder / "store").as_uri(), step="s") as capture,
    ):
        for _ in range(4):
            world.t.dept.count(), world.t.emp.select("id").take(1)
    assert capture.manifest is not None
    rows = [read for read in capture.manifest.reads if not read.single]
    assert [read.coverage for read in rows] == ["exact", "exact", "coarse", "coarse"]
    assert rows[-1].reason is not None and "more than 2 reads" in rows[-1].reason.why


def test_what_is_read_and_then_overwritten(world: World) -> None:
    """The version is the one that was read."""
    path = str(world.folder / "both")
    world.t.emp.select("id").filter("id > 4").coalesce(1).write.parquet(path)
    with attach(store=(world.folder / "store").as_uri(), step="s") as capture:
        seen = world.spark.read.parquet(path).filter("id > 8").collect()
        world.t.dept.select("w").write.mode("overwrite").parquet(path)
    edges = Edges(world.folder / "store", capture.manifest)
    (read,) = edges.manifest.reads
    assert read.coverage == "exact" and read.inputs[0].rows == 7
    assert list(edges.of(read).values()) == [{("both", row.id - 5)} for row in seen]
