from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _sinks_trial import READERS, Trial, check
from pyspark.errors import AnalysisException
from pyspark.sql import functions as fn

import provspark
from provspark.errors import UnsupportedPlanError
from provspark.tracker import attach

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
    result = trial.write(rows(spark), "insertInto", table, row="a")
    check(place(result), result, first_column)
    version = result.written.version
    assert [(f.name, f.type) for f in version.fields] == [("a", "bigint"), ("b", "int"), ("q", "string")]
    assert version.partitions == ("q",)
    again = trial.write(rows(spark), "insertInto", table, row="a")
    assert again.written.version.files.total == 40
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        setup = {"setup": lambda w: w.mode("overwrite")}
        part = trial.write(rows(spark).where("p = '1'"), "insertInto", table, row="a", **setup)
        check(place(part), part, first_column)
        assert part.written.version.files.total == 2 * 13 + 7
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    whole = trial.write(rows(spark).where("p = '1'"), "insertInto", table, row="a", **setup)
    check(place(whole), whole, first_column)
    assert whole.written.version.files.total == 7 == spark.table(table).count()


def test_by_statements(spark: Any, trial: Trial, table: str, tmp_path: Path) -> None:
    """Rows of CREATE TABLE AS, INSERT into a partition, and INSERT OVERWRITE DIRECTORY."""
    rows(spark).createOrReplaceTempView("sinks_v")
    text = f"CREATE TABLE {table} USING parquet PARTITIONED BY (p) AS SELECT id AS a, x, p FROM sinks_v"
    made = trial.run(lambda: spark.sql(text), row="a")
    check(place(made), made, first_column)
    assert made.written.version.partitions == ("p",)
    text = f"INSERT OVERWRITE {table} PARTITION (p = '1') SELECT id AS a, x FROM sinks_v WHERE id > 4"
    part = trial.run(lambda: spark.sql(text), row="a")
    check(place(part), part, first_column)
    files = part.written.version.files
    assert (files.total, files.rows[files.written].sum()) == (13 + 15, 15)
    out = tmp_path / "out"
    folder = trial.run(lambda: spark.sql(f"INSERT OVERWRITE DIRECTORY '{out}' USING csv SELECT id, x FROM sinks_v"))
    check(out, folder, READERS["csv"])
    assert place(folder) == out and folder.written.version.format == "csv"


def first_column(file: Path) -> list[int]:
    import pyarrow.parquet as pq

    return list(pq.read_table(file, columns=["a"], partitioning=None)["a"].to_pylist())


def test_what_is_there_already(spark: Any, trial: Trial, table: str, tmp_path: Path) -> None:
    frame = rows(spark)
    assert not trial.sink(frame, "saveAsTable", table, setup=lambda w: w.mode("ignore")).skips
    frame.write.saveAsTable(table)
    assert not trial.sink(frame, "insertInto", table, setup=lambda w: w.mode("ignore")).skips
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        frame.write.mode("ignore").saveAsTable(table)
        spark.sql(f"CREATE TABLE IF NOT EXISTS {table} USING parquet AS SELECT * FROM range(3)")
        with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_ALREADY_EXISTS"):
            frame.write.saveAsTable(table)
    assert (capture.untracked, capture.manifest.writes) == ((), ())


def test_names_with_catalogue_and_database(spark: Any, trial: Trial, table: str) -> None:
    places = {
        trial.sink(rows(spark), "saveAsTable", f"{more}{table}").dataset
        for more in ("", "default.", "spark_catalog.default.")
    }
    assert len(places) == 1


CASTS = {
    "partitions of a number": ("id % 3", "a BIGINT, b BIGINT, q INT", "PARTITIONED BY (q)"),
    "partitions of a time": ("timestamp_seconds(id % 3 * 80000)", "a BIGINT, b BIGINT, q DATE", "PARTITIONED BY (q)"),
    "partitions of a text": ("p", "a BIGINT, b BIGINT, q CHAR(4)", "PARTITIONED BY (q)"),
    "buckets": ("p", "a BIGINT, b INT, q STRING", "CLUSTERED BY (b) INTO 2 BUCKETS"),
    "sorted buckets": ("p", "a BIGINT, b BIGINT, q CHAR(4)", "CLUSTERED BY (a) SORTED BY (q) INTO 2 BUCKETS"),
}
"""By what Spark casts: the third of the columns that are inserted, those of the table, and where it puts its rows."""


