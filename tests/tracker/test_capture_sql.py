"""Writes by SQL text and into tables of Spark's own catalogue: what Spark leaves, and where its rows came from."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracle import lineage, outputs
from oracle.cases import Case, Scans, check, configured
from oracle.operators import group, join, rename, select, total, union, using, where
from oracle.relation import Relation
from oracle.tables import DEPT, SKEW
from pyspark.sql.functions import lit, udf

import provspark
from provspark.errors import UnsupportedPlanError
from provspark.tracker import attach

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


class Session:
    """Tables that one test makes, and the steps that write them."""

    def __init__(self, spark: Any, root: Path, work: Path) -> None:
        self.spark, self.work = spark, work
        self.paths = {"skew": SKEW.place(root)}
        SKEW.read(spark, str(self.paths["skew"])).select("n", "v", "k").createOrReplaceTempView("rows")
        for name in ("one", "two"):
            place = f"LOCATION '{work / name}'"
            spark.sql(f"CREATE TABLE {name} (n INT, v BIGINT, k INT) USING parquet {place}")

    def run(self, call: Callable[[], Any]) -> Any:
        with attach(store=(self.work / "store").as_uri(), step="sql") as capture:
            call()
        return capture

    def witnesses(self, capture: Any, name: str) -> dict[int, frozenset[Any]]:
        """By the rows' ``n``, where they came from."""
        found = outputs.read(self.work / name).rows
        lines = lineage.Lineage(self.work / "store", capture.manifest, [SKEW], self.paths)
        return {row[0]: w for row, w in zip(found, lines.backward(self.work / name, len(found)), strict=True)}


@pytest.fixture
def session(spark: Any, sources: Path, tmp_path: Path) -> Any:
    yield Session(spark, sources, tmp_path)
    for name in ("one", "two", "made"):
        spark.sql(f"DROP TABLE IF EXISTS {name}")


def itself(*numbers: int) -> dict[int, frozenset[Any]]:
    return {n: frozenset({("skew", 0, n)}) for n in numbers}


def test_one_from_with_two_inserts(session: Session) -> None:
    text = f"FROM rows INSERT INTO one SELECT n, v, k WHERE {FEW} INSERT OVERWRITE two SELECT n, v, k WHERE n < 5"
    capture = session.run(lambda: session.spark.sql(text))
    assert capture.untracked == ()
    assert session.witnesses(capture, "one") == itself(*range(3, 150, 10))
    assert session.witnesses(capture, "two") == itself(0, 1, 2, 3, 4)
    assert session.spark.table("one").count() == 15


def test_one_from_with_a_table_and_a_folder(session: Session) -> None:
    folder = f"INSERT OVERWRITE DIRECTORY '{session.work / 'three'}' USING parquet SELECT * WHERE n < 4"
    capture = session.run(lambda: session.spark.sql(f"FROM rows {folder} INSERT INTO one SELECT * WHERE {FEW}"))
    assert capture.untracked == ()
    assert session.witnesses(capture, "three") == itself(0, 1, 2, 3)
    assert session.witnesses(capture, "one") == itself(*range(3, 150, 10))


def test_two_inserts_into_one_table_are_refused(session: Session) -> None:
    text = "FROM rows INSERT INTO one SELECT n, v, k WHERE n < 5 INSERT INTO one SELECT n, v, k WHERE n >= 5"
    capture = session.run(lambda: session.spark.sql(text))
    assert [(u.node, "one table" in u.why) for u in capture.untracked] == [("Union", True)]
    assert session.spark.table("one").count() == 150


@pytest.mark.parametrize(
    ("text", "args", "more"),
    [
        ("INSERT INTO one SELECT * FROM rows WHERE n < :most", {"most": 3}, {}),
        ("INSERT INTO one SELECT * FROM rows WHERE n < ? AND n >= ?", [3, 0], {}),
        ("INSERT INTO one SELECT * FROM {frame} WHERE n < {most}", None, {"most": 3}),
        ("INSERT INTO one SELECT * FROM {frame} WHERE n < :least + {one}", {"least": 2}, {"one": 1}),
    ],
)
def test_parameters(session: Session, text: str, args: Any, more: dict[str, Any]) -> None:
    frame = {"frame": session.spark.table("rows")} if "frame" in text else {}
    capture = session.run(lambda: session.spark.sql(text, args, **more, **frame))
    assert capture.untracked == ()
    assert session.witnesses(capture, "one") == itself(0, 1, 2)


