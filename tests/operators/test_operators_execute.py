"""What ProvSparkOperator does around a job. spark-submit is a script here that does what a job would leave."""

import contextlib
import logging
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG

import provspark.operators.spark as module
from provspark.airflow.facet import KEY as FACET
from provspark.errors import CaptureError, JavaNotFoundError, SettingsError, VersionMismatchError
from provspark.index_store.catalogue import Catalogue
from provspark.index_store.store.store import Store
from provspark.index_store.store.summaries import success, summary
from provspark.model.steps import StepKey
from provspark.operators.spark import ProvSparkOperator

TI = SimpleNamespace(dag_id="census", run_id="r1", task_id="clean", map_index=-1, try_number=1)
STEP = StepKey("clean", "r1", "census").id
PUBLISH = """
import numpy as np
from provspark.model.datasets import *
from provspark.model.pending import *
from provspark.model.steps import *
from provspark.model.writes import *
from provspark.index_store.store.store import Store
from provspark.tracker.runner import _parser
import sys
options = _parser().parse_args([a for a in sys.argv[1:]])
key = StepKey(options.task_id, options.run_id, options.dag_id, options.map_index, options.try_number)
files = Files.of([("part-0", 10, 1, 4, True)] + [("part-1", 10, 1, {older}, False)] * ({older} > 0))
version = PendingVersion(Dataset("file", "/data/out"), files, "parquet")
write = PendingWrite(version, {coverage!r}, (), (Axis("output", files.total, files.identity(version.dataset)),),
                     reason=None if {coverage!r} != "untracked" else Untracked("Window", "not captured yet", "a.py:3"))
writer = Store.open(options.store, create=True).writer(key)
writer.add(write)
writer.publish(status={status!r}, started="2026-01-02T03:04:05.000000+00:00", ended="2026-01-02T03:04:15.000000+00:00",
               engine=[("capture", {cost!r})] * ({cost!r} != ""))
"""


@pytest.fixture(autouse=True)
def local_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", '{"conn_type": "spark", "host": "local[2]"}')
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.delenv("PYSPARK_DRIVER_PYTHON", raising=False)
    monkeypatch.setattr(module, "find_java", lambda env: None)
    monkeypatch.setattr(ProvSparkOperator, "log", logging.getLogger("operator"))


