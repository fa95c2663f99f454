"""RDDs between frames: what came out is owed to what went in, partition by partition or as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle import lineage, outputs
from oracle.cases import Case, Frames, Scans, check, configured
from oracle.operators import join, select, where
from oracle.relation import Relation, Witness
from oracle.tables import TABLES
from oracle.values import eq
from pyspark.sql import SparkSession

import provspark
from provspark.tracker import attach

pytestmark = pytest.mark.spark


def whole(*relations: Relation) -> frozenset[Witness]:
    return frozenset[Witness]().union(*(w for r in relations for _, w in r.rows))


def owed(columns: tuple[str, ...], rows: Any, *origins: Relation) -> Relation:
    return Relation.of(columns, [(row, whole(*origins)) for row in rows])


def mapped(t: Frames) -> Any:
    rows = t.dept.filter("w > 2").coalesce(1).select("w").rdd.map(lambda r: (r.w + 1,)).filter(lambda r: r[0] < 7)
    return t.spark.createDataFrame(rows, "w LONG")


def reduced(t: Frames) -> Any:
    pairs = t.emp.select("k", "v").rdd.map(lambda r: (r.k, r.v or 0)).reduceByKey(lambda a, b: a + b, 2)
    return t.spark.createDataFrame(pairs, "k INT, v LONG").filter("v > 20")


def sums(t: Scans) -> Relation:
    r = t.emp
    found: dict[Any, int] = {}
    for v, _ in r.rows:
        found[v.k] = found.get(v.k, 0) + (v.v or 0)
    return owed(("k", "v"), [(k, v) for k, v in found.items() if v > 20], r)


def joined(t: Frames) -> Any:
    emp = t.emp.filter("id < 6").select("k", "id").rdd.map(tuple)
    return emp.join(t.dept.select("k", "w").rdd.map(tuple), 2).map(lambda x: (x[1][0], x[1][1])).toDF(["id", "w"])


def joins(t: Scans) -> Relation:
    emp, dept = where(t.emp, lambda r: r.id < 6), t.dept
    rows = [(a.id, b.w) for a, _ in emp.rows for b, _ in dept.rows if a.k == b.k]  # None equals None in Python
    return owed(("id", "w"), rows, emp, dept)


def to_a_join(t: Frames) -> Any:
    """Only one side went through an RDD."""
    made = t.dept.coalesce(1).select("k", "w").rdd.toDF()
    return t.emp.join(made, "k").select("id", "w")


def over_an_aggregate(t: Frames) -> Any:
    """Twice through RDDs, the inner rows of groups."""
    first = t.spark.createDataFrame(t.emp.coalesce(1).select("g", "v").rdd.filter(lambda r: r.v), "g STRING, v LONG")
    return first.groupBy("g").count().coalesce(1).select("count").rdd.map(lambda r: (r[0] * 2,)).toDF("n LONG")


def twice(t: Scans) -> Relation:
    emp = t.emp
    counts: dict[Any, int] = {}
    for v, _ in emp.rows:
        if v.v:
            counts[v.g] = counts.get(v.g, 0) + 1
    return owed(("n",), [(2 * n,) for n in counts.values()], emp)


CASES = [
    Case(
        "map and filter",
        mapped,
        lambda t: (lambda r: owed(("w",), [(v.w + 1,) for v, _ in r.rows if v.w + 1 < 7], r))(
            where(t.dept, lambda r: r.w > 2)
        ),
    ),
    Case("reduceByKey", reduced, sums),
    Case("join of RDDs", joined, joins),
    Case(
        "toDF in a join",
        to_a_join,
        lambda t: (
            lambda e, d: select(
                join(e, owed(("l", "w"), [(v.k, v.w) for v, _ in d.rows], d), lambda a, b: eq(a.k, b.l)),
                "id",
                "w",
            )
        )(t.emp, t.dept),
    ),
    Case("aggregate between two", over_an_aggregate, twice),
    Case(
        "union with itself, shuffled",
        lambda t: (lambda r: r.union(r).repartition(3).toDF())(t.dept.select("w").rdd),
        lambda t: (lambda d: owed(("w",), [(v.w,) for v, _ in d.rows] * 2, d))(t.dept),
    ),
    Case(
        "cached and counted before",
        lambda t: (lambda r: (r.count(), r.take(1), r.toDF("w LONG"))[2])(t.dept.coalesce(1).select("w").rdd.cache()),
        lambda t: (lambda d: owed(("w",), [(v.w,) for v, _ in d.rows], d))(t.dept),
        conf={"spark.provspark.driverReads": "false"},
    ),
    Case(
        "JSON of rows, a frame where Spark makes one",
        lambda t: (lambda made: made if hasattr(made, "schema") else made.map(lambda v: (v,)).toDF("value STRING"))(
            t.dept.coalesce(1).select("w").toJSON()
        ),
        lambda t: (lambda d: owed(("w",), [(f'{{"w":{v.w}}}',) for v, _ in d.rows], d))(t.dept),
        conf={"spark.sql.pyspark.toJSON.returnDataFrame": "true"},
    ),
    Case(
        "JSON of rows, read again",
        lambda t: t.spark.read.schema("w LONG").json(t.dept.coalesce(1).select("w").toJSON()),
        lambda t: (lambda d: owed(("w",), [(v.w,) for v, _ in d.rows], d))(t.dept),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_round_trips(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)


@pytest.mark.parametrize("followed", [True, False])
def test_the_session_of_its_frame_says_whether_what_is_read_counts(
    followed: bool, spark: Any, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An RDD is of no session, and one that was met before does not speak for it."""
    other = spark.newSession()
    other.conf.set("spark.provspark.driverReads", not followed)
    monkeypatch.setattr(SparkSession, "_instantiatedSession", other)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: other)
    mine = configured(spark, {"spark.provspark.driverReads": str(followed).lower()})
    with mine, attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        rows = Frames(spark, TABLES, sources).dept.select("w").rdd
        assert rows.count() == 8
        Frames(spark, TABLES, sources).bag.write.parquet(str(tmp_path / "out"))
    assert [read.action for read in capture.manifest.reads] == ["RDD.count"] * followed
    assert capture.manifest.driver_reads == "off"


