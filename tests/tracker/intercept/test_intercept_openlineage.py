"""OpenLineage's listener sees of a captured job what it sees of a plain one: datasets, columns, statistics, names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from _jars import OPENLINEAGE, jars

import provspark

pytestmark = [pytest.mark.spark, pytest.mark.long]

JOB = """
import sys
from pyspark.sql import SparkSession, functions as F

folder, jar = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[2]").appName("job")
    .config("spark.jars", jar)
    .config("spark.extraListeners", "io.openlineage.spark.agent.OpenLineageSparkListener")
    .config("spark.openlineage.transport.type", "file")
    .config("spark.openlineage.transport.location", f"{folder}/events.jsonl")
    .config("spark.openlineage.namespace", "tests")
    .config("spark.sql.warehouse.dir", f"{folder}/warehouse")
    .config("spark.sql.shuffle.partitions", 2)
    .config("spark.sql.scripting.enabled", True)
    .config("spark.ui.enabled", False)
    .config("spark.log.level", "ERROR")
    .getOrCreate()
)
spark.range(20).selectExpr("id", "id % 3 AS k", "id * 2 AS v").write.parquet(f"{folder}/a")
spark.range(3).selectExpr("id AS k", "'n' || id AS name").write.parquet(f"{folder}/b")
a, b = spark.read.parquet(f"{folder}/a"), spark.read.parquet(f"{folder}/b")
a.createOrReplaceTempView("a")
a.filter("v > 4").write.parquet(f"{folder}/narrow")
a.join(b, "k").filter("v > 4").write.parquet(f"{folder}/joined")
a.filter("id < 9").write.mode("append").partitionBy("k").parquet(f"{folder}/parts")
a.orderBy("v").limit(5).write.json(f"{folder}/few")
a.join(b, "k").write.saveAsTable("saved")
spark.sql("CREATE TABLE made USING parquet AS SELECT k, max(v) AS top FROM a GROUP BY k")
for name in ("one", "two"):
    spark.sql(f"CREATE TABLE {name} (id BIGINT, v BIGINT) USING parquet")
spark.sql("INSERT INTO one SELECT id, v + 1 FROM a WHERE id > (SELECT min(k) FROM saved)")
spark.sql("FROM a INSERT INTO one SELECT id, v WHERE id < 5 INSERT INTO two SELECT id, v WHERE id >= 5")
spark.sql(
    "BEGIN INSERT INTO one SELECT id, v FROM a WHERE id = 7;"
    "  INSERT INTO two SELECT k, sum(v) FROM a GROUP BY k; END"
)
spark.sql("TRUNCATE TABLE one")
cached = a.join(b, "k").cache()
cached.count()
cached.write.parquet(f"{folder}/cached")
spark.sparkContext.setCheckpointDir(f"{folder}/checkpoints")
a.join(b, "k").checkpoint().write.parquet(f"{folder}/checkpointed")
spark.conf.set("spark.sql.adaptive.enabled", False)
a.groupBy("k").agg(F.sum("v").alias("total")).write.parquet(f"{folder}/unadaptive")
spark.conf.set("spark.sql.adaptive.enabled", True)
spark.conf.set("spark.provspark.sealing", "spark")
a.groupBy("k").agg(F.sum("v").alias("total")).write.parquet(f"{folder}/sealed_by_jobs")
spark.stop()
"""
OUTPUTS = {
    *("a", "b", "narrow", "joined", "parts", "few", "saved", "made", "one", "two", "cached", "checkpointed"),
    *("unadaptive", "sealed_by_jobs"),
}
PASSING = ("_producer", "_schemaURL", "eventTime", "runId", "size", "applicationId")
"""Fields that differ between two runs of one job. Sizes do, because rows may come in another order."""
WITHOUT_STATISTICS = ("job.adaptive_spark_plan.data_sealed_by_jobs",)
"""Jobs whose outputs have no statistics with capture, because sealing runs jobs before the write's execution ends."""
ADDED = ("job.execute_add_jars_command",)
"""Jobs of capture's own, besides those that read and write in the store: it adds its jar to the session."""
FAILURE = "OpenLineage callable failed to execute"
"""What OpenLineage logs of an execution that it can't handle, such as one whose plan failed."""


