from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _sinks_trial import READERS, Trial, check
from pyspark.sql import functions as fn

from provspark.errors import UnsupportedPlanError

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def trial(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial(spark, tmp_path_factory.mktemp("jar"))


@pytest.fixture
def table(spark: Any) -> Iterator[str]:
    spark.sql("DROP TABLE IF EXISTS sinks_t")
    yield "sinks_t"
    spark.sql("DROP TABLE IF EXISTS sinks_t")


def rows(spark: Any, n: int = 20) -> Any:
    return spark.range(0, n, 1, 2).selectExpr("id", "id * 2 as x", "if(id % 3 = 0, '', string(id % 3)) as p")


def place(result: Any) -> Path:
    return Path(result.sink.dataset.name)


def test_made_appended_to_and_replaced(spark: Any, trial: Trial, table: str) -> None:
    made = trial.write(rows(spark), "saveAsTable", table, setup=lambda w: w.format("orc"))
    assert made.written.version.format == "orc"
    check(place(made), made, READERS["orc"])
    shuffled = rows(spark).select("p", "x", "id")
    more = trial.write(shuffled, "saveAsTable", table, setup=lambda w: w.format("orc").mode("append"))
    check(place(more), more, READERS["orc"])
    assert more.written.version.files.total == 40
    assert [f.name for f in more.written.version.fields] == ["id", "x", "p"]
    new = trial.write(rows(spark, 5), "saveAsTable", table, setup=lambda w: w.mode("overwrite").partitionBy("p"))
    check(place(new), new)
    assert new.written.version.files.total == 5 and new.written.version.format == "parquet"
    assert spark.table(table).count() == 5


def test_in_a_folder_of_its_own(spark: Any, trial: Trial, table: str, tmp_path: Path) -> None:
    setup = {"setup": lambda w: w.option("path", str(tmp_path / "t")).format("csv").partitionBy("p")}
    made = trial.write(rows(spark), "saveAsTable", table, **setup)
    assert place(made) == tmp_path / "t"
    check(tmp_path / "t", made, READERS["csv"])


def test_inserted_by_place(spark: Any, trial: Trial, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (a BIGINT, b INT, q STRING) USING parquet PARTITIONED BY (q)")
    result = trial.write(rows(spark), "insertInto", table)
    check(place(result), result, first_column)
    version = result.written.version
    assert [(f.name, f.type) for f in version.fields] == [("a", "bigint"), ("b", "int"), ("q", "string")]
    assert version.partitions == ("q",)
    again = trial.write(rows(spark), "insertInto", table)
    assert again.written.version.files.total == 40
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        setup = {"setup": lambda w: w.mode("overwrite")}
        part = trial.write(rows(spark).where("p = '1'"), "insertInto", table, **setup)
        check(place(part), part, first_column)
        assert part.written.version.files.total == 2 * 13 + 7
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    whole = trial.write(rows(spark).where("p = '1'"), "insertInto", table, setup=lambda w: w.mode("overwrite"))
    check(place(whole), whole, first_column)
    assert whole.written.version.files.total == 7 == spark.table(table).count()


def first_column(file: Path) -> list[int]:
    import pyarrow.parquet as pq

    return list(pq.read_table(file, columns=["a"], partitioning=None)["a"].to_pylist())


def test_what_is_there_already(spark: Any, trial: Trial, table: str) -> None:
    frame = rows(spark)
    assert not trial.sink(frame, "saveAsTable", table, setup=lambda w: w.mode("ignore")).skips
    frame.write.saveAsTable(table)
    assert trial.sink(frame, "saveAsTable", table, setup=lambda w: w.mode("ignore")).skips
    assert trial.sink(frame, "saveAsTable", table).skips
    assert not trial.sink(frame, "insertInto", table, setup=lambda w: w.mode("ignore")).skips


def test_names_with_catalogue_and_database(spark: Any, trial: Trial, table: str) -> None:
    places = {
        trial.sink(rows(spark), "saveAsTable", f"{more}{table}").dataset
        for more in ("", "default.", "spark_catalog.default.")
    }
    assert len(places) == 1


@pytest.mark.parametrize(
    ("columns", "using", "why"),
    [
        ("a BIGINT, b BIGINT, q INT", "USING parquet PARTITIONED BY (q)", "partition column q is int"),
        ("a BIGINT, b BIGINT, q CHAR(4)", "USING parquet PARTITIONED BY (q)", r"partition column q is char\(4\)"),
        ("a BIGINT, b BIGINT", "USING parquet", "has 2 columns, but the rows have 3"),
        ("a INT, b BIGINT, q STRING", "USING parquet CLUSTERED BY (a) INTO 2 BUCKETS", "bucket column a is int"),
        (
            "a BIGINT, b BIGINT, q CHAR(4)",
            "USING parquet CLUSTERED BY (a) SORTED BY (q) INTO 2 BUCKETS",
            r"sort column q is char\(4\)",
        ),
    ],
)
def test_tables_that_are_refused(spark: Any, trial: Trial, table: str, columns: str, using: str, why: str) -> None:
    spark.sql(f"CREATE TABLE {table} ({columns}) {using}")
    with pytest.raises(UnsupportedPlanError, match=rf"write\.insertInto: .*{why}"):
        trial.sink(rows(spark), "insertInto", table)


def test_moved_partitions_are_refused(spark: Any, trial: Trial, table: str, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE {table} (a BIGINT, b BIGINT, q STRING) USING parquet PARTITIONED BY (q)")
    spark.sql(f"ALTER TABLE {table} ADD PARTITION (q = '1')")
    trial.sink(rows(spark), "insertInto", table)
    spark.sql(f"ALTER TABLE {table} ADD PARTITION (q = '2') LOCATION '{(tmp_path / 'away').as_uri()}'")
    with pytest.raises(UnsupportedPlanError, match="outside its folder"):
        trial.sink(rows(spark), "insertInto", table)


def test_what_is_no_table(spark: Any, trial: Trial, table: str) -> None:
    with pytest.raises(UnsupportedPlanError, match=f"the table .*{table} does not exist"):
        trial.sink(rows(spark), "insertInto", table)
    rows(spark).createOrReplaceTempView("sinks_view")
    with pytest.raises(UnsupportedPlanError, match=r"the table .*sinks_view does not exist, or is a temporary view"):
        trial.sink(rows(spark), "insertInto", "sinks_view")
    spark.catalog.dropTempView("sinks_view")
    settings = {
        "": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        ".url": "jdbc:derby:memory:sinks;create=true",
        ".driver": "org.apache.derby.jdbc.EmbeddedDriver",
    }
    for name, value in settings.items():
        spark.conf.set(f"spark.sql.catalog.elsewhere{name}", value)
    try:
        with pytest.raises(UnsupportedPlanError, match="built-in catalog"):
            trial.sink(rows(spark), "saveAsTable", "elsewhere.db.t")
    finally:
        for name in settings:
            spark.conf.unset(f"spark.sql.catalog.elsewhere{name}")


@pytest.mark.parametrize(
    ("end", "args", "setup", "why"),
    [
        ("jdbc", ("url", "t"), lambda w: w, "it is not captured; write files in one of these formats: csv"),
        ("xml", ("/tmp/x", {}), lambda w: w, "2 arguments"),
        ("save", (), lambda w: w.format("noop").mode("append"), "format 'noop' is not captured"),
        ("save", ("/tmp/x",), lambda w: w.format("avro"), "format 'avro' is not captured"),
        ("save", (), lambda w: w, "no path"),
        ("parquet", (), lambda w: w, "0 arguments"),
        ("saveAsTable", ("t",), lambda w: w.bucketBy(2, "nothing"), "no column 'nothing'"),
        ("parquet", ("/tmp/x",), lambda w: w.partitionBy("nothing"), "no column 'nothing'"),
        ("parquet", ("nosuch://x/y",), lambda w: w, "could not determine where it writes: .*nosuch"),
    ],
)
def test_ends_that_are_refused(spark: Any, trial: Trial, end: str, args: Any, setup: Any, why: str) -> None:
    with pytest.raises(UnsupportedPlanError, match=rf"write\.{end}: .*{why}"):
        trial.sink(rows(spark), end, *args, setup=setup)


def test_options_and_credentials(spark: Any, trial: Trial, tmp_path: Path) -> None:
    def setup(writer: Any) -> Any:
        return writer.options(header=True, Delimiter="|", password="x", **{"fs.s3a.secret.key": "y", "lineSep": "\n"})

    result = trial.write(rows(spark).withColumn("p", fn.col("x")), "csv", str(tmp_path / "out"), setup=setup)
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert result.written.version.options == (
        ("header", "true"),
        ("linesep", "\n"),
        ("sep", "|"),
        ("timezone", zone),
    )
