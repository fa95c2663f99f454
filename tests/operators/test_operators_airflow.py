"""The operator in real Airflow: JVM jobs, plain jobs, failing jobs, mapped tasks."""

from pathlib import Path

import pytest
from _dags import Run, run_dag

from provspark.index_store.model import Manifest
from provspark.index_store.store import Store

pytestmark = [pytest.mark.airflow, pytest.mark.long]
DAGS = Path(__file__).resolve().parent / "dags"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plumbing")


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return run_dag(DAGS, "plumbing", folder / "airflow", {"store": str(folder / "prov"), "word": "blue"})


@pytest.fixture(scope="module")
def manifests(run: Run, folder: Path) -> dict[tuple[str, int], Manifest]:
    return {(m.key.task_id, m.key.map_index): m for m in Store.open(str(folder / "prov")).manifests()}


def test_only_the_failing_job_fails(run: Run) -> None:
    assert run.code != 0
    assert run.states() == {"jvm": "success", "off": "success", "fails": "failed", "mapped": "success"}


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