def test_what_writes_nothing_is_spark_s_own(session: Session) -> None:
    spark = session.spark
    calls: list[Any] = []
    spark.udf.register("noting", lambda: calls.append(1) or 1, "int")
    asked = {
        "SELECT n FROM rows WHERE n < 2 ORDER BY n": [(0,), (1,)],
        "SELECT noting() AS one": [(1,)],
        "EXPLAIN INSERT INTO one SELECT * FROM rows": None,
        "SHOW TABLES LIKE 'one'": [("default", "one", False)],
    }

    def run() -> None:
        for text, expected in asked.items():
            found = [tuple(r) for r in spark.sql(text).collect()]
            assert expected is None or found == expected
        for text, args in (("INSERT INTO", None), ("INSERT INTO none_such SELECT 1", None), ("SELECT :x", {"y": 1})):
            plain = error(lambda text=text, args=args: session_sql(spark, text, args))
            assert error(lambda text=text, args=args: spark.sql(text, args)) == plain

    capture = session.run(run)
    assert (capture.untracked, capture.manifest.writes) == ((), ())
    assert "sql" not in vars(spark._jsparkSession)
    assert spark.sql("INSERT INTO one SELECT * FROM rows WHERE n < 2").collect() == []


def session_sql(spark: Any, text: str, args: Any) -> Any:
    """As Spark does without capture."""
    java = type(spark._jsparkSession).__getattr__(spark._jsparkSession, "sql")
    return java(text, {k: lit(v)._jc for k, v in (args or {}).items()})


def error(call: Callable[[], Any]) -> tuple[type, str]:
    with pytest.raises(Exception) as caught:
        call()
    return type(caught.value), re.sub(r"#\d+|made\.\d+|==+.*", "", str(caught.value), flags=re.DOTALL)


def test_an_insert_gives_what_it_gives_and_runs_once(session: Session) -> None:
    counter = session.spark.sparkContext.accumulator(0)

    def count(n: int) -> int:
        counter.add(1)
        return n

    session.spark.udf.register("counted", udf(count, "int", useArrow=False).asNondeterministic())
    found = []
    capture = session.run(
        lambda: found.append(session.spark.sql("INSERT INTO one SELECT counted(n), v, k FROM rows").collect())
    )
    assert (found, capture.untracked, counter.value) == ([[]], (), 150)


def test_a_failing_insert_fails_as_it_does(session: Session) -> None:
    text = "INSERT INTO one SELECT n, v, raise_error('no ' || n) FROM rows WHERE n = 5"
    plain = error(lambda: session.spark.sql(text))
    found = []
    capture = session.run(lambda: found.append(error(lambda: session.spark.sql(text))))
    assert found == [plain]
    assert (capture.untracked, capture.manifest.writes) == ((), ())


SCRIPTS = [
    ("BEGIN INSERT INTO one SELECT * FROM rows WHERE n < 2; INSERT INTO two SELECT * FROM rows WHERE n < 3; END", 2),
    ("EXECUTE IMMEDIATE 'INSERT INTO one SELECT * FROM rows WHERE n < ?' USING 2", 1),
    ("BEGIN SELECT n FROM rows WHERE n < 2; SELECT v, n AS m FROM rows WHERE n < 2; END", 0),
    (
        "BEGIN DECLARE EXIT HANDLER FOR USER_RAISED_EXCEPTION BEGIN INSERT INTO two SELECT * FROM rows WHERE n < 3; "
        "SELECT 'caught' AS what; END; INSERT INTO one SELECT * FROM rows WHERE n = 5; "
        "INSERT INTO one SELECT n, v, raise_error('no') FROM rows; SELECT 'not reached' AS what; END",
        2,
    ),
    (
        "BEGIN DECLARE hi BIGINT; SET hi = (SELECT max(w) FROM heads); "
        "IF (SELECT count(*) FROM rows) > 100 THEN INSERT INTO one SELECT * FROM rows WHERE n < hi; END IF; END",
        1,
    ),
    ("BEGIN INSERT INTO one SELECT * FROM rows WHERE n < 2; SELECT raise_error('no'); END", 1),
]


@pytest.mark.parametrize(("text", "writes"), SCRIPTS, ids=["two", "immediate", "none", "handler", "branch", "fails"])
def test_scripts_run_as_they_do(session: Session, sources: Path, text: str, writes: int) -> None:
    """The result, what is raised and the tables are plain Spark's; each write is the step's."""
    spark = session.spark
    DEPT.read(spark, str(DEPT.place(sources))).createOrReplaceTempView("heads")

    def run() -> Any:
        with configured(spark, {"spark.sql.scripting.enabled": True}):
            try:
                frame = spark.sql(text)
                return frame.schema, frame.collect()
            except Exception as e:
                return type(e), re.sub(r"==+.*|JVM.*", "", str(e), flags=re.DOTALL)

    def left() -> Any:
        return [sorted(spark.table(t).collect()) for t in ("one", "two")]

    plain, tables = run(), left()
    for table in ("one", "two"):
        spark.sql(f"INSERT OVERWRITE {table} SELECT * FROM rows WHERE false")
    found = []
    capture = session.run(lambda: found.append(run()))
    assert (found, left(), capture.untracked) == ([plain], tables, ())
    assert [w.coverage for w in capture.manifest.writes] == ["exact"] * writes
    if "heads" in text:
        (write,) = capture.manifest.writes
        context = {write.axes[t.src].label for t in write.tensors if t.kind == "context"}
        assert {Path(d).name for d in context} == {"skew", "dept"}