@pytest.mark.parametrize("case", CASTS)
def test_what_spark_casts(spark: Any, trial: Trial, table: str, tmp_path: Path, case: str) -> None:
    third, columns, using = CASTS[case]
    spark.sql(f"CREATE TABLE {table} ({columns}) USING parquet {using}")
    frame = rows(spark).selectExpr("id", "x", third)
    result = trial.write(frame, "insertInto", table, row="a")
    check(place(result), result, first_column)
    shown = [(r.a, r.b, str(r.q).rstrip()) for r in spark.table(table).orderBy("a").collect()]
    frame.write.mode("overwrite").insertInto(table)
    assert shown == [(r.a, r.b, str(r.q).rstrip()) for r in spark.table(table).orderBy("a").collect()]

    rows(spark).orderBy(fn.desc("id")).coalesce(1).write.parquet(str(tmp_path / "source"))
    source = spark.read.parquet(str(tmp_path / "source")).selectExpr("id", "x", third)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        source.write.mode("overwrite").insertInto(table)
    assert capture.untracked == ()
    ids = [i for file in sorted(place(result).rglob("part-*")) for i in first_column(file)]
    links = provspark.open((tmp_path / "store").as_uri()).backward(str(place(result)), rows=range(len(ids))).table()
    found = [(ids[x["row"]], x["related_row"]) for x in links.to_pylist()]
    assert sorted(found) == [(i, 19 - i) for i in range(20)]


def test_moved_partitions_are_refused(spark: Any, trial: Trial, table: str, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE {table} (a BIGINT, b BIGINT, q STRING) USING parquet PARTITIONED BY (q)")
    spark.sql(f"ALTER TABLE {table} ADD PARTITION (q = '1')")
    trial.sink(rows(spark), "insertInto", table)
    spark.sql(f"ALTER TABLE {table} ADD PARTITION (q = '2') LOCATION '{(tmp_path / 'away').as_uri()}'")
    with pytest.raises(UnsupportedPlanError, match="outside its folder"):
        trial.sink(rows(spark), "insertInto", table)


@pytest.mark.parametrize(
    ("end", "args", "setup", "why"),
    [
        ("jdbc", ("jdbc:derby:memory:t", "t"), lambda w: w, "SaveIntoDataSourceCommand: no key columns are declared"),
        (
            "save",
            (),
            lambda w: w.format("console"),
            "SaveIntoDataSourceCommand: format 'console' is not captured; supported formats: csv, ",
        ),
        (
            "save",
            ("/tmp/x",),
            lambda w: w.format("libsvm"),
            "InsertIntoHadoopFsRelationCommand: format 'libsvm' is not captured; supported formats: csv, ",
        ),
        (
            "parquet",
            ("webhdfs://127.0.0.1:1/x",),
            lambda w: w,
            "InsertIntoHadoopFsRelationCommand: could not determine where it writes: .*Connection refused",
        ),
    ],
)
def test_what_is_refused(spark: Any, trial: Trial, end: str, args: Any, setup: Any, why: str) -> None:
    with pytest.raises(UnsupportedPlanError, match=why):
        trial.sink(rows(spark), end, *args, setup=setup)


def test_a_format_that_is_refused_is_written(spark: Any, tmp_path: Path) -> None:
    from pyspark.ml.linalg import Vectors

    frame = spark.createDataFrame([(float(i), Vectors.dense(i, 2.0)) for i in range(5)], ("label", "features"))
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        frame.write.format("libsvm").save(str(tmp_path / "out"))
    assert [(u.node, "format 'libsvm'" in u.why, u.site.startswith(__file__)) for u in capture.untracked] == [
        ("InsertIntoHadoopFsRelationCommand", True, True)
    ]
    assert [(w.coverage, w.output.dataset.name) for w in capture.manifest.writes] == [
        ("untracked", str(tmp_path / "out"))
    ]
    assert spark.read.format("libsvm").option("numFeatures", 2).load(str(tmp_path / "out")).count() == 5


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
