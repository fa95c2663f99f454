"""Others see the same of a script's commands with capture and without: listeners, the SQL tab, job properties."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _watching import WATCHER, both, drained, ended, listening, loaded, properties
from pyspark.sql import Observation
from pyspark.sql import functions as sf
from pyspark.sql.streaming import StreamingQueryListener

pytestmark = pytest.mark.spark

Script = Callable[[Any, Path], Any]


def numbers(spark: Any) -> Any:
    return spark.range(0, 20, 1, 2).selectExpr("id", "id % 3 AS k")


def failing(spark: Any, work: Path) -> None:
    broken = sf.udf(lambda x: 1 // (x - 3), "bigint")
    with pytest.raises(Exception, match="ZeroDivisionError"):
        numbers(spark).coalesce(1).select(broken("id").alias("x")).write.parquet(str(work / "out"))


def exists(spark: Any, work: Path) -> None:
    numbers(spark).write.parquet(str(work / "out"))
    with pytest.raises(Exception, match="PATH_ALREADY_EXISTS"):
        numbers(spark).write.parquet(str(work / "out"))


def observed(spark: Any, work: Path) -> Any:
    seen = Observation("seen")
    numbers(spark).observe(seen, sf.count("*").alias("n"), sf.sum("id").alias("s")).write.parquet(str(work / "out"))
    return seen.get


def observed_in_a_cache(spark: Any, work: Path) -> Any:
    seen = Observation("within")
    kept = numbers(spark).observe(seen, sf.max("id").alias("m")).cache()
    kept.where("k > 0").write.parquet(str(work / "one"))
    kept.where("k = 0").write.parquet(str(work / "two"))
    found = seen.get
    kept.unpersist()
    return found


def tables(spark: Any, work: Path) -> None:
    numbers(spark).write.mode("overwrite").saveAsTable("others_0027.t")
    numbers(spark).write.mode("overwrite").saveAsTable("others_0027.t")
    numbers(spark).write.insertInto("others_0027.t")
    numbers(spark).writeTo("others_0027.u").using("parquet").create()


def texts(spark: Any, work: Path) -> None:
    spark.sql("CREATE TABLE others_0027.t USING parquet PARTITIONED BY (k) AS SELECT id, id % 3 AS k FROM range(9)")
    spark.sql("INSERT INTO others_0027.t SELECT id + 1, k FROM others_0027.t WHERE id < 3")
    spark.sql("INSERT OVERWRITE others_0027.t PARTITION (k = 0) VALUES (7)")
    spark.sql(f"INSERT OVERWRITE DIRECTORY '{work / 'out'}' USING json SELECT * FROM others_0027.t")
    spark.sql("ALTER TABLE others_0027.t DROP PARTITION (k = 0)")
    spark.sql("TRUNCATE TABLE others_0027.t")
    spark.sql("DROP TABLE others_0027.t")


def several(spark: Any, work: Path) -> None:
    for name in ("t", "u"):
        spark.sql(f"CREATE TABLE others_0027.{name} (id BIGINT) USING parquet")
    spark.sql(
        "FROM range(9) INSERT INTO others_0027.t SELECT id WHERE id > 3"
        " INSERT INTO others_0027.u SELECT id WHERE id < 3"
    )


def sql_script(spark: Any, work: Path) -> Any:
    return spark.sql(
        "BEGIN DECLARE n INT DEFAULT 3; CREATE TABLE others_0027.t USING parquet AS SELECT id FROM range(9);"
        " SET n = (SELECT count(*) FROM others_0027.t WHERE id > n);"
        " IF n > 2 THEN INSERT INTO others_0027.t VALUES (n); END IF; SELECT sum(id) FROM others_0027.t; END"
    ).collect()


def cached(spark: Any, work: Path) -> None:
    spark.sql("CACHE TABLE kept_0027 AS SELECT id FROM range(9) WHERE id < 4")
    spark.sql("CACHE LAZY TABLE lazy_0027 AS SELECT id FROM range(9) WHERE id < 4")
    spark.table("kept_0027").write.parquet(str(work / "out"))
    for name in ("kept_0027", "lazy_0027"):
        spark.sql(f"UNCACHE TABLE {name}")
        spark.sql(f"DROP VIEW {name}")


SCRIPTS: dict[str, Script] = {
    "a folder": lambda spark, work: numbers(spark).write.parquet(str(work / "out")),
    "after a shuffle": lambda spark, work: numbers(spark).groupBy("k").count().write.csv(str(work / "out")),
    "partitions": lambda spark, work: numbers(spark).write.partitionBy("k").json(str(work / "out")),
    "Java": lambda spark, work: numbers(spark)._jdf.write().parquet(str(work / "out")),
    "nowhere": lambda spark, work: numbers(spark).write.format("noop").mode("overwrite").save(),
    "a failing function": failing,
    "a path that exists": exists,
    "an observation": observed,
    "an observation in a cache": observed_in_a_cache,
    "tables": tables,
    "SQL": texts,
    "several INSERTs": several,
    "a SQL script": sql_script,
    "a cache": cached,
}


@pytest.fixture(scope="module")
def create(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    return loaded(spark, tmp_path_factory.mktemp("classes"), Watcher=WATCHER)


def watched(spark: Any, create: Callable[..., Any], script: Script) -> Callable[[Path], dict[str, Any]]:
    """Return a script that returns what others have seen of the given one."""

    def run(work: Path) -> dict[str, Any]:
        watcher = create("Watcher")
        spark.sql("CREATE DATABASE others_0027")
        drained(spark)
        before = watcher.lastExecution(spark._jsparkSession)
        try:
            with listening(spark, watcher):
                result = script(spark, work)
            tab = ended(lambda: list(watcher.tab(spark._jsparkSession, before)))
        finally:
            spark.sql("DROP DATABASE others_0027 CASCADE")
        jobs = [properties(spark, job) for job in watcher.jobs()]
        return {"result": result, "executions": list(watcher.executions()), "jobs": jobs, "tab": tab}

    return run


@pytest.mark.parametrize("name", SCRIPTS)
def test_listeners_and_the_sql_tab(name: str, spark: Any, create: Callable[..., Any], tmp_path: Path) -> None:
    plain, taken, capture = both(watched(spark, create, SCRIPTS[name]), tmp_path)
    assert capture.untracked == () or name in ("SQL",), capture.untracked
    if name == "a failing function":  # it runs again without capture, to fail as without capture
        plain["jobs"] *= 2
        plain["tab"] = [line.replace("| 1 jobs |", "| 2 jobs |") for line in plain["tab"]]
    for what in plain:
        assert taken[what] == plain[what], what


def named(spark: Any, work: Path) -> None:
    """Set all that a script can set for the jobs of a thread."""
    context = spark.sparkContext
    context.setJobGroup(str(work), "a description of it", interruptOnCancel=True)
    context.addJobTag("a tag")
    context.setLocalProperty("spark.scheduler.pool", "a pool")
    context.setLocalProperty("of.mine", "kept")
    spark.addTag("of-the-session")
    try:
        numbers(spark).groupBy("k").count().write.parquet(str(work / "one"))
        context.setJobDescription("another description")
        spark.sql(f"INSERT OVERWRITE DIRECTORY '{work / 'two'}' USING json SELECT * FROM range(3)")
        context.setLocalProperty("of.mine", None)
        numbers(spark).select(sf.udf(lambda x: x, "bigint")("id").alias("x")).write.csv(str(work / "three"))
    finally:
        spark.clearTags()
        for name in ("jobGroup.id", "job.description", "scheduler.pool", "job.interruptOnCancel"):
            context.setLocalProperty(f"spark.{name}", None)
        context.clearJobTags()


def test_properties_of_jobs(spark: Any, create: Callable[..., Any], tmp_path: Path) -> None:
    def run(work: Path) -> Any:
        seen = watched(spark, create, named)(work)
        tracker = spark.sparkContext.statusTracker()
        return seen, len(tracker.getJobIdsForGroup(str(work))), list(tracker.getActiveJobsIds())

    plain, taken, capture = both(run, tmp_path)
    assert taken == plain
    assert capture.untracked == ()
    assert any(job.get("of.mine") == "kept" and "a tag" in job["spark.job.tags"] for job in plain[0]["jobs"])


class Queries:
    """Spark calls it after each query. It runs queries itself, as a script may."""

    def __init__(self, spark: Any) -> None:
        self._spark, self.seen = spark, []

    def onSuccess(self, function: str, execution: Any, nanos: int) -> None:
        kinds = [str(plan.getClass().getName()) for plan in (execution.analyzed(), execution.optimizedPlan())]
        self.seen.append((function, *kinds, execution.observedMetrics().toString(), int(nanos) > 0))

    def onFailure(self, function: str, execution: Any, error: Any) -> None:
        self.seen.append((function, str(error.getClass().getName()), str(error.getMessage()).splitlines()[0]))

    class Java:
        implements = ("org.apache.spark.sql.util.QueryExecutionListener",)


def test_a_listener_in_python(spark: Any, tmp_path: Path) -> None:
    """Spark calls it from a thread of its own, while the script and capture go on."""
    from pyspark.java_gateway import ensure_callback_server_started

    ensure_callback_server_started(spark.sparkContext._gateway)

    def run(work: Path) -> list[Any]:
        own = spark.newSession()
        queries, manager = Queries(own), own._jsparkSession.listenerManager()
        drained(own)
        manager.register(queries)
        try:
            observed(own, work / "observed")
            failing(own, work / "failing")
            numbers(own).groupBy("k").count().write.csv(str(work / "csv"))
            assert numbers(own).count() == 20
            drained(own)
        finally:
            manager.clear()
        return queries.seen

    plain, taken, capture = both(run, tmp_path)
    assert taken == plain
    assert capture.untracked == ()
    assert len(plain) == 4


class Progress(StreamingQueryListener):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def onQueryStarted(self, event: Any) -> None:
        self.seen.append(("started", event.name))

    def onQueryProgress(self, event: Any) -> None:
        progress = event.progress
        metrics = {name: row.asDict() for name, row in progress.observedMetrics.items()}
        self.seen.append((progress.name, progress.batchId, progress.numInputRows, progress.sink.description, metrics))

    def onQueryIdle(self, event: Any) -> None:
        pass

    def onQueryTerminated(self, event: Any) -> None:
        self.seen.append(("ended", event.exception and event.exception.splitlines()[0]))


def test_a_listener_to_streams(spark: Any, create: Callable[..., Any], tmp_path: Path) -> None:
    def stream(spark: Any, work: Path) -> list[Any]:
        for i in range(2):
            numbers(spark).coalesce(1).where(f"id % 2 = {i}").write.mode("append").parquet(str(work / "in"))
        rows = spark.readStream.schema("id LONG, k LONG").option("maxFilesPerTrigger", 1).parquet(str(work / "in"))
        batches: list[Any] = []

        def each(batch: Any, number: int) -> None:
            batch.write.mode("append").parquet(str(work / "out"))
            batch.createOrReplaceTempView("batch_0027")
            text = f"INSERT OVERWRITE DIRECTORY '{work}/{number}' USING parquet SELECT * FROM batch_0027"
            batch.sparkSession.sql(text)
            batches.append((number, batch.count()))

        listener = Progress()
        spark.streams.addListener(listener)
        try:
            writer = rows.observe("seen", sf.count("*").alias("n")).writeStream.queryName("stream_0027")
            writer = writer.foreachBatch(each).option("checkpointLocation", str(work / "check"))
            assert writer.trigger(availableNow=True).start().awaitTermination(120)
            drained(spark)
        finally:
            spark.streams.removeListener(listener)
        files = sorted(spark.read.parquet(str(work / "out")).collect())
        return [batches, listener.seen, files, sorted(path.name for path in work.iterdir())]

    plain, taken, capture = both(watched(spark, create, stream), tmp_path)
    # The only query of capture: a stream has a session of its own, in which capture makes its classes known.
    taken["executions"] = [line for line in taken["executions"] if "| AddJarsCommand |" not in line]
    line = "stream_0027\nid = ID\nrunId = ID\nbatch = 0 | nested | ended |  | 0 jobs | []"
    assert taken["tab"].count(line) == plain["tab"].count(line) + 1
    taken["tab"].remove(line)
    assert taken == plain
    assert len(plain["result"][0]) == 2
    assert {u.node for u in capture.untracked} == {"DataStreamWriter.start", "foreachBatch"}


def tables_of(spark: Any, database: str) -> list[str]:
    """Return the names of a database's tables, without the views of the session."""
    return [table.name for table in spark.catalog.listTables(database) if not table.isTemporary]