def test_partition_by_partition(spark: Any, sources: Path, tmp_path: Path) -> None:
    """Where no shuffle lies between, only the rows of the same partition; the write says that it is coarse."""
    t = Frames(spark, TABLES, sources)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        rows = t.emp.repartition(3, "id").select("id").rdd.mapPartitions(lambda part: [(sorted(r.id for r in part),)])
        t.spark.createDataFrame(rows, "ids ARRAY<INT>").write.parquet(str(tmp_path / "out"))
    assert capture.untracked == ()
    assert [w.coverage for w in capture.manifest.writes] == ["coarse"]
    made = outputs.read(tmp_path / "out").rows
    answers = lineage.Lineage(tmp_path / "store", capture.manifest, TABLES, t.paths)
    assert [{("emp", 0, i) for i in ids} for (ids,) in made] == [set(w) for w in answers.backward(tmp_path / "out", 3)]
    assert sorted(i for (ids,) in made for i in ids) == list(range(12))


def test_of_rows_handed_over(spark: Any, sources: Path, tmp_path: Path) -> None:
    """What functions made of the script's own rows is owed to all of those, and to the frames beside them."""
    t, context = Frames(spark, TABLES, sources), spark.sparkContext
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        mine = context.parallelize([1, 2, 3]).map(lambda n: (n * 10,))
        many = context.parallelize(range(5), 2).filter(lambda n: n > 3).map(lambda n: (n,))
        rows = t.dept.filter("w > 6").select("w").rdd.union(mine).union(many)
        spark.createDataFrame(rows, "w LONG").write.parquet(str(tmp_path / "out"))
    assert capture.untracked == ()
    made = outputs.read(tmp_path / "out").rows
    assert sorted(made) == [(4,), (7,), (10,), (20,), (30,)]
    (write,) = capture.manifest.writes
    assert write.coverage == "coarse"
    read = sorted((v.dataset.namespace, v.rows) for v in write.inputs)
    assert read == [("file", 8), ("memory://local", 3), ("memory://local", 5)]
    assert all(Path(__file__).name in v.dataset.name for v in write.inputs if v.dataset.namespace != "file")
    edges = lineage.lines(
        provspark.open((tmp_path / "store").as_uri()).backward(str(tmp_path / "out"), rows=range(5)).table()
    )
    ends = {(e["row"], e["version"], e["related_row"]) for e in edges}
    versions = {v.id: range(7, 8) if v.dataset.namespace == "file" else range(v.rows) for v in write.inputs}
    assert len(edges) == len(ends) == 5 * 9
    assert {(v, r) for _, v, r in ends} >= {(v, r) for v, rs in versions.items() for r in rs if len(rs) > 1}


def test_after_the_block(spark: Any, sources: Path, tmp_path: Path) -> None:
    """A frame's RDD is Spark's own again; what the script holds still works."""
    frame = Frames(spark, TABLES, sources).dept.select("w")
    with attach(store=(tmp_path / "store").as_uri(), step="s"):
        inside = frame.rdd
        assert inside is frame.rdd
    assert frame.rdd is not inside
    assert sorted(inside.collect()) == sorted(frame.rdd.collect())
