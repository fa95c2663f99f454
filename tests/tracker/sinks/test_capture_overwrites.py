"""A write over what it reads ends as plain Spark's: the same error, and the same rows left."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as sf

from provspark.tracker import attach

pytestmark = pytest.mark.spark

READS: dict[str, Callable[[Any, str], Any]] = {
    "the table": lambda spark, form: spark.table("over"),
    "a part of it": lambda spark, form: spark.table("over").where("n > 3").select("n", "k"),
    "by SQL": lambda spark, form: spark.sql("SELECT n + 1 AS n, k FROM over"),
    "a view over it": lambda spark, form: spark.table("seen"),
    "joined": lambda spark, form: (
        spark.range(3).selectExpr("id AS n", "0 AS o").join(spark.table("over"), "n").drop("o")
    ),
    "in a subquery": lambda spark, form: spark.sql(
        "SELECT id AS n, 1 AS k FROM range(9) WHERE id IN (SELECT n FROM over)"
    ),
    "cached": lambda spark, form: spark.table("over").cache(),
    "checkpointed": lambda spark, form: spark.table("over").localCheckpoint(),
    "grouped": lambda spark, form: spark.table("over").groupBy("k").agg(sf.sum("n").alias("n")).select("n", "k"),
    "its files": lambda spark, form: getattr(spark.read.schema("n bigint, k int"), form)(_path(spark)),
}
WRITES: dict[str, Callable[[Any, Any, str], Any]] = {
    "saveAsTable": lambda spark, frame, form: frame.write.format(form).mode("overwrite").saveAsTable("over"),
    "saveAsTable, appended": lambda spark, frame, form: frame.write.format(form).mode("append").saveAsTable("over"),
    "insertInto": lambda spark, frame, form: frame.write.insertInto("over", overwrite=True),
    "insertInto, appended": lambda spark, frame, form: frame.write.insertInto("over"),
    "INSERT OVERWRITE": lambda spark, frame, form: spark.sql("INSERT OVERWRITE over SELECT * FROM {f}", f=frame),
}


SHORT = ("the table", "in a subquery", "cached")
"""Reads that Spark judges each in a way of its own."""


@pytest.mark.parametrize(("form", "kept", "reads"), [("parquet", "its own", SHORT), ("csv", "elsewhere", SHORT)])
def test_written_over(form: str, kept: str, reads: Iterable[str], spark: Any, tmp_path: Path) -> None:
    """Every way to write. A `save` over the folder that is read is not among them: plain Spark takes the rows away."""
    wrong, ends = [], set()
    for read in reads:
        for write in WRITES:
            plain = _run(spark, tmp_path / "plain", form, kept, read, write)
            with attach(store=(tmp_path / "store").as_uri(), step="s"):
                captured = _run(spark, tmp_path / "captured", form, kept, read, write)
            ends.add(plain[0])
            if plain != captured:
                wrong.append(f"{read} by {write}: {plain} {captured}")
    assert not wrong, "\n".join(wrong)
    assert "" in ends and len(ends) > 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("form", "kept"),
    [("parquet", "its own"), ("parquet", "parted"), ("orc", "its own"), ("json", "dynamic"), ("csv", "elsewhere")],
)
def test_every_way(form: str, kept: str, spark: Any, tmp_path: Path) -> None:
    test_written_over(form, kept, READS, spark, tmp_path)


def _run(spark: Any, folder: Path, form: str, kept: str, read: str, write: str) -> tuple[str, list[tuple[Any, ...]]]:
    """Return the condition of the error of a write over what is read, and the rows that are left."""
    rows = spark.range(8).selectExpr("id AS n", "CAST(id % 3 AS INT) AS k")
    new = rows.write.format(form).option("path", str(folder)) if kept == "elsewhere" else rows.write.format(form)
    (new.partitionBy("k") if kept in ("parted", "dynamic") else new).saveAsTable("over")
    spark.sql("CREATE OR REPLACE VIEW seen AS SELECT n, k FROM over WHERE n < 9")
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic" if kept == "dynamic" else "static")
    error = ""
    try:
        WRITES[write](spark, READS[read](spark, form), form)
    except (PySparkException, Py4JJavaError) as e:
        error = _named(e)
    try:
        spark.catalog.clearCache()
        left = sorted(tuple(row) for row in spark.table("over").collect())
    except (PySparkException, Py4JJavaError) as e:
        left = [(_named(e),)]
    where = Path(spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")) / "over"
    spark.sql("DROP TABLE IF EXISTS over")
    spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(where, ignore_errors=True)
    return error, left


def _named(error: PySparkException | Py4JJavaError) -> str:
    if isinstance(error, PySparkException):
        return f"{type(error).__name__} {error.getCondition()}"
    return str(error.java_exception.getClass().getName())


def _path(spark: Any) -> str:
    return str(spark.sql("DESCRIBE EXTENDED over").where("col_name = 'Location'").collect()[0][1])
