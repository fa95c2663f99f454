"""Sinks of every format by every end of DataFrameWriter: partitions, file sizes, options, modes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from oracle.cases import Case, check
from oracle.operators import distinct, group, join, rename, select, sort, total, union, using
from oracle.relation import Relation
from oracle.sources import parquet
from oracle.tables import EMP, LONG, SKEW, TEXT

pytestmark = pytest.mark.spark

DAY = parquet(
    "day",
    {"d": pa.date32(), "g": TEXT, "v": LONG},
    [
        (date(2024, 2, 29), "a/b", 1),
        (None, "", 2),
        (date(1900, 1, 1), "c d", 3),
        (date(2024, 2, 29), None, 4),
    ],
    [(date(2024, 2, 29), "a/b", 5), (date(1900, 1, 1), "100%", 6), (None, "é=1", 7), (None, "a:b*{c}", 8)],
)
"""Dates, and texts that folders escape."""

Save = Callable[[Any, str], None]


def some(t: Any) -> Any:
    return t.emp.select("id", "k", "g")


def some_(t: Any) -> Relation:
    return select(t.emp, "id", "k", "g")


def as_text(value: object) -> str | None:
    """A value as CSV and partition folders hold it, where an empty text is read as null."""
    return None if value is None or value == "" else str(value)


def shown(r: Relation, form: str) -> Relation:
    """Rows as the readers of `oracle.outputs` find them in files of a format."""
    if form == "csv":
        return select(r, **{c: lambda v, c=c: as_text(getattr(v, c)) for c in r.columns})
    if form == "json":
        return select(
            r,
            line=lambda v: tuple(sorted((c, x) for c, x in zip(r.columns, v, strict=True) if x is not None)),
        )
    return r


def foldered(r: Relation, *by: str) -> Relation:
    """Partition columns last, as folders name them."""
    rest = [c for c in r.columns if c not in by]
    return select(r, *rest, **{c: lambda v, c=c: as_text(getattr(v, c)) for c in by})


ENDS: list[tuple[str, str, Save]] = [
    ("parquet()", "parquet", lambda df, p: df.write.parquet(p)),
    ("save()", "parquet", lambda df, p: df.write.save(p)),
    ("save(format)", "csv", lambda df, p: df.write.save(p, format="csv")),
    ("format().save()", "json", lambda df, p: df.write.format("json").save(p)),
    ("option(path).save()", "orc", lambda df, p: df.write.format("orc").option("path", p).save()),
    ("csv()", "csv", lambda df, p: df.write.csv(p)),
    (
        "csv(), options",
        "csv",
        lambda df, p: df.write.options(compression="gzip", quoteAll=True).csv(f"file://{p}"),
    ),
    ("json()", "json", lambda df, p: df.write.json(p)),
    ("json(), gzip", "json", lambda df, p: df.write.json(p, compression="gzip")),
    ("orc()", "orc", lambda df, p: df.write.mode("errorifexists").orc(p)),
    ("text()", "text", lambda df, p: df.selectExpr("concat_ws(',', id, k, g)").write.text(p)),
    ("overwrite of nothing", "parquet", lambda df, p: df.write.mode("overwrite").parquet(p)),
    ("append to nothing", "parquet", lambda df, p: df.write.mode("append").parquet(p)),
    ("ignore of nothing", "parquet", lambda df, p: df.write.parquet(p, mode="ignore")),
]
FORMATS = [
    Case(
        name,
        some,
        lambda t, form=form: (
            select(some_(t), line=lambda r: ",".join(str(x) for x in r if x is not None))
            if form == "text"
            else shown(some_(t), form)
        ),
        save=save,
        form=form,
    )
    for name, form, save in ENDS
]

PARTITIONS = [
    Case(
        f"{form} by {' and '.join(by)}{label}",
        lambda t: t.day,
        lambda t, by=by, form=form: (
            foldered(t.day, *by)
            if form == "parquet"
            else (lambda f: select(f, line=lambda r: tuple([("v", r.v)] if form == "json" else [str(r.v)])))(
                foldered(t.day, *by)
            )
        ),
        save=lambda df, p, by=by, form=form: df.write.partitionBy(*by).format(form).save(p),
        form=form,
        conf=conf,
        expect="exact or refused" if "Writers" in str(conf) else "exact",
    )
    for form, by, label, conf in [
        ("parquet", ("d",), "", {}),
        ("parquet", ("g",), "", {}),
        ("parquet", ("g", "d"), ", not adaptive", {"spark.sql.adaptive.enabled": False}),
        ("parquet", ("d",), ", concurrent writers", {"spark.sql.maxConcurrentOutputFileWriters": 10}),
    ]
]

FILES = [
    Case(name, plan, meaning, save=save, conf=conf)
    for name, plan, meaning, save, conf in [
        (
            "maxRecordsPerFile",
            lambda t: t.skew.select("n", "k"),
            lambda t: select(t.skew, "n", "k"),
            lambda df, p: df.write.option("maxRecordsPerFile", 4).parquet(p),
            {},
        ),
        (
            "maxRecordsPerFile by setting, one partition",
            lambda t: t.skew.select("n", "k").coalesce(1),
            lambda t: select(t.skew, "n", "k"),
            lambda df, p: df.write.parquet(p),
            {"spark.sql.files.maxRecordsPerFile": 13},
        ),
        (
            "maxRecordsPerFile and partitions",
            lambda t: t.skew,
            lambda t: foldered(t.skew, "v", "k"),
            lambda df, p: df.write.partitionBy("v", "k").option("maxRecordsPerFile", 5).parquet(p),
            {},
        ),
        (
            "partitions and a sort",
            lambda t: t.skew.repartition(3, "v").sortWithinPartitions("v", "k", "n"),
            lambda t: foldered(t.skew, "v"),
            lambda df, p: df.write.partitionBy("v").parquet(p),
            {},
        ),
        (
            "partitions and a sort by another column",
            lambda t: t.skew.orderBy("n"),
            lambda t: foldered(t.skew, "v"),
            lambda df, p: df.write.partitionBy("v").parquet(p),
            {},
        ),
        (
            "partitions of a group",
            lambda t: t.skew.groupBy("k").sum("v"),
            lambda t: foldered(group(t.skew, ["k"], s=total("v")), "k"),
            lambda df, p: df.write.partitionBy("k").parquet(p),
            {},
        ),
        (
            "partitions of a join, by two columns",
            lambda t: t.skew.join(t.emp.selectExpr("k", "g"), "k"),
            lambda t: foldered(
                select(join(t.skew, rename(select(t.emp, "k", "g"), "k", "g"), using("k")), "k", "n", "v", "g"),
                "g",
                "v",
            ),
            lambda df, p: df.write.partitionBy("g", "v").parquet(p),
            {},
        ),
        (
            "coalesced to one file",
            lambda t: t.emp.union(t.emp).coalesce(1),
            lambda t: union(t.emp, t.emp),
            lambda df, p: df.write.parquet(p),
            {},
        ),
        (
            "many files of a distinct",
            lambda t: t.skew.select("v", "k").distinct().repartition(7),
            lambda t: distinct(select(t.skew, "v", "k")),
            lambda df, p: df.write.parquet(p),
            {},
        ),
        (
            "many files of a sort",
            lambda t: t.skew.orderBy("k", "n").select("n"),
            lambda t: select(sort(t.skew, "k", "n"), "n"),
            lambda df, p: df.write.parquet(p),
            {"spark.sql.shuffle.partitions": 5, "spark.sql.adaptive.enabled": False},
        ),
        (
            "no rows",
            lambda t: t.emp.filter("id < 0"),
            lambda t: Relation(t.emp.columns, ()),
            lambda df, p: df.write.parquet(p),
            {},
        ),
        (
            "no rows, partitions",
            lambda t: t.emp.filter("id < 0"),
            lambda t: Relation(t.emp.columns, ()),
            lambda df, p: df.write.partitionBy("g").parquet(p),
            {},
        ),
    ]
]

STATEMENTS = [
    Case(
        "INSERT OVERWRITE DIRECTORY",
        lambda t: t.sql("SELECT id, k FROM emp"),
        lambda t: select(t.emp, "id", "k"),
        save=lambda df, p: (
            df.createOrReplaceTempView("to_insert"),
            df.sparkSession.sql(f"INSERT OVERWRITE DIRECTORY '{p}' USING parquet SELECT * FROM to_insert"),
        ),
    ),
    Case(
        "saveAsTable",
        lambda t: t.emp.select("id", "k"),
        lambda t: select(t.emp, "id", "k"),
        save=lambda df, p: (
            df.write.option("path", p).saveAsTable("saved"),
            df.sparkSession.sql("DROP TABLE saved"),
        ),
    ),
    Case(
        "CREATE TABLE AS",
        lambda t: t.sql("SELECT k, count(*) n FROM emp GROUP BY k"),
        lambda t: group(t.emp, ["k"], n=len),
        save=lambda df, p: (
            df.createOrReplaceTempView("to_create"),
            df.sparkSession.sql(f"CREATE TABLE made USING parquet LOCATION '{p}' AS SELECT * FROM to_create"),
            df.sparkSession.sql("DROP TABLE made"),
        ),
    ),
]


@pytest.mark.parametrize("case", [*FORMATS, *PARTITIONS, *FILES, *STATEMENTS], ids=str)
def test_sink(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, [EMP, SKEW, DAY], sources, tmp_path)
