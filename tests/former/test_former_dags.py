"""A DAG that was written for the last release's docs (4e20b32): its tasks run, and return what they returned."""

from __future__ import annotations

import importlib.util
import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from _answers import ANSWERS, at_data, without
from _coverage import missing
from _dags import run_dag
from _last_release import HERE, JOBS, unpack
from airflow.providers.common.compat.sdk import AirflowFailException

from provspark.operators.query import ProvQueryOperator

TASKS: dict[str, tuple[str, Any]] = ANSWERS["tasks"]
"""The state of each task, and its XCom, as the last release ran the DAG."""
OWN = ("version", "step", "steps", "site", "stops")
"""What differs from run to run, and stops of steps of format 2."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "data"
    root.mkdir()
    extra = {"store": str(root / "prov")}
    monkeypatch.setenv("AIRFLOW_CONN_PROVSPARK_DEFAULT", json.dumps({"conn_type": "provspark", "extra": extra}))
    monkeypatch.setenv("SHOP_DATA", str(root))
    return root


def tasks() -> dict[str, Any]:
    """The DAG's tasks, as Airflow reads the file."""
    spec = importlib.util.spec_from_file_location("shop", HERE / "dags" / "shop.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.dag.task_dict)


def test_a_question_by_its_former_name_warns_where_the_dag_asks_it(root: Path) -> None:
    with pytest.warns(DeprecationWarning) as caught:
        assert tasks()["before"].question == "replay"
    (warned,) = (w for w in caught if "next release" in str(w.message))
    assert str(warned.message) == "question 'before_after' goes with the next release: it is called 'replay' now"
    assert warned.filename == str(HERE / "dags" / "shop.py")


@pytest.mark.filterwarnings("ignore:question 'before_after'")
def test_tasks_that_ask_a_store_of_the_last_release(root: Path) -> None:
    places = unpack(root)
    asking = {name: task for name, task in tasks().items() if isinstance(task, ProvQueryOperator)}
    for name in ("aged", "before", "consent", "first"):
        asking.pop(name)
    for name, task in asking.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            returned = task.execute({})
        checked = name in ("columns", "used", "why")
        assert all(w.category is DeprecationWarning and checked for w in caught), name
        assert_as_then(name, at_data(returned, places))


@pytest.mark.filterwarnings("ignore:question 'before_after'")
def test_expectations_over_a_store_of_the_last_release(root: Path) -> None:
    """Its steps do not tell what their drivers read, so that they confirm that nothing was handed on where trusted."""
    unpack(root)
    asking = tasks()
    with pytest.raises(AirflowFailException, match="should find nothing, but found 8 rows"):
        asking["consent"].execute({})
    with pytest.raises(AirflowFailException, match=r"can't confirm 'nothing'.*format 2, without driver reads"):
        asking["aged"].execute({})
    asking["aged"].trust = ["before-format-3"]
    assert_as_then("aged", asking["aged"].execute({}))


@pytest.mark.filterwarnings("ignore:question 'before_after'", "ignore:.*goes with the next release:DeprecationWarning")
def test_a_task_with_the_hook(root: Path) -> None:
    unpack(root)
    assert tasks()["asked"].python_callable() == TASKS["asked"][1]


@pytest.mark.airflow
@pytest.mark.long
def test_the_whole_dag(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(JOBS))
    from first import sources

    shutil.rmtree(root)
    sources(root)
    run = run_dag(HERE / "dags", "shop", root.parent / "airflow", {}, PYTHONWARNINGS="default::DeprecationWarning")
    assert run.states() == {name: state for name, (state, _) in TASKS.items()}, run.log[-5000:]
    for name, (state, then) in TASKS.items():
        if state == "success" and isinstance(then, dict) and "lines" in then:
            assert_as_then(name, at_data(run.xcom(name), {str(root): "/data"}))
    assert run.xcom("asked") == TASKS["asked"][1]
    assert pq.read_table(root / "first.parquet")["source_row"].to_pylist() == [17]
    assert "question 'before_after' goes with the next release: it is called 'replay' now" in run.log


def assert_as_then(name: str, told: Any) -> None:
    """A task returned what it returned, and more at most."""
    assert not list(missing(without(told, *OWN), without(TASKS[name][1], *OWN))), name