class World:
    """A store and an operator whose spark-submit leaves what the test wants."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "prov"
        self.calls = folder / "calls"
        self.binary = folder / "spark-submit"

    def operator(
        self, *, publish: str = "", coverage: str = "exact", older: int = 0, cost: str = "", code: int = 0, **more: Any
    ) -> Any:
        script = self.binary.with_name("publish.py")
        script.write_text(PUBLISH.format(status=publish, coverage=coverage, older=older, cost=cost))
        start = f'while [ "${{1##*/}}" != runner.py ]; do shift; done; shift; {sys.executable} {script} "$@" || exit 99'
        self.binary.write_text(f'#!/bin/sh\necho "$@" >> {self.calls}\n{start if publish else ":"}\nexit {code}\n')
        self.binary.chmod(0o755)
        given = {"application": "a.py", "prov_store": str(self.store), **more}
        return ProvSparkOperator(task_id="clean", spark_binary=str(self.binary), **given)

    def run(self, operator: Any = None, try_number: int = 1, **more: Any) -> Any:
        operator = operator or self.operator(**more)
        try:
            return operator.execute({"ti": SimpleNamespace(**{**vars(TI), "try_number": try_number})})
        finally:
            # SparkSubmitHook leaves its pipe to the garbage collector.
            if operator._hook is not None and operator._hook._submit_sp is not None:
                operator._hook._submit_sp.stdout.close()

    @property
    def manifest(self) -> Any:
        return Store.open(str(self.store)).manifest(STEP)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def warned(caplog: pytest.LogCaptureFixture) -> str:
    return "\n".join(r.getMessage() for r in caplog.records if r.levelno == logging.WARNING and "ProvSpark:" in r.msg)


def test_the_summary_names_step_store_and_outputs(world: World, caplog: pytest.LogCaptureFixture) -> None:
    answer = world.run(publish="succeeded", coverage="coarse")
    assert answer == {
        "step": STEP,
        "store": str(world.store),
        "outputs": [
            {
                "dataset": "file:///data/out",
                "version": world.manifest.writes[0].output.id,
                "rows": 4,
                "written": 4,
                "coverage": "coarse",
            }
        ],
    }
    assert warned(caplog) == ""


def test_rows_of_an_append_and_of_all(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """A store that does not answer, once the step is read, leaves them unknown and fails no task."""
    (output,) = world.run(publish="succeeded", older=9, coverage="exact", on_error="fail")["outputs"]
    assert (output["rows"], output["written"]) == (13, 4)
    (gone,) = summary(str(world.store.with_name("gone")), world.manifest)["outputs"]
    assert (gone["rows"], gone["written"]) == (13, None)
    (lists,) = (world.store / "steps" / STEP / "versions").iterdir()
    lists.write_bytes(b"")
    (damaged,) = summary(str(world.store), world.manifest)["outputs"]
    assert (damaged["rows"], damaged["written"]) == (13, None)
    assert warned(caplog) == ""


def reported(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno == logging.INFO and r.getMessage().startswith("ProvSp")]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"cost": "0.312 s"},
            "the lineage of 4 rows of 1 dataset (exact) in 0.3 s of driver time (3% of the job). To see it, run: ",
        ),
        ({"older": 9, "coverage": "coarse"}, "the lineage of 4 rows of 1 dataset (coarse). To see it, run: "),
        ({"coverage": "untracked", "cost": "0.312 s"}, "no lineage of this job. To see why, run: "),
    ],
)
def test_one_line_reports_what_was_captured(
    given: dict[str, Any], said: str, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        world.run(publish="succeeded", **given)
    assert reported(caplog) == [f"ProvSpark captured {said}provspark show {STEP} --store {world.store}"]


def test_rows_that_are_not_known_are_not_reported(world: World) -> None:
    world.run(publish="succeeded")
    lost = summary(str(world.store.with_name("a b")), world.manifest)
    end = f"To see it, run: provspark show {STEP} --store '{world.store.with_name('a b')}'"
    assert success(world.manifest, lost) == f"ProvSpark captured the lineage of 1 dataset (exact). {end}"


@pytest.mark.parametrize("given", [{"code": 1}, {"application": "job.jar"}, {"prov_mode": "off"}, {"prov_store": None}])
def test_nothing_is_reported_without_capture(
    given: dict[str, Any], world: World, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO), contextlib.suppress(AirflowException):
        world.run(publish="failed" if "code" in given else "", **given)
    assert reported(caplog) == []


def test_a_report_fails_no_task(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with caplog.at_level(logging.INFO):
        assert world.run(publish="succeeded", cost="much", on_error="fail")["step"] == STEP
    assert reported(caplog) == [] and warned(caplog) == ""


def test_the_catalogue_is_told(world: World, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/catalogue.db"
    world.run(publish="succeeded", coverage="coarse", prov_catalogue=url)
    with Catalogue.open(url) as catalogue:
        assert [s.ref.step for s in catalogue.steps()] == [STEP]


def test_the_catalogue_and_store_of_airflows_settings(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/catalogue.db"
    monkeypatch.setenv("AIRFLOW__PROVSPARK__STORE", str(world.store))
    monkeypatch.setenv("AIRFLOW__PROVSPARK__CATALOGUE", url)
    assert world.run(publish="succeeded", coverage="coarse", prov_store=None)["step"] == STEP
    with Catalogue.open(url) as catalogue:
        assert [s.ref.step for s in catalogue.steps()] == [STEP]


def others(folder: Path) -> str:
    """A database of another application."""
    sqlite3.connect(folder / "others.db").execute("CREATE TABLE dag (id)").connection.close()
    return f"sqlite:///{folder}/others.db"


BROKEN: dict[str, tuple[Callable[[Path], str], str]] = {
    "no folder": (lambda folder: "sqlite:////nowhere/at/all.db", "nowhere"),
    "no server": (lambda folder: "postgresql://me:secret@127.0.0.1:1/x", "127.0.0.1"),
    "no driver": (lambda folder: "postgresql+pg8000://me:secret@host/x", "needs a PostgreSQL driver"),
    "no such database": (lambda folder: "mysql://me:secret@host/x", "runs on SQLite or PostgreSQL"),
    "no URL": (lambda folder: "nonsense", "URL is not valid"),
    "another application's": (others, r"contains tables of another application (dag)"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_catalogue_that_does_not_answer(
    case: str, world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The step is in the store: its XCom is returned, and the log says how to add it to the catalogue."""
    make, said = BROKEN[case]
    answer = world.run(publish="succeeded", coverage="coarse", prov_catalogue=make(tmp_path))
    assert answer["step"] == STEP and [o["coverage"] for o in answer["outputs"]] == ["coarse"]
    (line,) = warned(caplog).splitlines()
    assert line.startswith("ProvSpark: The catalogue was not updated: ") and said in line
    assert str(world.store) in line and "`provspark catalogue rebuild`" in line and "secret" not in line


