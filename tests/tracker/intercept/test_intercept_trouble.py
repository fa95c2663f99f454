"""Trouble in capture or in a command: the script gets what plain Spark gives it, and the step says what is known."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _watching import loaded
from oracle.cases import configured
from pyspark.sql.functions import udf

import provspark
from provspark.errors import UnsupportedPlanError, UntrackedError
from provspark.index_store.store.store import Store
from provspark.tracker import attach
from provspark.tracker.session import script_capture
from provspark.tracker.session.write_capture import WriteCapture

pytestmark = pytest.mark.spark

WAYS: dict[str, Callable[[Any, str], Any]] = {
    "DataFrame": lambda frame, to: frame.write.parquet(to),
    "Java": lambda frame, to: frame._jdf.write().parquet(to),
    "SQL": lambda frame, to: frame.sparkSession.sql(f"INSERT OVERWRITE DIRECTORY '{to}' USING json TABLE refused_0027"),
    "script": lambda frame, to: frame.sparkSession.sql(
        f"BEGIN INSERT OVERWRITE DIRECTORY '{to}' USING json SELECT * FROM refused_0027; END"
    ),
    "table": lambda frame, to: frame.write.option("path", to).saveAsTable("trouble_0027"),
    "CTAS": lambda frame, to: frame.sparkSession.sql(
        f"CREATE TABLE trouble_0027 USING orc LOCATION '{to}' AS SELECT * FROM refused_0027"
    ),
}


@pytest.fixture
def refused(spark: Any) -> Iterator[Any]:
    """A frame that capture can't follow, also as a view."""
    frame = spark.range(9).rdd.map(lambda row: (row.id,)).toDF(["id"])
    frame.createOrReplaceTempView("refused_0027")
    with configured(spark, {"spark.sql.scripting.enabled": True}):
        yield frame
    spark.sql("DROP TABLE IF EXISTS trouble_0027")


@pytest.mark.parametrize("way", WAYS)
def test_what_is_refused_is_not_written_if_lineage_must_not_be_lost(way: str, refused: Any, tmp_path: Path) -> None:
    store, to = (tmp_path / "store").as_uri(), tmp_path / "out"
    with pytest.raises(UnsupportedPlanError) as caught, attach(store=store, step="s", on_error="fail") as strict:
        WAYS[way](refused, str(to))
    assert not to.exists() and not refused.sparkSession.catalog.tableExists("trouble_0027")
    assert strict.manifest.writes == () and str(caught.value.site).startswith(__file__)
    with attach(store=store, step="t") as capture:
        WAYS[way](refused, str(to))
    assert any(to.iterdir())
    assert [(w.coverage, w.output.dataset.name) for w in capture.manifest.writes] == [("untracked", str(to))]
    assert [u.site.rpartition(":")[0] for u in capture.untracked] == [__file__]


def test_a_table_is_not_emptied_if_lineage_must_not_be_lost(spark: Any, refused: Any, tmp_path: Path) -> None:
    spark.range(3).write.saveAsTable("trouble_0027")
    store = (tmp_path / "store").as_uri()
    with pytest.raises(UnsupportedPlanError, match="TRUNCATE"), attach(store=store, step="s", on_error="fail"):
        spark.sql("TRUNCATE TABLE trouble_0027")
    assert spark.table("trouble_0027").count() == 3


def raises(*_: Any, **__: Any) -> Any:
    raise RuntimeError("trouble")


def exits(*_: Any, **__: Any) -> Any:
    sys.exit(3)


def hangs(*_: Any, **__: Any) -> Any:
    time.sleep(12)
    raise RuntimeError("late")