def test_explain(spark: Any, create: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def explained(spark: Any, work: Path) -> list[str]:
        frame = numbers(spark).groupBy("k").count()
        for mode in ("simple", "extended", "codegen", "cost", "formatted"):
            frame.explain(mode=mode)
        spark.sql("CREATE TABLE others_0027.t (id BIGINT, n BIGINT) USING parquet")
        for text in (
            "INSERT INTO others_0027.t SELECT id, 1 FROM range(3)",
            "CREATE TABLE others_0027.u USING parquet AS SELECT id FROM range(3)",
            f"INSERT OVERWRITE DIRECTORY '{work}/out' USING json SELECT * FROM range(3)",
            "CACHE TABLE kept_0027 AS SELECT 1",
            "DROP TABLE others_0027.t",
        ):
            for kind in ("", "EXTENDED ", "FORMATTED ", "COST "):
                print(spark.sql(f"EXPLAIN {kind}{text}").collect()[0][0])
        written = numbers(spark).write
        written.parquet(str(work / "out"))
        return [capsys.readouterr().out, tables_of(spark, "others_0027")]

    plain, taken, capture = both(watched(spark, create, explained), tmp_path)
    assert taken == plain
    assert capture.untracked == ()
    assert "Execute InsertIntoHadoopFsRelationCommand" in plain["result"][0] and plain["result"][1] == ["t"]