def run(folder: Path, *command: str) -> list[Any]:
    """Run the job, and return its events."""
    data = folder / "data"
    data.mkdir(parents=True)
    (folder / "job.py").write_text(JOB)
    arguments = [folder / "job.py", data, jars(OPENLINEAGE)[0]]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, cwd=folder, timeout=500)
    assert done.returncode == 0 and FAILURE not in done.stderr, done.stderr[-3000:]
    lines = (data / "events.jsonl").read_text().replace(str(folder), "").splitlines()
    return [plain(json.loads(line)) for line in lines]


def plain(value: Any) -> Any:
    """Leave out what differs between runs, and sort lists, which OpenLineage makes of sets."""
    if isinstance(value, dict):
        return {name: plain(field) for name, field in value.items() if name not in PASSING}
    if isinstance(value, list):
        return sorted((plain(each) for each in value), key=lambda each: json.dumps(each, sort_keys=True))
    return value


def name(event: Any) -> str:
    return str(event["job"]["name"])


def of_capture(event: Any) -> bool:
    """Whether an event is of a job of capture's own."""
    datasets = [each["name"] for each in (*event.get("inputs", []), *event.get("outputs", []))]
    return name(event) in ADDED or any(each.startswith("/prov/") for each in datasets)


def ends(events: list[Any]) -> list[Any]:
    found = [event for event in events if event["eventType"] in ("COMPLETE", "FAIL")]
    return [without_statistics(event) if name(event) in WITHOUT_STATISTICS else event for event in found]


def without_statistics(event: Any) -> Any:
    return {**event, "outputs": [{**each, "outputFacets": None} for each in event.get("outputs", [])]}


def before(events: list[Any]) -> dict[str, set[str]]:
    """By job, what events before its end say of inputs and outputs: statistics come when Spark's listeners get them.

    OpenLineage emits none of them for an execution that ended before it looked.
    """
    found: dict[str, set[str]] = {}
    for event in events:
        if event["eventType"] in ("START", "RUNNING"):
            outputs = without_statistics(event)["outputs"]
            told = {"inputs": event.get("inputs", []), "outputs": outputs, "facets": event["job"]["facets"]}
            found.setdefault(name(event), set()).add(json.dumps(told, sort_keys=True))
    return found


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], list[Any]]:
    """Events of the job without capture, and those with it that are not of capture's own."""
    root = tmp_path_factory.mktemp("openlineage")
    store = str(root / "captured" / "prov")
    capture = [sys.executable, "-m", "provspark.cli.main", "run", "--store", store]
    was, now = run(root / "plain", sys.executable), run(root / "captured", *capture)
    (step,) = provspark.open(store).graph.manifests
    assert {Path(write.output.dataset.name).name for write in step.writes} == OUTPUTS
    assert [reason.node for reason in step.untracked] == ["TruncateTableCommand"]
    assert not any(map(of_capture, was)) and any(map(of_capture, now))
    return was, [event for event in now if not of_capture(event)]


def test_what_jobs_did_is_the_same(both: tuple[list[Any], list[Any]]) -> None:
    was, now = map(ends, both)
    assert [name(event) for event in now] == [name(event) for event in was]
    assert {Path(each["name"]).name for event in was for each in event["outputs"]} >= OUTPUTS
    assert any(name(event) == "job.adaptive_spark_plan.data_joined" for event in was)
    for one, other in zip(now, was, strict=True):
        assert one == other, name(one)


def test_what_jobs_are_about_to_do_is_the_same(both: tuple[list[Any], list[Any]]) -> None:
    was, now = map(before, both)
    assert len(was.keys() & now.keys()) > len(OUTPUTS)
    for job in was.keys() & now.keys():
        assert now[job] == was[job], job


def test_no_column_of_capture_is_seen(both: tuple[list[Any], list[Any]]) -> None:
    assert "__provspark" not in json.dumps(both[1])