def test_loops_over_rows_are_noticed(session: Session) -> None:
    text = "BEGIN FOR r AS SELECT n FROM rows WHERE n < 2 DO INSERT INTO one VALUES (r.n, 1, 1); END FOR; END"
    with configured(session.spark, {"spark.sql.scripting.enabled": True}):
        capture = session.run(lambda: session.spark.sql(text))
        assert [u.node for u in capture.untracked] == ["ForStatement"]
        assert capture.untracked[0].site.startswith(__file__)
        with pytest.raises(UnsupportedPlanError, match="ForStatement"):
            strict(session, lambda: session.spark.sql(text))


def strict(session: Session, call: Callable[[], Any]) -> None:
    with attach(store=(session.work / "store").as_uri(), step="strict", on_error="fail"):
        call()


@pytest.mark.parametrize("kind", ["partitions", "buckets", "both"])
def test_tables_read_back(kind: str, spark: Any, sources: Path, tmp_path: Path) -> None:
    """A table that a step wrote is read by the next: joined by its buckets, pruned by its partitions."""
    by = {"partitions": "PARTITIONED BY (k)", "buckets": "CLUSTERED BY (k) SORTED BY (n) INTO 3 BUCKETS"}
    by["both"] = "PARTITIONED BY (v) CLUSTERED BY (k) INTO 2 BUCKETS"
    session = Session(spark, sources, tmp_path)
    try:
        session.run(
            lambda: spark.sql(
                f"CREATE TABLE made USING orc {by[kind]} LOCATION '{tmp_path / 't'}' AS SELECT * FROM rows"
            )
        )
        query = "SELECT a.n, b.n AS m FROM made a JOIN made b ON a.k = b.k WHERE a.v = 1 AND b.n < 30 AND a.k <> 7"
        expected = {
            (a[0], b[0])
            for a in SKEW.rows
            for b in SKEW.rows
            if a[1] == b[1] is not None and a[2] == 1 and b[0] < 30 and a[1] != 7
        }
        with configured(spark, {"spark.sql.autoBroadcastJoinThreshold": -1}):
            frame = spark.sql(query)
            assert ("Exchange hashpartitioning" in frame._jdf.queryExecution().executedPlan().toString()) == (
                kind == "partitions"
            )
            capture = session.run(lambda: frame.write.parquet(str(tmp_path / "out")))
        assert capture.untracked == ()
        found = outputs.read(tmp_path / "out").rows
        assert set(found) == expected and len(found) == len(expected)
        lines = provspark.open((tmp_path / "store").as_uri()).backward(str(tmp_path / "out"), rows=range(len(found)))
        got: dict[int, list[int]] = {}
        for line in lines.sort_by([("row", "ascending"), ("occurrence", "ascending")]).to_pylist():
            assert line["dataset"] == f"file://{session.paths['skew']}"
            got.setdefault(line["row"], []).append(line["source_row"])
        assert {i: set(found[i]) for i in got} == {i: set(w) for i, w in got.items()}
        assert len(got) == len(found)
    finally:
        for name in ("one", "two", "made"):
            spark.sql(f"DROP TABLE IF EXISTS {name}")


DERBY = {
    "": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
    ".url": "jdbc:derby:memory:sql_writes;create=true",
    ".driver": "org.apache.derby.jdbc.EmbeddedDriver",
}


def test_tables_without_keys_are_refused_by_name(session: Session) -> None:
    spark = session.spark
    if spark.version.startswith("4.0."):
        pytest.skip("on Spark 4.0 the command of a DataFrameWriterV2 can't be read")
    frame = spark.table("rows").where("n < 4")
    calls = [
        (lambda: frame.writeTo("derby.app.t").create(), "CreateTableAsSelect", 4),
        (lambda: frame.writeTo("derby.app.t").append(), "AppendData", 8),
        (lambda: frame.writeTo("derby.app.t").overwrite(lit(True)), "OverwriteByExpression", 4),
        (lambda: frame.writeTo("derby.app.t").createOrReplace(), "DataFrameWriterV2.createOrReplace", 4),
        (lambda: spark.sql("INSERT INTO derby.app.t SELECT * FROM rows WHERE n < 2"), "AppendData", 6),
        (lambda: spark.sql("CREATE TABLE derby.app.u AS SELECT * FROM rows"), "CreateTableAsSelect", 6),
    ]
    with configured(spark, {f"spark.sql.catalog.derby{k}": v for k, v in DERBY.items()}):
        for call, node, count in calls:
            capture = session.run(call)
            assert [u.node for u in capture.untracked] == [node]
            assert capture.untracked[0].why and capture.untracked[0].site.startswith(__file__)
            assert spark.table("derby.app.t").count() == count


def test_a_merge_that_spark_refuses_is_no_write(session: Session) -> None:
    text = "MERGE INTO one USING rows ON one.n = rows.n WHEN MATCHED THEN DELETE"
    found = []
    capture = session.run(lambda: found.append(error(lambda: session.spark.sql(text))))
    assert "MERGE INTO TABLE" in found[0][1]
    assert capture.untracked == ()
