"""The shape of a DAG that a step stores: operators, what depends on what, what is mapped, off, or only runs capture."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.sensors.filesystem import FileSensor
from airflow.sdk import DAG, Asset, TaskGroup, task

from provspark.index_store.store.tasks import is_captured, is_passive, load_dag
from provspark.operators.shape import runs_capture_alone, tasks_around, write_shape
from provspark.operators.spark import ProvSparkOperator


@pytest.fixture(scope="module")
def dag() -> Any:
    with DAG("people", start_date=datetime(2024, 1, 1, tzinfo=timezone.utc), schedule=None) as made:

        @task(outlets=[Asset("file:///data/other")])
        def enrich() -> None: ...

        @task.short_circuit
        def go_on() -> bool:
            return True

        @task.branch
        def way() -> str:
            return "report"

        @task
        def each(n: int) -> None: ...

        clean = ProvSparkOperator(task_id="clean", application="clean.py")
        off = ProvSparkOperator(task_id="off", application="off.py", prov_mode="off")
        several = ProvSparkOperator.partial(task_id="several", prov_mode="off").expand(application=["a.py", "b.py"])
        some = ProvSparkOperator.partial(task_id="some", application="a.py").expand(prov_mode=["index", "off"])
        each_own = [{"application": "a.py", "prov_mode": "off"}]
        others = ProvSparkOperator.partial(task_id="others").expand_kwargs(each_own)
        with TaskGroup("late"):
            report = ProvSparkOperator(task_id="report", application="report.py")
            run = BashOperator(task_id="run", bash_command="provspark run --store s x.py")
        wait = FileSensor(task_id="wait", filepath="/x")
        EmptyOperator(task_id="aside")
        wait >> clean >> enrich() >> go_on() >> way() >> [report, off, several] >> run  # type: ignore[list-item]
        clean >> [some, others]
        clean >> each.expand(n=[1, 2])
    return made


def shape(dag: Any, name: str = "clean") -> dict[str, Any]:
    return {each.task_id: each for each in tasks_around(dag.task_dict[name])}


def test_tasks_that_depend_on_one_another(dag: Any) -> None:
    found = shape(dag)
    assert set(found) == {
        *(
            "wait",
            "clean",
            "enrich",
            "go_on",
            "way",
            "late.report",
            "late.run",
            "off",
            "several",
            "each",
            "some",
            "others",
        )
    }
    assert found["clean"].upstream == ("wait",)
    assert found["late.run"].upstream == ("late.report", "off", "several")
    assert found["late.report"].group == "late"
    assert (found["several"].mapped, found["each"].mapped, found["clean"].mapped) == (True, True, False)
    assert found["enrich"].outlets == ("file:///data/other",)
    assert set(shape(dag, "wait")) == set(found) and "each" not in shape(dag, "off")


def test_which_are_captured_and_which_take_no_rows(dag: Any) -> None:
    found = shape(dag).values()
    assert {t.task_id for t in found if is_captured(t)} == {"clean", "late.report", "late.run"}
    assert {t.task_id for t in found if is_passive(t)} == {"wait", "go_on", "way"}


def test_a_file_holds_it(dag: Any, tmp_path: Path) -> None:
    began = datetime(2024, 1, 2, 3, tzinfo=timezone.utc)
    context = {"dag_run": SimpleNamespace(start_date=began)}
    path = write_shape(dag.task_dict["clean"], context, tmp_path)
    tasks, started = load_dag(path.read_bytes(), str(path))
    assert list(tasks) == tasks_around(dag.task_dict["clean"])
    assert started == "2024-01-02T03:00:00.000000+00:00"


@pytest.mark.parametrize(
    ("command", "alone"),
    [
        ("provspark run clean.py", True),
        ("set -e\ncd /jobs\nexport X=1\nPROVSPARK_STORE=s /venv/bin/provspark run clean.py {{ ds }}\n", True),
        ("provspark run a.py && provspark run b.py", True),
        ("if [ -f x ]; then provspark run a.py 2>&1 > /dev/null || exit 1; fi", True),
        ("provspark run a.py || python b.py", False),
        ("$(provspark run a.py)", False),
        ("source /venv/bin/activate; . ./prod.env; . ~/.bashrc; provspark run a.py", True),
        (". ./load.sh; provspark run a.py", False),
        ("provspark run a.py; source load", False),
        ("# see what's there\nprovspark run a.py  # it's first\n", True),
        ("provspark run 'a # b.py' s3://jobs/#1", True),
        ("provspark run a.py  # first\npython load.py", False),
        ("provspark run 'a # b.py'; python load.py", False),
        ("provspark ls", False),
        ("provspark run a.py | tee log", False),
        ("provspark run a.py > log", False),
        ("provspark run $(python list.py)", False),
        ("python a.py; provspark run b.py", False),
        ("echo 'unfinished", False),
        ("", False),
    ],
)
def test_commands_that_run_capture_alone(command: str, alone: bool) -> None:
    assert runs_capture_alone(command) is alone
