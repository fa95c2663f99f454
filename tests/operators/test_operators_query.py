"""A question as a task: returned, written, asserted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from _people import people
from airflow.providers.common.compat.sdk import AirflowFailException

from provspark.errors import ArgumentError, SettingsError
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset, Files
from provspark.model.pending import PendingVersion, PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Untracked
from provspark.operators.query import ProvQueryOperator


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    extra = {"store": people(tmp_path)}
    monkeypatch.setenv("AIRFLOW_CONN_PROV", json.dumps({"conn_type": "provspark", "extra": extra}))

    def run(question: str, what: str, **more: Any) -> dict[str, Any]:
        arguments = {"dataset": str(tmp_path / what), **more.pop("arguments", {})}
        if "to" in arguments:
            arguments["to"] = str(tmp_path / arguments["to"])
        task = ProvQueryOperator(task_id="ask", question=question, arguments=arguments, prov_conn_id="prov", **more)
        return task.execute({})  # type: ignore[no-any-return]

    return run


def test_an_answer_is_returned_and_written(ask: Any, tmp_path: Path) -> None:
    file = tmp_path / "why.csv"
    told = ask("backward", "report.csv", arguments={"rows": [1]}, limit=1, write_to=str(file))
    assert (told["lines"], [x["related_row"] for x in told["answer"]], told["stops"]) == (2, [0], [])
    assert pyarrow.csv.read_csv(told["file"])["related_row"].to_pylist() == [0, 2]
    assert ask("how", "report.csv", arguments={"rows": [1]})["lines"] == 2
    assert ask("dropped", "people.csv")["lines"] == 2
    json.dumps(ask("cells", "report.csv"))


def test_expectations_fail_the_task_for_good(ask: Any) -> None:
    young = {"where": [("age", "<", 40)], "to": "report.csv"}
    assert ask(
        "forward", "people.csv", arguments={"where": [("age", "is null", None)], "to": "report.csv"}, expect="nothing"
    )
    with pytest.raises(AirflowFailException, match="should find nothing, but found 1 rows"):
        ask("forward", "people.csv", arguments=young, expect="nothing")
    assert ask("forward", "people.csv", arguments=young, expect="something")
    with pytest.raises(AirflowFailException, match="should find at least one row, but found none"):
        ask("forward", "people.csv", arguments={"rows": [4], "to": "report.csv"}, expect="something")
    with pytest.raises(AirflowFailException, match="check of backward"):
        ask("backward", "report.csv", check=lambda table: table.num_rows == 0)
    with pytest.raises(AirflowFailException, match=r"can't confirm 'something'.*step people-copy"):
        ask("columns", "copy.csv", arguments={"to": "report.csv"}, expect="something")


def test_nothing_is_not_told_over_a_step_that_was_not_captured(ask: Any, tmp_path: Path) -> None:
    opened = Store.open(str(tmp_path / "prov"))
    known = next(m for m in opened.manifests() if m.key.task_id == "copy")
    version = known.writes[0].inputs[0]
    files = opened.files(known.step, version)
    read = PendingVersion(version.dataset, files, version.format, version.options, version.fields)
    made = PendingVersion(Dataset("file", str(tmp_path / "model.csv")), Files.of([("", 1, 1, 2, True)]), "csv")
    writer = opened.writer(StepKey("model", "r1", "people"))
    writer.add(PendingWrite(made, "untracked", (read,), reason=Untracked("MapInPandas", "opaque", "model.py:7")))
    writer.publish(status="succeeded", started="2024-05-02T00:00:00.000000", ended="2024-05-02T00:00:01.000000")
    with pytest.raises(AirflowFailException, match=r"can't be answered.*MapInPandas: opaque"):
        ask("forward", "people.csv", arguments={"rows": [2], "to": "model.csv"}, expect="nothing")


@pytest.mark.parametrize("given", ["columns", ["columns"], "clean, columns", " columns "])
def test_trust_may_be_a_text_with_commas(ask: Any, given: Any) -> None:
    to: dict[str, Any] = {"to": "report.csv"}
    told = ask("columns", "copy.csv", arguments=to, expect="something", trust=given)
    assert {t["by"] for t in told["trusted"]} == {"columns"}
    within = ask("columns", "copy.csv", arguments={**to, "trust": given}, expect="something")
    assert within["trusted"] == told["trusted"]


@pytest.mark.parametrize("none", [None, "", ()])
def test_no_trust(ask: Any, none: Any) -> None:
    assert ask("backward", "report.csv", trust=none, arguments={"trust": none})["trusted"] == []


@pytest.mark.parametrize("wrong", [5, {"a": 1}, [5]])
def test_trust_of_another_type_is_an_error_of_ours(ask: Any, wrong: Any) -> None:
    for more in ({"trust": wrong}, {"arguments": {"trust": wrong}}):
        with pytest.raises(ArgumentError, match="trust takes a list of tasks"):
            ask("backward", "report.csv", **more)


@pytest.mark.parametrize("question", ["backward", "columns"])
def test_an_entry_that_names_nothing_is_logged(ask: Any, question: str, caplog: pytest.LogCaptureFixture) -> None:
    ask(question, "report.csv", trust=["cleam", "copy"])
    (warned,) = (r.getMessage() for r in caplog.records if r.name == "provspark")
    assert "'cleam' has no effect" in warned
    assert "Did you mean 'clean'?" in warned


def test_tasks_of_the_last_release_find_the_names_that_they_know(ask: Any, tmp_path: Path) -> None:
    def check(table: pa.Table) -> bool:
        return table["source_row"].to_pylist() == table["related_row"].to_pylist() == [0, 2]

    file = tmp_path / "why.parquet"
    told = ask("backward", "report.csv", arguments={"rows": [1]}, check=check, write_to=str(file))
    assert [x["source_row"] for x in told["answer"]] == pyarrow.parquet.read_table(file)["source_row"].to_pylist()
    with pytest.warns(DeprecationWarning, match="'before_after' goes with the next release: it is called 'replay' now"):
        assert ProvQueryOperator(task_id="ask", question="before_after", arguments={}).question == "replay"


@pytest.mark.parametrize("name", ["hook_name", "get_conn", "refresh", "graph", "test_connection", "_opened"])
def test_what_is_no_question(name: str) -> None:
    with pytest.raises(SettingsError, match=f"unknown query '{name}'"):
        ProvQueryOperator(task_id="ask", question=name, arguments={})


def test_questions_and_expectations_are_checked_when_the_dag_is_read() -> None:
    with pytest.raises(SettingsError, match="unknown query 'whence'; use one of backward, cell"):
        ProvQueryOperator(task_id="ask", question="whence", arguments={})
    with pytest.raises(SettingsError, match="must be 'nothing', 'something' or the expected number of rows"):
        ProvQueryOperator(task_id="ask", question="backward", arguments={}, expect="all")  # type: ignore[arg-type]
    task = ProvQueryOperator(task_id="ask", question="datasets", arguments={"dataset": "{{ ds }}"})
    assert set(task.template_fields) == {"arguments", "trust", "write_to"}
