"""Python functions over batches and groups: coarse where nothing is declared, row by row where it is."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyspark
import pytest
from oracle import outputs
from oracle.cases import Case, Frames, check
from oracle.operators import join, rename, select, sort, where
from oracle.relation import Relation, Witness
from oracle.tables import TABLES
from oracle.values import eq, key
from pyspark import cloudpickle
from pyspark.sql import functions as sf

import provspark
from provspark.tracker import attach

pytestmark = pytest.mark.spark

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers don't find the modules of tests


def groups(r: Relation, by: str) -> dict[Any, Relation]:
    found: dict[Any, list[Any]] = {}
    for v, w in r.rows:
        found.setdefault(key(getattr(v, by)), []).append((v, w))
    return {k: Relation(r.columns, tuple(rows)) for k, rows in found.items()}


def whole(r: Relation, *others: Relation) -> frozenset[Witness]:
    return frozenset[Witness]().union(*(w for one in (r, *others) for _, w in one.rows))


def of_groups(r: Relation, by: str, columns: tuple[str, ...], f: Callable[[Relation], Any]) -> Relation:
    """Rows that a function makes of each group, owed to all of it."""
    return Relation.of(columns, [(row, whole(g)) for g in groups(r, by).values() for row in f(g)])


def copies(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches


def first_two(group: pd.DataFrame) -> pd.DataFrame:
    group["n"] = len(group)  # warns were the frame a part of another
    return group.sort_values("id")[["id", "n"]].head(2)


def counted(name: tuple[Any, ...], group: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame([[name[0], len(group.columns)]])


def ids(table: pa.Table) -> pa.Table:
    return table.select(["id"])


def ids_of_parts(parts: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for part in parts:
        yield part.select(["id"])


def sum_of_parts(key: tuple[Any, ...], parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    yield pd.DataFrame({"k": [key[0]], "n": [sum(len(part) for part in parts)]})


def sizes(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"a": [len(left)], "b": [len(right)]})


@provspark.rowwise
def doubled(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    held = pd.concat(list(batches) or [pd.DataFrame({"id": []}, dtype="int32")])
    yield held.assign(y=held.id * 2).iloc[:5]
    yield held.assign(y=held.id * 2).iloc[5:]


@provspark.keeps_index
def large(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for batch in batches:
        yield batch[batch.id > 4].sort_values("id", ascending=False)


@provspark.keeps_index
def oldest(group: pd.DataFrame) -> pd.DataFrame:
    return group.sort_values("id").head(1)


@provspark.rowwise
def ranked(name: tuple[Any, ...], group: pd.DataFrame) -> pd.DataFrame:
    return group.assign(k=len(group))


@provspark.rowwise
def passed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


COARSE = [
    Case(
        "mapInPandas",
        lambda t: t.emp.coalesce(1).filter("id > 3").select("id").mapInPandas(copies, "id INT").filter("id > 6"),
        lambda t: (lambda r: Relation.of(("id",), [((v.id,), whole(r)) for v, _ in r.rows if v.id > 6]))(
            where(t.emp, lambda r: r.id > 3)
        ),
    ),
    Case(
        "mapInArrow over a group",
        lambda t: t.emp.groupBy("k").agg(sf.max("id").alias("id")).coalesce(1).mapInArrow(copies, "k INT, id INT"),
        lambda t: (
            lambda r: Relation.of(
                ("k", "id"),
                [((v.rows[0][0].k, max(x.id for x, _ in v.rows)), whole(r)) for v in groups(r, "k").values()],
            )
        )(t.emp),
    ),
    Case(
        "TRANSFORM",
        lambda t: (
            t.emp.coalesce(1).createOrReplaceTempView("emp_one")
            or t.spark.sql("SELECT TRANSFORM(id) USING 'cat' AS (a STRING) FROM emp_one")
        ),
        lambda t: (lambda r: Relation.of(("a",), [((str(v.id),), whole(r)) for v, _ in r.rows]))(t.emp),
    ),
    Case(
        "applyInPandas",
        lambda t: t.emp.groupBy("k").applyInPandas(first_two, "id INT, n LONG"),
        lambda t: of_groups(
            t.emp, "k", ("id", "n"), lambda g: [(v.id, len(g.rows)) for v, _ in sort(g, "id").rows[:2]]
        ),
    ),
    Case(
        "applyInPandas of a key by an expression, by position, then a filter",
        lambda t: t.emp.groupBy((sf.col("id") % 3).alias("z")).applyInPandas(counted, "z INT, n LONG").filter("z > 0"),
        lambda t: where(
            of_groups(select(t.emp, z=lambda r: r.id % 3), "z", ("z", "n"), lambda g: [(g.rows[0][0].z, 5)]),
            lambda r: r.z > 0,
        ),
    ),
    Case(
        "applyInPandas that returns nothing",
        lambda t: t.emp.groupBy("k").applyInPandas(lambda g: pd.DataFrame(), "z INT"),
        lambda t: Relation(("z",), ()),
    ),
    Case(
        "applyInArrow, of floats",
        lambda t: t.emp.groupBy("x").applyInArrow(ids, "id INT"),
        lambda t: of_groups(t.emp, "x", ("id",), lambda g: [(v.id,) for v, _ in g.rows]),
    ),
    Case(
        "cogroup",
        lambda t: t.emp.groupBy("k").cogroup(t.dept.groupBy("k")).applyInPandas(sizes, "a LONG, b LONG"),
        lambda t: (
            lambda a, b: Relation.of(
                ("a", "b"),
                [
                    (
                        (len(a[k].rows) if k in a else 0, len(b[k].rows) if k in b else 0),
                        whole(*(side[k] for side in (a, b) if k in side)),
                    )
                    for k in a.keys() | b.keys()
                ],
            )
        )(groups(t.emp, "k"), groups(t.dept, "k")),
    ),
]

ITERATORS = [
    Case(
        "applyInArrow of a group in parts",
        lambda t: t.emp.groupBy("k").applyInArrow(ids_of_parts, "id INT"),
        lambda t: of_groups(t.emp, "k", ("id",), lambda g: [(v.id,) for v, _ in g.rows]),
        conf={"spark.sql.execution.arrow.maxRecordsPerBatch": 2},
    ),
    Case(
        "applyInPandas of a group in parts, and its key",
        lambda t: t.emp.select("g", "id").groupBy("g").applyInPandas(sum_of_parts, "k STRING, n LONG").filter("n > 1"),
        lambda t: where(
            of_groups(t.emp, "g", ("k", "n"), lambda g: [(g.rows[0][0].g, len(g.rows))]), lambda r: r.n > 1
        ),
        conf={"spark.sql.execution.arrow.maxRecordsPerBatch": 2},
    ),
]

DECLARED = [
    Case(
        "rowwise, in other batches",
        lambda t: t.emp.select("id").mapInPandas(doubled, "id INT, y INT").filter("y > 6"),
        lambda t: where(select(t.emp, "id", y=lambda r: r.id * 2), lambda r: r.y > 6),
        conf={"spark.sql.execution.arrow.maxRecordsPerBatch": 3},
    ),
    Case(
        "keeps_index over a join, columns cut",
        lambda t: t.emp.join(t.dept.select("k", "w"), "k", "left").select("id", "w").mapInPandas(large, "id INT"),
        lambda t: where(
            select(join(t.emp, rename(select(t.dept, "k", "w"), "l", "w"), lambda a, b: eq(a.k, b.l), "left"), "id"),
            lambda r: r.id > 4,
        ),
        conf={"spark.sql.execution.arrow.maxRecordsPerBatch": 4},
    ),
    Case(
        "keeps_index of groups",
        lambda t: t.emp.groupBy("k").applyInPandas(oldest, t.emp.schema).select("id"),
        lambda t: Relation.of(
            ("id",),
            [((v.id,), w) for g in groups(t.emp, "k").values() for v, w in sort(g, "id").rows[:1]],
        ),
    ),
    Case(
        "rowwise of groups",
        lambda t: t.emp.groupBy("g").applyInPandas(ranked, t.emp.schema).select("id", "k"),
        lambda t: Relation.of(
            ("id", "k"), [((v.id, len(g.rows)), w) for g in groups(t.emp, "g").values() for v, w in g.rows]
        ),
    ),
    Case(
        "rowwise in Arrow, after an aggregate",
        lambda t: t.emp.groupBy("id").agg(sf.max("v").alias("v")).mapInArrow(passed, "id INT, v LONG"),
        lambda t: select(t.emp, "id", "v"),
    ),
]


@pytest.mark.skipif(pyspark.__version__ < "4.1", reason="Spark 4.0 hands over groups whole")
@pytest.mark.parametrize("case", ITERATORS, ids=str)
def test_groups_in_parts(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)


@pytest.mark.parametrize("case", [*COARSE, *DECLARED], ids=str)
def test_maps(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)


def test_coverage_says_which(spark: Any, sources: Path, tmp_path: Path) -> None:
    t = Frames(spark, TABLES, sources)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        t.dept.select("w").mapInPandas(copies, "w LONG").write.parquet(str(tmp_path / "a"))
        t.emp.groupBy("k").applyInPandas(first_two, "id INT, n LONG").write.parquet(str(tmp_path / "b"))
        t.emp.select("id").mapInPandas(doubled, "id INT, y INT").write.parquet(str(tmp_path / "c"))
    assert capture.manifest is not None
    assert [w.coverage for w in capture.manifest.writes] == ["coarse", "coarse", "exact"]


@provspark.rowwise
def lossy(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for batch in batches:
        yield batch[batch.id > 4]


@provspark.keeps_index
def elsewhere(group: pd.DataFrame) -> pd.DataFrame:
    return group.set_axis(group.id + 1000)


@pytest.mark.parametrize(
    ("plan", "name"),
    [
        (lambda t: t.emp.select("id").mapInPandas(lossy, "id INT"), "lossy"),
        (lambda t: t.emp.select("id", "k").groupBy("k").applyInPandas(elsewhere, "id INT, k INT"), "elsewhere"),
    ],
    ids=["rowwise", "keeps_index"],
)
def test_disproved(plan: Any, name: str, spark: Any, sources: Path, tmp_path: Path) -> None:
    """The output is plain Spark's, and the step says what was declared wrongly; on_error="fail" raises it."""
    t = Frames(spark, TABLES, sources)
    declared = f"ValueError: {name} .*declared provspark."
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        plan(t).write.parquet(str(tmp_path / "out"))
    plan(t).write.parquet(str(tmp_path / "plain"))
    assert outputs.read(tmp_path / "out").rows == outputs.read(tmp_path / "plain").rows
    (untracked,) = capture.untracked
    assert re.search(declared, str(untracked))
    with (
        attach(store=(tmp_path / "store").as_uri(), step="t", on_error="fail"),
        pytest.raises(Exception, match=declared),
    ):
        plan(t).write.parquet(str(tmp_path / "again"))


def test_errors_of_a_function_are_its_own(spark: Any, sources: Path, tmp_path: Path) -> None:
    t = Frames(spark, TABLES, sources)

    def fails(group: pd.DataFrame) -> pd.DataFrame:
        raise KeyError("of the user")

    with (
        attach(store=(tmp_path / "store").as_uri(), step="s") as capture,
        pytest.raises(Exception, match="of the user"),
    ):
        t.emp.groupBy("k").applyInPandas(fails, "id INT").write.parquet(str(tmp_path / "out"))
    assert capture.untracked == ()


def test_a_function_with_a_broadcast(spark: Any, sources: Path, tmp_path: Path) -> None:
    t, more = Frames(spark, TABLES, sources), spark.sparkContext.broadcast([1, 2, 3])
    ballast = list(range(400_000))  # a command so large that Spark broadcasts it

    def added(group: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"id": [int(group.id.sum()) + len(more.value) + len(ballast)]})

    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        t.emp.groupBy("k").applyInPandas(added, "id LONG").write.parquet(str(tmp_path / "out"))
    assert capture.untracked == ()
    assert spark.read.parquet(str(tmp_path / "out")).agg(sf.sum("id")).first()[0] == 66 + 6 * 400_003
    more.destroy()
