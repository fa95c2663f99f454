"""Where each input row of generated pipelines ended, against plain Python that follows every row."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

import provspark
from provspark.tracker import attach

SEED = 4711
QUICK, ALL = 1, 24
ROWS = [{"id": i, "k": i * 7 % 5, "v": i * 13 % 11} for i in range(18)]
TABLE = [(0, 100), (1, 200), (1, 201), (3, 300), (4, 400)]


@dataclass
class Line:
    """A row on its way: its values, and the ids of the input rows that it derives from."""

    values: dict[str, Any]
    ids: frozenset[int]


@dataclass
class Pipeline:
    """A generated script, as Spark runs it, and what it does to each row."""

    number: int
    steps: list[tuple[str, Callable[[DataFrame], DataFrame], Callable[[list[Line]], list[Line]]]] = field(
        default_factory=list
    )
    ended: set[tuple[int, str]] = field(default_factory=set)
    """Ids of input rows, and the operation at which they ended."""
    survivors: set[int] = field(default_factory=set)
    """Ids that the output came from: which of some duplicates Spark kept is nobody's but Spark's to say."""
    dropped: set[tuple[str, str]] = field(default_factory=set)
    """Columns, and the operation that dropped them."""


def generated(number: int) -> Pipeline:
    """Draw operations until five are there; those that lose the columns that others need come last."""
    draw = random.Random(f"{SEED} {number}")
    made = Pipeline(number)
    kinds = draw.sample(["filter", "filter", "join", "limit", "duplicates", "union", "drop"], 4)
    kinds.append(draw.choice(["distinct", "group", "filter", "limit"]))
    for kind in kinds:
        made.steps.append((kind, *_OPERATIONS[kind](draw, made.survivors)))
    return made


Both = tuple[Callable[[DataFrame], DataFrame], Callable[[list[Line]], list[Line]]]


def _filter(draw: random.Random, survivors: set[int]) -> Both:
    a, b = draw.choice([(3, 0), (4, 1), (5, 2)])
    return lambda d: d.filter(f"v % {a} <> {b}"), lambda lines: [x for x in lines if x.values["v"] % a != b]


def _join(draw: random.Random, survivors: set[int]) -> Both:
    def joined(lines: list[Line]) -> list[Line]:
        return [Line(x.values | {"w": w}, x.ids) for x in lines for c, w in TABLE if c == x.values["k"]]

    return lambda d: d.join(d.sparkSession.table("other"), sf.col("k") == sf.col("c")).drop("c"), joined


def _limit(draw: random.Random, survivors: set[int]) -> Both:
    n = draw.choice([5, 9])

    def limited(lines: list[Line]) -> list[Line]:
        return sorted(lines, key=lambda x: (x.values["v"], *(x.values.get(c, 0) for c in ("id", "w"))))[:n]

    def of(d: DataFrame) -> DataFrame:
        return d.orderBy("v", *[c for c in ("id", "w") if c in d.columns]).limit(n)

    return of, limited


def _duplicates(draw: random.Random, survivors: set[int]) -> Both:
    def one_each(lines: list[Line]) -> list[Line]:
        found: dict[Any, Line] = {}
        for x in sorted(lines, key=lambda x: not x.ids & survivors):
            found.setdefault((x.values["k"], x.values["v"] % 2), x)
        return [x for x in lines if any(x is kept for kept in found.values())]

    return lambda d: d.withColumn("e", sf.expr("v % 2")).dropDuplicates(["k", "e"]).drop("e"), one_each


def _union(draw: random.Random, survivors: set[int]) -> Both:
    low, high = draw.choice([(4, 6), (6, 4)])

    def twice(lines: list[Line]) -> list[Line]:
        return [x for x in lines if x.values["v"] < low] + [x for x in lines if x.values["v"] > high]

    return lambda d: d.filter(f"v < {low}").unionByName(d.filter(f"v > {high}")), twice


def _drop(draw: random.Random, survivors: set[int]) -> Both:
    def less(lines: list[Line]) -> list[Line]:
        return [Line({k: v for k, v in x.values.items() if k != "id"}, x.ids) for x in lines]

    return lambda d: d.drop("id"), less


def _merged(keys: Callable[[Line], Any], lines: list[Line]) -> list[Line]:
    groups: dict[Any, list[Line]] = {}
    for x in lines:
        groups.setdefault(keys(x), []).append(x)
    return [Line(some[0].values, frozenset().union(*(x.ids for x in some))) for some in groups.values()]


def _distinct(draw: random.Random, survivors: set[int]) -> Both:
    return lambda d: d.drop("id").distinct(), lambda lines: _merged(
        lambda x: tuple(sorted((k, v) for k, v in x.values.items() if k != "id")), lines
    )


def _group(draw: random.Random, survivors: set[int]) -> Both:
    def kept(lines: list[Line]) -> list[Line]:
        groups = _merged(lambda x: x.values["k"], lines)
        sizes = {g.values["k"]: sum(x.values["k"] == g.values["k"] for x in lines) for g in groups}
        return [g for g in groups if sizes[g.values["k"]] > 1]

    return lambda d: d.groupBy("k").agg(sf.count("*").alias("n"), sf.sum("v").alias("v")).filter("n > 1"), kept


_OPERATIONS: dict[str, Callable[[random.Random, set[int]], Both]] = {
    "filter": _filter,
    "join": _join,
    "limit": _limit,
    "duplicates": _duplicates,
    "union": _union,
    "drop": _drop,
    "distinct": _distinct,
    "group": _group,
}


def run(spark: SparkSession, root: Path, pipeline: Pipeline) -> DataFrame:
    """Run it on Spark, each operation under its number."""
    frame = spark.read.parquet(str(root / "rows"))
    for n, (kind, of, _) in enumerate(pipeline.steps):
        with provspark.operation(f"{n} {kind}"):
            frame = of(frame)
    return frame


def follow(pipeline: Pipeline) -> None:
    """Run it in plain Python, and note where rows and columns end."""
    lines = [Line(dict(r), frozenset({r["id"]})) for r in ROWS]
    lost: list[tuple[int, str]] = []
    for n, (kind, _, of) in enumerate(pipeline.steps):
        after = of(lines)
        there = frozenset[int]().union(*(x.ids for x in after))
        before = frozenset[int]().union(*(x.ids for x in lines))
        lost += [(i, f"{n} {kind}") for i in before - there]
        if kind in ("drop", "distinct", "group") and not pipeline.dropped:
            pipeline.dropped.add(("id", f"{n} {kind}"))
        lines = after
    pipeline.ended = set(lost)


def place(name: str) -> int:
    """The number of an operation in its script."""
    return int(name.split()[0])


PIPELINES = [generated(n) for n in range(ALL)]


@pytest.fixture(scope="module")
def world(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[tuple[Path, provspark.Provenance]]:
    root = tmp_path_factory.mktemp("ended")
    whole = "long" in (request.config.getoption("-m") or "")
    schema = "id int, k int, v int"
    spark.createDataFrame([tuple(r.values()) for r in ROWS], schema).coalesce(1).write.parquet(str(root / "rows"))
    spark.createDataFrame(TABLE, "c int, w int").coalesce(1).write.parquet(str(root / "other"))
    with attach(store=str(root / "store"), step="generated") as capture:
        spark.read.parquet(str(root / "other")).createOrReplaceTempView("other")
        for p in PIPELINES if whole else PIPELINES[:QUICK]:
            run(spark, root, p).write.parquet(str(root / f"out{p.number}"))
    assert capture.untracked == ()
    yield root, provspark.open(str(root / "store"))
    spark.catalog.dropTempView("other")


@pytest.mark.parametrize(
    "pipeline",
    [pytest.param(p, id=str(p.number), marks=() if p.number < QUICK else pytest.mark.long) for p in PIPELINES],
)
def test_where_rows_and_columns_end(world: tuple[Path, provspark.Provenance], pipeline: Pipeline) -> None:
    root, prov = world
    (node,) = (n for n in prov.graph.nodes if n.write.output.dataset.name.endswith(f"/out{pipeline.number}"))
    version = next(v for v in node.inputs if node.inputs[v].version.dataset.name.endswith("/rows"))
    ids = prov.values(str(root / "rows")).table()["id"].to_pylist()
    output = str(root / f"out{pipeline.number}")
    pipeline.survivors |= {
        ids[r] for r in prov.backward(output, to=str(root / "rows")).table()["related_row"].to_pylist()
    }
    follow(pipeline)
    assert pipeline.ended
    told = prov.replayer.inputs(node, {version: prov.select(str(root / "rows")).runs})
    assert told.verified is True, (told.why, told.stopped)
    ended = {(ids[s.row], e.operation.name) for e in told.endings if e.whole for s in e.sources}
    last = dict(sorted(ended, key=lambda x: place(x[1])))
    if told.doubts:
        # None of some duplicates is in the output: which one was kept can't be known, and the answer says so.
        unsure = min(place(o.name) for o, _ in told.doubts)
        assert {x for x in last.items() if place(x[1]) < unsure} == {x for x in pipeline.ended if place(x[1]) < unsure}
    else:
        assert set(last.items()) == pipeline.ended

    gone = [
        d
        for d in prov.history(str(root / "rows"), columns="id").drops
        if d.dataset.endswith(node.write.output.dataset.name)
    ]
    assert {(d.column, d.name) for d in gone} == pipeline.dropped

    if "id" in prov.values(output).table().column_names:
        for i, name in sorted(last.items())[:2]:
            answer = prov.why_not(output, [("id", "=", i)])
            assert name in {e.operation.name for _, e in answer.endings if e.whole}