def test_a_catalogue_that_does_not_answer_fails_where_wanted(world: World) -> None:
    url = "sqlite:////nowhere/at/all.db"
    with pytest.raises(Exception, match="nowhere"):
        world.run(publish="succeeded", coverage="coarse", prov_catalogue=url, on_error="fail")


def test_an_untracked_write_is_warned_of(world: World, caplog: pytest.LogCaptureFixture) -> None:
    answer = world.run(publish="succeeded", coverage="untracked")
    assert [(o["coverage"], o["rows"], o["written"]) for o in answer["outputs"]] == [("untracked", 4, None)]
    assert "file:///data/out was written without lineage. Window: not captured yet (a.py:3)" in warned(caplog)


def test_an_untracked_write_fails_where_wanted(world: World) -> None:
    with pytest.raises(CaptureError, match=r"a\.py:3"):
        world.run(publish="succeeded", coverage="untracked", on_error="fail")


@pytest.mark.parametrize("on_error", ["warn", "fail"])
def test_a_failed_job_fails_as_ever(world: World, on_error: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/catalogue.db"
    with pytest.raises(AirflowException, match="Error code is: 3"):
        world.run(publish="failed", coverage="coarse", code=3, on_error=on_error, prov_catalogue=url)
    with Catalogue.open(url) as catalogue:
        assert [s.status for s in catalogue.steps()] == ["failed"]


def test_a_job_that_left_nothing(world: World, caplog: pytest.LogCaptureFixture) -> None:
    assert world.run() is None
    assert "Lineage for this step is unavailable" in warned(caplog)
    with pytest.raises(Exception, match="not a store"):
        world.run(on_error="fail")


def killed(world: World, **more: Any) -> Any:
    """Run a job whose process is killed after it sealed a write."""
    operator = world.operator(publish="failed", coverage="coarse", code=137, **more)
    script = world.binary.with_name("publish.py")
    text = script.read_text()
    script.write_text(text[: text.index("writer.publish")] + "import os\nos.kill(os.getpid(), 9)\n")
    world.binary.write_text(world.binary.read_text().replace("|| exit 99", ""))
    return operator


def test_what_a_killed_job_had_sealed_is_published(world: World, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(AirflowException, match="Error code is: 137"):
        world.run(killed(world))
    assert world.manifest.status == "failed"
    assert [w.output.dataset.name for w in world.manifest.writes] == ["/data/out"]
    assert "its process ended before it published the step" in warned(caplog)


def test_the_next_try_publishes_what_a_killed_one_had_sealed(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker may have been killed together with the job."""
    with monkeypatch.context() as patch:
        patch.setattr(ProvSparkOperator, "_settle", lambda *_: None)
        with pytest.raises(AirflowException):
            world.run(killed(world))
    assert Store.open(str(world.store)).steps() == []
    with caplog.at_level(logging.INFO):
        world.run(try_number=2, publish="succeeded", coverage="coarse")
    assert world.manifest.status == "failed" and len(world.manifest.writes) == 1
    assert f"Published the lineage that an earlier try had completed before it was killed: step {STEP}" in caplog.text
    assert len(Store.open(str(world.store)).steps()) == 2


def test_a_try_that_is_alive_is_left_alone(world: World) -> None:
    writer = Store.open(str(world.store), create=True).writer(StepKey("clean", "r1", "census"))
    world.run(try_number=2, publish="succeeded", coverage="coarse")
    assert STEP not in Store.open(str(world.store)).steps()
    writer.abandon()


def test_a_failed_job_that_left_nothing(world: World, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(AirflowException, match="Error code is: 1"):
        world.run(code=1, on_error="fail")
    assert "Lineage for this step is unavailable" in warned(caplog)


def test_no_store_at_all(world: World, caplog: pytest.LogCaptureFixture) -> None:
    assert world.run(prov_store=None) is None
    assert "No store is set. Pass prov_store" in warned(caplog)
    assert "runner.py" not in world.calls.read_text()
    with pytest.raises(SettingsError):
        world.run(prov_store=None, on_error="fail")


def test_off_runs_plainly(world: World, caplog: pytest.LogCaptureFixture) -> None:
    assert world.run(prov_mode="off") is None
    assert world.calls.read_text().rstrip().endswith("a.py")
    assert not world.store.exists()
    assert warned(caplog) == ""


def test_a_jvm_application_runs_plainly_and_is_published(world: World, caplog: pytest.LogCaptureFixture) -> None:
    answer = world.run(application="job.jar", java_class="org.Main", application_args=["x"])
    assert answer == {"step": STEP, "store": str(world.store), "outputs": []}
    assert world.calls.read_text().rstrip().endswith("--class org.Main job.jar x")
    manifest = world.manifest
    assert (manifest.status, manifest.key) == ("succeeded", StepKey("clean", "r1", "census"))
    assert [u.node for u in manifest.untracked] == ["JVM application"]
    assert manifest.started < manifest.ended
    assert warned(caplog).count("JVM application") == 1


@pytest.mark.parametrize(
    ("arguments", "node"),
    [({"conf": {"spark.remote": "sc://host"}}, "Spark Connect"), ({"deploy_mode": "cluster"}, "deploy mode")],
)
def test_a_script_that_can_not_be_captured_runs_plainly_and_is_published(
    arguments: dict[str, Any], node: str, world: World
) -> None:
    world.run(**arguments)
    assert world.calls.read_text().rstrip().endswith("a.py")
    assert (world.manifest.status, world.manifest.writes) == ("succeeded", ())
    assert [u.node for u in world.manifest.untracked] == [node]


def test_a_failed_jvm_application_is_published_as_failed(world: World) -> None:
    with pytest.raises(AirflowException):
        world.run(application="job.jar", code=1)
    assert world.manifest.status == "failed"
    assert world.manifest.error.startswith("AirflowException: Cannot execute")


def test_a_step_without_capture_knows_the_tasks_around_it(world: World) -> None:
    with DAG("census", schedule=None):
        operator = world.operator(application="job.jar")
        operator >> EmptyOperator(task_id="after")
    world.run(operator)
    assert len(world.manifest.untracked) == 1
    assert [task.task_id for task in world.manifest.dag] == ["after", "clean"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"application": "job.jar"}, "JVM application"),
        ({"application": "job.jar", "java_class": "org.Main"}, "JVM application"),
        ({"application": "job.R"}, "not a Python script"),
        ({"application": "s3a://jobs/a.py"}, "not on this machine"),
        ({"deploy_mode": "cluster"}, "deploy mode"),
        ({"conf": {"spark.remote": "sc://host"}}, "Spark Connect"),
        ({"conf": {"spark.pyspark.python": "/no/python"}}, "driver's Python"),
    ],
)
def test_a_job_that_can_not_be_captured_fails_at_once(arguments: dict[str, Any], why: str, world: World) -> None:
    """`AirflowFailException`: Airflow tries it no more."""
    with pytest.raises(CaptureError, match=why) as caught:
        world.run(on_error="fail", **arguments)
    assert isinstance(caught.value, AirflowFailException)
    assert not world.calls.exists()
    assert world.manifest.status == "failed"


@pytest.mark.parametrize(
    ("check", "error"), [("find_java", JavaNotFoundError), ("check_pyspark", VersionMismatchError)]
)
def test_what_the_machine_lacks_is_said_first(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, check: str, error: type
) -> None:
    def broken(*_: Any) -> None:
        raise error("install this")

    monkeypatch.setattr(module, check, broken)
    assert world.run(publish="succeeded", coverage="coarse") is not None
    assert "install this" in warned(caplog)
    with pytest.raises(error):
        world.run(on_error="fail")
    assert len(world.calls.read_text().splitlines()) == 1


def test_openlineage_gets_our_facets(world: World) -> None:
    operator = world.operator(publish="succeeded", coverage="coarse")
    assert operator.get_openlineage_facets_on_start().outputs == []
    before = operator.get_openlineage_facets_on_complete(TI)
    assert before.outputs == []
    assert before.run_facets[FACET].step == STEP
    world.run(operator)
    for lineage in (
        operator.get_openlineage_facets_on_complete(TI),
        operator.get_openlineage_facets_on_failure(TI),
    ):
        (output,) = lineage.outputs
        assert (output.namespace, output.name) == ("file", "/data/out")
        assert output.facets[FACET].version == world.manifest.writes[0].output.id
        assert lineage.run_facets[FACET].step == STEP


def test_openlineage_gets_nothing_of_a_plain_job(world: World) -> None:
    lineage = world.operator(prov_mode="off").get_openlineage_facets_on_complete(TI)
    assert (lineage.inputs, lineage.outputs, lineage.run_facets) == ([], [], {})
