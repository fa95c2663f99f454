"""Writes by SQL text and into tables of Spark's own catalogue: what Spark leaves, and where its rows came from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyspark
import pytest
from oracle.cases import Case, Scans, check
from oracle.operators import group, join, rename, select, total, union, using, where
from oracle.relation import Relation
from oracle.tables import DEPT, SKEW

pytestmark = pytest.mark.spark

Save = Callable[[Any, str], None]


def statements(*texts: str) -> Save:
    """Run SQL text over the case's rows, the view ``rows``; PATH is the output's folder, ``made`` its table."""

    def save(df: Any, path: str) -> None:
        df.createOrReplaceTempView("rows")
        try:
            for text in texts:
                df.sparkSession.sql(text.replace("PATH", f"'{path}'"))
        finally:
            df.sparkSession.sql("DROP TABLE IF EXISTS made")

    return save


def rows(t: Any) -> Any:
    return t.skew.select("n", "v", "k")


def again(t: Scans) -> Scans:
    """Scans of a write of its own."""
    return Scans(list(t._sources.values()))


def text_of(r: Relation, *columns: str) -> Relation:
    """Columns as partition folders name them, last."""
    rest = [c for c in r.columns if c not in columns]
    named = {c: lambda row, c=c: None if getattr(row, c) is None else str(getattr(row, c)) for c in columns}
    return select(r, *rest, **named)


PLAIN = "CREATE TABLE made (n INT, v BIGINT, k INT) USING {} LOCATION PATH"
BY_K = "CREATE TABLE made (n INT, v BIGINT, k INT) USING parquet PARTITIONED BY (k) LOCATION PATH"
BY_VK = "CREATE TABLE made (n INT, v BIGINT, k INT) USING parquet PARTITIONED BY (v, k) LOCATION PATH"
INTO = "INSERT INTO made SELECT * FROM rows"
FEW = "n % 10 = 3"


def of(t: Any) -> Relation:
    return select(t.skew, "n", "v", "k")


def few(t: Any) -> Relation:
    return where(of(t), lambda r: r.n % 10 == 3)


CASES = [
    ("INSERT INTO", [PLAIN.format("parquet"), INTO], of),
    (
        "INSERT INTO TABLE with columns",
        [PLAIN.format("orc"), "INSERT INTO TABLE made (k, n, v) SELECT k, n, v FROM rows"],
        of,
    ),
    ("INSERT BY NAME", [PLAIN.format("parquet"), "INSERT INTO made BY NAME SELECT k, v, n FROM rows"], of),
    ("two INSERTs", [PLAIN.format("parquet"), INTO, f"{INTO} WHERE {FEW}"], lambda t: union(of(t), few(again(t)))),
    ("INSERT OVERWRITE", [PLAIN.format("parquet"), INTO, f"INSERT OVERWRITE made SELECT * FROM rows WHERE {FEW}"], few),
    (
        "WITH … INSERT",
        [PLAIN.format("parquet"), f"WITH x AS (SELECT * FROM rows WHERE {FEW}) INSERT INTO made SELECT * FROM x"],
        few,
    ),
    (
        "INSERT … WITH",
        [PLAIN.format("parquet"), f"INSERT INTO made WITH x AS (SELECT * FROM rows WHERE {FEW}) FROM x SELECT *"],
        few,
    ),
    ("EXECUTE IMMEDIATE", [PLAIN.format("parquet"), f"EXECUTE IMMEDIATE '{INTO}'"], of),
    (
        "EXECUTE IMMEDIATE … USING",
        [
            PLAIN.format("parquet"),
            "DECLARE OR REPLACE last = 3",
            f"EXECUTE IMMEDIATE '{INTO} WHERE n % :m = :r' USING 10 AS m, last AS r",
        ],
        few,
    ),
    ("CREATE TABLE AS", ["CREATE TABLE made USING parquet LOCATION PATH AS SELECT * FROM rows"], of),
    (
        "CREATE TABLE IF NOT EXISTS AS",
        ["CREATE TABLE IF NOT EXISTS made USING orc LOCATION PATH AS SELECT * FROM rows"],
        of,
    ),
    ("INSERT OVERWRITE DIRECTORY", ["INSERT OVERWRITE DIRECTORY PATH USING parquet SELECT * FROM rows"], of),
    ("dynamic partitions", [BY_K, INTO], lambda t: text_of(of(t), "k")),
    (
        "a static partition",
        [BY_K, f"INSERT INTO made PARTITION (k = 7) SELECT n, v FROM rows WHERE {FEW}"],
        lambda t: text_of(select(few(t), "n", "v", k=lambda r: 7), "k"),
    ),
    (
        "a static partition overwritten",
        [BY_K, INTO, f"INSERT OVERWRITE made PARTITION (k = 7) SELECT n, v FROM rows WHERE {FEW}"],
        lambda t: text_of(union(where(of(t), lambda r: r.k != 7), select(few(again(t)), "n", "v", k=lambda r: 7)), "k"),
    ),
    (
        "a static and a dynamic partition, of another type",
        [BY_VK, INTO, f"INSERT OVERWRITE made PARTITION (v = 1, k) SELECT n, bigint(k) FROM rows WHERE {FEW}"],
        lambda t: text_of(
            union(where(of(t), lambda r: r.v != 1), select(few(again(t)), "n", v=lambda r: 1, k=lambda r: r.k)),
            "v",
            "k",
        ),
    ),
    (
        "a partition that is there already",
        [BY_K, INTO, "INSERT OVERWRITE made PARTITION (k = 7) IF NOT EXISTS SELECT n, v FROM rows"],
        lambda t: text_of(of(t), "k"),
    ),
    (
        "all partitions overwritten",
        [BY_K, INTO, f"INSERT OVERWRITE made SELECT * FROM rows WHERE {FEW}"],
        lambda t: text_of(few(t), "k"),
    ),
    (
        "CREATE TABLE AS, partitions",
        ["CREATE TABLE made USING parquet PARTITIONED BY (v, k) LOCATION PATH AS SELECT k, n, v FROM rows"],
        lambda t: text_of(of(t), "v", "k"),
    ),
    ("buckets", [PLAIN.format("parquet CLUSTERED BY (k) INTO 3 BUCKETS"), INTO], of),
    ("sorted buckets", [PLAIN.format("parquet CLUSTERED BY (v, n) SORTED BY (k, n) INTO 4 BUCKETS"), INTO], of),
    (
        "buckets, cast",
        [
            PLAIN.format("parquet CLUSTERED BY (k) SORTED BY (n) INTO 3 BUCKETS"),
            "INSERT INTO made SELECT bigint(n), int(v), bigint(k) FROM rows",
        ],
        of,
    ),
    (
        "partitions and sorted buckets",
        [
            "CREATE TABLE made USING parquet PARTITIONED BY (k) CLUSTERED BY (v) SORTED BY (n) INTO 2 BUCKETS "
            "LOCATION PATH AS SELECT * FROM rows"
        ],
        lambda t: text_of(of(t), "k"),
    ),
]
SETTINGS = [
    (
        "a SQL script",
        [
            "BEGIN DECLARE i INT DEFAULT 0; CREATE TABLE made (n INT, v BIGINT, k INT) USING parquet LOCATION PATH; "
            "WHILE i < 2 DO INSERT INTO made SELECT * FROM rows WHERE n % 10 = i; SET i = i + 1; END WHILE; "
            "EXECUTE IMMEDIATE 'INSERT INTO made SELECT * FROM rows WHERE n = ?' USING i; SELECT count(*) FROM made; "
            "END"
        ],
        {"spark.sql.scripting.enabled": True},
        lambda t: union(
            where(of(t), lambda r: r.n % 10 == 0),
            where(of(again(t)), lambda r: r.n % 10 == 1),
            where(of(again(t)), lambda r: r.n == 2),
        ),
    ),
    (
        "dynamic overwrite",
        [BY_K, INTO, "INSERT OVERWRITE made SELECT * FROM rows WHERE k = 3"],
        {"spark.sql.sources.partitionOverwriteMode": "dynamic"},
        lambda t: text_of(union(where(of(t), lambda r: r.k != 3), where(of(again(t)), lambda r: r.k == 3)), "k"),
    ),
    (
        "buckets, small files",
        [PLAIN.format("parquet CLUSTERED BY (k) SORTED BY (n) INTO 3 BUCKETS"), INTO],
        {"spark.sql.files.maxRecordsPerFile": 7},
        of,
    ),
    (
        "buckets, not adaptive",
        [PLAIN.format("parquet CLUSTERED BY (v) SORTED BY (k) INTO 3 BUCKETS"), INTO],
        {"spark.sql.adaptive.enabled": False},
        of,
    ),
]


def writer(save: Save) -> Save:
    def saved(df: Any, path: str) -> None:
        try:
            save(df, path)
        finally:
            df.sparkSession.sql("DROP TABLE IF EXISTS made")

    return saved


def inserted(df: Any, path: str) -> None:
    df.sparkSession.sql(
        f"CREATE TABLE made (a INT, b BIGINT, c INT) USING parquet CLUSTERED BY (c) INTO 2 BUCKETS LOCATION '{path}'"
    )
    df.write.insertInto("made")
    df.write.insertInto("made", overwrite=True)


def appended(df: Any, path: str) -> None:
    df.where("n < 50").write.option("path", path).bucketBy(3, "k").sortBy("v", "n").saveAsTable("made")
    df.where("n >= 50").write.mode("append").bucketBy(3, "k").sortBy("v", "n").saveAsTable("made")


WRITERS: list[tuple[str, Save, Callable[[Any], Relation]]] = [
    ("saveAsTable", lambda df, p: df.write.option("path", p).saveAsTable("made"), of),
    ("saveAsTable by buckets", lambda df, p: df.write.option("path", p).bucketBy(4, "k", "v").saveAsTable("made"), of),
    (
        "saveAsTable, appended buckets",
        appended,
        lambda t: union(where(of(t), lambda r: r.n < 50), where(of(again(t)), lambda r: r.n >= 50)),
    ),
    ("insertInto buckets", inserted, of),
    ("writeTo().create()", lambda df, p: df.writeTo("made").using("parquet").option("path", p).create(), of),
]


def written(name: str, texts: list[str], meaning: Callable[[Any], Relation], conf: dict[str, object]) -> Case:
    form = "orc" if "USING orc" in texts[0] else "parquet"
    once = "".join(texts).count("INSERT") < 2
    return Case(name, rows, meaning, save=statements(*texts), conf=conf, form=form, forward=once)


@pytest.mark.parametrize(
    "case",
    [
        *(written(name, texts, meaning, {}) for name, texts, meaning in CASES),
        *(written(name, texts, meaning, conf) for name, texts, conf, meaning in SETTINGS),
        *(
            Case(name, rows, meaning, save=writer(save), forward=save not in (inserted, appended))
            for name, save, meaning in WRITERS
            if name != "writeTo().create()" or not pyspark.__version__.startswith("4.0.")
        ),
        Case(
            "an aggregate of a join into partitions",
            lambda t: t.sql("SELECT name, sum(v) s, k FROM skew JOIN dept USING (k) GROUP BY name, k"),
            lambda t: text_of(
                select(
                    group(join(t.skew, rename(t.dept, "k", "name", "x", "w"), using("k")), ["name", "k"], s=total("v")),
                    "name",
                    "s",
                    "k",
                ),
                "k",
            ),
            save=statements("CREATE TABLE made USING parquet PARTITIONED BY (k) LOCATION PATH AS SELECT * FROM rows"),
        ),
    ],
    ids=str,
)
def test_writes(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, [SKEW, DEPT], sources, tmp_path)