@pytest.mark.parametrize("callback", [raises, exits, hangs], ids=lambda f: f.__name__)
def test_a_callback(callback: Any, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    to = tmp_path / "out"
    monkeypatch.setattr(script_capture, "LIMIT", 9.0 if callback is hangs else script_capture.LIMIT)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as step:
        with monkeypatch.context() as patched:
            patched.setattr(WriteCapture, "_traced", callback)
            spark.range(5).write.parquet(str(to))
        spark.range(5).write.parquet(str(tmp_path / "after"))
    assert spark.read.parquet(str(to)).count() == 5
    (reason,) = step.untracked
    words = {raises: "trouble", exits: "SystemExit: 3", hangs: "longer than"}[callback]
    assert words in reason.why and (callback is exits or reason.site.startswith(__file__))
    assert step.manifest.writes[-1].coverage == "exact"


def test_a_command_that_fails_halfway(spark: Any, tmp_path: Path) -> None:
    fails = udf(lambda n: 1 // (n - 25), "long")
    frame = spark.range(30).repartition(3, "id").select(fails("id").alias("n"))
    found = []
    for name in ("plain", "traced"):
        to = tmp_path / name
        spark.range(4).selectExpr("id AS n").write.parquet(str(to))
        with attach(store=(tmp_path / "store").as_uri(), step=name, on_error="warn") as step:
            with pytest.raises(Exception, match="ZeroDivisionError") as caught:
                frame.write.mode("append").parquet(str(to))
            found.append((type(caught.value), spark.read.parquet(str(to)).count()))
    assert found[0] == found[1] and found[0][1] == 4
    assert (step.untracked, step.manifest.writes) == ((), ())


JOB = """
import sys, time
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
print("ready", flush=True)
slow = udf(lambda n: time.sleep(0.2) or n, "long")
spark.range(100).coalesce(1).select(slow("id").alias("n")).write.parquet(sys.argv[1])
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda n: n.name)
def test_a_script_that_is_stopped_amid_a_write(number: signal.Signals, tmp_path: Path) -> None:
    """It ends as without capture, and the store can be read."""
    (tmp_path / "job.py").write_text(JOB)
    store = tmp_path / "store"
    plain = [sys.executable, str(tmp_path / "job.py")]
    traced = [
        sys.executable,
        "-m",
        "provspark.tracker.runner",
        "--store",
        store.as_uri(),
        "--",
        str(tmp_path / "job.py"),
    ]
    codes = []
    for name, command in (("plain", plain), ("traced", traced)):
        with subprocess.Popen(
            [*command, str(tmp_path / name)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as job:
            assert job.stdout is not None and job.stdout.readline() == b"ready\n"
            deadline = time.monotonic() + 90
            while not list((tmp_path / name).rglob("*.parquet")) and time.monotonic() < deadline:
                time.sleep(0.1)
            job.send_signal(number)
            codes.append(job.wait(timeout=120))
    assert codes[0] == codes[1] or (number is signal.SIGINT and codes == [-2, 130])  # 128 + 2, as a shell has it
    assert all(manifest.status != "succeeded" for manifest in Store.open(store.as_uri()).manifests())


GREEDY = """
package provsparktest;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.command.DataWritingCommand;
import org.apache.spark.sql.execution.command.DataWritingCommandExec;

public class Greedy extends SparkStrategy {
  public int planned = 0;

  public scala.collection.immutable.Seq apply(LogicalPlan plan) {
    List out = new ArrayList();
    if (plan instanceof DataWritingCommand) {
      planned++;
      out.add(new DataWritingCommandExec((DataWritingCommand) plan, planLater(((DataWritingCommand) plan).query())));
    }
    return scala.jdk.javaapi.CollectionConverters.asScala(out).toSeq();
  }

  public int planned() {
    return planned;
  }

  public void add(SparkSession session) {
    List all = new ArrayList(scala.jdk.javaapi.CollectionConverters.asJava(session.experimental().extraStrategies()));
    all.add(0, this);
    session.experimental().extraStrategies_$eq(scala.jdk.javaapi.CollectionConverters.asScala(all).toSeq());
  }
}
"""
"""Strategy of another extension, which plans the same commands as capture."""


@pytest.mark.parametrize("when", ["before", "within"])
def test_two_extensions_that_plan_the_same_command(when: str, spark: Any, tmp_path: Path) -> None:
    greedy = loaded(spark, tmp_path, Greedy=GREEDY)("Greedy")
    session = spark.newSession()
    if when == "before":
        greedy.add(session._jsparkSession)
    session.range(5).write.parquet(str(tmp_path / "base"))
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        rows = session.read.parquet(str(tmp_path / "base"))
        if when == "within":
            greedy.add(session._jsparkSession)
        for name in ("one", "two"):
            rows.write.parquet(str(tmp_path / name))
    assert greedy.planned() == (3 if when == "before" else 2)  # each write once, as without capture
    assert {session.read.parquet(str(tmp_path / name)).count() for name in ("one", "two")} == {5}
    assert capture.untracked == ()
    assert [(Path(w.output.dataset.name).name, w.coverage) for w in capture.manifest.writes] == [
        ("one", "exact"),
        ("two", "exact"),
    ]


CLOSED = """
import sys, threading, time
from pathlib import Path
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
to = Path(sys.argv[1])
slow = udf(lambda n: time.sleep(0.2) or n, "long")
rows = spark.range(100).coalesce(1).select(slow("id").alias("n"))

def close():
    while not list(to.rglob("*.parquet")):
        time.sleep(0.1)
    spark.stop()

closing = threading.Thread(target=close)
closing.start()
try:
    rows.write.parquet(str(to))
except Exception as e:
    print(type(e).__name__)
closing.join()
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
spark.range(3).write.parquet(str(to) + "-again")
print(spark.read.parquet(str(to) + "-again").count())
"""


def test_a_session_that_is_closed_amid_a_write(tmp_path: Path) -> None:
    """The write fails as without capture, and what the script writes with its next session is captured."""
    job = tmp_path / "job.py"
    job.write_text(CLOSED)
    store = (tmp_path / "store").as_uri()
    capture = [sys.executable, "-m", "provspark.tracker.runner", "--store", store, "--", str(job)]
    outcomes = []
    for name, command in (("plain", [sys.executable, str(job)]), ("traced", capture)):
        done = subprocess.run([*command, str(tmp_path / name)], capture_output=True, text=True, timeout=180)
        outcomes.append((done.returncode, done.stdout, (tmp_path / name / "_SUCCESS").exists()))
    assert outcomes[0] == outcomes[1] and outcomes[0][0] == 0 and outcomes[0][1].endswith("\n3\n"), done.stderr
    (manifest,) = Store.open(store).manifests()
    assert [(Path(w.output.dataset.name).name, w.coverage) for w in manifest.writes] == [("traced-again", "exact")]
    assert manifest.status == "succeeded"


def test_a_write_that_outlives_the_step(spark: Any, tmp_path: Path) -> None:
    """The step says so, and the next step may write the same output."""
    store, to, started = (tmp_path / "store").as_uri(), str(tmp_path / "out"), tmp_path / "started"
    slow = udf(lambda n: started.touch() or time.sleep(3) or n, "long")
    frame = spark.range(1).select(slow("id").alias("n"))
    with attach(store=store, step="s") as step:
        thread = threading.Thread(target=lambda: frame.write.parquet(to))
        thread.start()
        while not started.exists():
            time.sleep(0.05)
    thread.join()
    (reason,) = step.untracked
    assert "still running when the step" in reason.why and reason.site.startswith(__file__)
    assert step.manifest.writes == () and spark.read.parquet(to).count() == 1
    with attach(store=store, step="t", on_error="fail") as again:
        spark.range(2).write.mode("overwrite").parquet(to)
    assert [w.coverage for w in again.manifest.writes] == ["exact"]


def test_a_table_is_not_dropped_if_lineage_must_not_be_lost(refused: Any, tmp_path: Path) -> None:
    spark = refused.sparkSession
    spark.range(3).write.saveAsTable("trouble_0027")
    with pytest.raises(UnsupportedPlanError) as caught, attach((tmp_path / "store").as_uri(), "s", on_error="fail"):
        refused.write.saveAsTable(mode="overwrite", format="json", name="trouble_0027")
    assert spark.table("trouble_0027").count() == 3 and str(caught.value.site).startswith(__file__)


EFFECTS: dict[str, Callable[[Any, str], Any]] = {
    "save": lambda frame, to: frame.rdd.saveAsTextFile(to),
    "foreach": lambda frame, to: frame.foreach(lambda row: Path(to).mkdir()),
    "foreachPartition": lambda frame, to: frame.rdd.foreachPartition(lambda rows: Path(to).mkdir(exist_ok=True)),
}


@pytest.mark.parametrize("effect", EFFECTS)
def test_an_effect_does_not_happen_if_lineage_must_not_be_lost(effect: str, spark: Any, tmp_path: Path) -> None:
    to = tmp_path / "out"
    with pytest.raises(UnsupportedPlanError), attach((tmp_path / "store").as_uri(), "s", on_error="fail"):
        EFFECTS[effect](spark.range(1), str(to))
    assert not to.exists()


def test_an_rdd_that_java_code_saves_before_python_code_saves_one(spark: Any, tmp_path: Path) -> None:
    with attach(store=(tmp_path / "store").as_uri(), step="s") as step:
        spark.range(2)._jdf.toJavaRDD().saveAsTextFile(str(tmp_path / "java"))
        spark.range(2).rdd.saveAsTextFile(str(tmp_path / "python"))
    assert [u.node for u in step.untracked] == ["RDD", "RDD.saveAsTextFile"]


def test_a_table_with_a_new_name(spark: Any, tmp_path: Path) -> None:
    """Spark moves the files of a managed table. Those of an external one stay, and their lineage as well."""
    store = (tmp_path / "store").as_uri()
    spark.range(2).coalesce(1).write.parquet(str(tmp_path / "base"))
    try:
        with attach(store=store, step="s") as step:
            rows = spark.read.parquet(str(tmp_path / "base"))
            rows.write.saveAsTable("trouble_0027")
            rows.write.option("path", str(tmp_path / "out")).saveAsTable("outside_0027")
            spark.sql("ALTER TABLE trouble_0027 RENAME TO renamed_0027")
            spark.sql("ALTER TABLE outside_0027 RENAME TO renamed_outside_0027")
            spark.table("renamed_0027").write.parquet(str(tmp_path / "of_moved"))
            spark.table("renamed_outside_0027").write.parquet(str(tmp_path / "of_kept"))
        assert [u.node for u in step.untracked] == ["AlterTableRenameCommand"]
        prov = provspark.open(store)
        with pytest.raises(UntrackedError, match="moves the table's files to another folder"):
            prov.backward(str(tmp_path / "of_moved"), [0])
        kept = prov.backward(str(tmp_path / "of_kept"), [0], to=str(tmp_path / "base"))
        assert kept.table()["related_row"].to_pylist() == [0]
    finally:
        for name in ("renamed_0027", "renamed_outside_0027", "outside_0027"):
            spark.sql(f"DROP TABLE IF EXISTS {name}")
