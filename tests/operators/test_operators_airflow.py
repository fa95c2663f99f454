"""The operator in real Airflow: JVM jobs, plain jobs, failing jobs, mapped tasks."""

from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import pytest
from _dags import Run, run_dag

from provspark.airflow.events import facets_for
from provspark.airflow.facet import KEY
from provspark.index_store.store.store import Store
from provspark.model.steps import Manifest, StepKey

pytestmark = [pytest.mark.airflow, pytest.mark.long]
DAGS = Path(__file__).resolve().parent / "dags"
CALLING = {"shell": "success", "starts": "success"}
APPENDED = (3, 5, 2, 7)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plumbing")


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return run_dag(DAGS, "plumbing", folder / "airflow", {"store": str(folder / "prov"), "word": "blue"})


@pytest.fixture(scope="module")
def manifests(run: Run, folder: Path) -> dict[tuple[str, int], Manifest]:
    found = Store.open(str(folder / "prov")).manifests()
    return {(m.key.task_id, m.key.map_index): m for m in found if not m.key.call}


@pytest.fixture(scope="module")
def calls(run: Run, folder: Path) -> list[Manifest]:
    return [m for m in Store.open(str(folder / "prov")).manifests() if m.key.call]


def test_only_the_failing_job_fails(run: Run) -> None:
    assert run.code != 0
    good = dict.fromkeys(("jvm", "off", "mapped", "appends"), "success")
    assert run.states() == good | {"fails": "failed"} | CALLING


def test_a_jvm_job_runs_and_is_published_as_untracked(run: Run, manifests: dict[tuple[str, int], Manifest]) -> None:
    assert "Hadoop 3." in run.log
    manifest = manifests["jvm", -1]
    assert manifest.status == "succeeded"
    assert [u.node for u in manifest.untracked] == ["JVM application"]
    assert any("org.apache.hadoop.util.VersionInfo has no Python driver" in w for w in run.warnings())


def test_a_catalogue_that_is_down_does_not_fail_the_job(run: Run) -> None:
    assert any("catalogue" in w for w in run.warnings())


def test_the_catalogues_password_is_nowhere(run: Run) -> None:
    assert "tell-nobody" not in run.log
    assert run.rendered("jvm")["prov_catalogue"] == "postgresql://user:***@127.0.0.1:1/none"


def test_off_submits_the_users_script(run: Run, manifests: dict[tuple[str, int], Manifest]) -> None:
    assert "ARGUMENTS ['blue', '--', '-x']" in run.log
    assert run.xcom("off") is None
    assert not [key for key in manifests if key[0] == "off"]


def test_rendered_fields_are_the_users(run: Run, folder: Path) -> None:
    fields = run.rendered("fails")
    assert fields["application"] == str(DAGS / "arguments.py")
    assert fields["application_args"] == ["blue", "fail"]
    assert fields["prov_store"] == str(folder / "prov")


def test_a_failing_script_fails_as_ever(run: Run, manifests: dict[tuple[str, int], Manifest]) -> None:
    assert "ARGUMENTS ['blue', 'fail']" in run.log
    assert "LookupError: told to fail" in run.log
    assert "Error code is: 1" in run.log
    assert manifests["fails", -1].status == "failed"


def test_mapped_tasks_are_steps_of_their_own(manifests: dict[tuple[str, int], Manifest], run: Run) -> None:
    assert [manifests["mapped", index].status for index in (0, 1)] == ["succeeded", "succeeded"]
    assert "ARGUMENTS ['second', '--', 'x']" in run.log


def test_appends_of_mapped_tasks_are_told_apart(run: Run, manifests: dict[tuple[str, int], Manifest]) -> None:
    """Each reports the rows that it wrote, and those that the folder then had; and so do its events."""
    outputs = [output for told in run.xcoms("appends") for output in told["outputs"]]
    assert sorted(o["rows"] for o in outputs)[-1] == sum(APPENDED)
    assert [o["written"] for o in outputs] == list(APPENDED)
    in_order = sorted(outputs, key=lambda o: o["rows"])
    assert list(accumulate(o["written"] for o in in_order)) == [o["rows"] for o in in_order]
    store = Store.open(run.xcoms("appends")[0]["store"])
    for index, rows in enumerate(APPENDED):
        (output,) = facets_for(store.url, manifests["appends", index], store).outputs
        assert output.facets[KEY].written == output.outputFacets["outputStatistics"].rowCount == rows


def test_runs_of_a_command_are_steps_of_its_task(
    calls: list[Manifest], manifests: dict[tuple[str, int], Manifest]
) -> None:
    """Two instances of a mapped task call it twice each; Airflow does not export which instance."""
    (run_id,) = {m.key.run_id for m in manifests.values()}
    shell = [m for m in calls if m.key.task_id == "shell"]
    assert len({m.step for m in shell}) == 4
    assert {replace(m.key, call="") for m in shell} == {StepKey("shell", run_id, "plumbing")}
    assert {m.key.call.rpartition("-")[0] for m in shell} == {"arguments"}


def test_a_run_that_a_script_of_ours_starts_is_a_step_of_the_same_task(
    calls: list[Manifest], manifests: dict[tuple[str, int], Manifest]
) -> None:
    (inner,) = [m for m in calls if m.key.task_id == "starts"]
    outer = manifests["starts", -1]
    assert replace(inner.key, call="") == outer.key and inner.step != outer.step
    assert inner.key.call.startswith("inner-")
    assert (inner.status, outer.status) == ("succeeded", "succeeded")
