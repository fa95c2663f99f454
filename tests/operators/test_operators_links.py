"""The operator's extra link leads to its task instance's tab, whatever the names."""

from dataclasses import dataclass

import pytest

from provspark.airflow.provider_info import get_provider_info
from provspark.operators.links import ProvenanceLink
from provspark.operators.spark import ProvSparkOperator


@dataclass
class Key:
    dag_id: str = "census"
    run_id: str = "manual__2026-01-01T00:00:00+00:00"
    task_id: str = "group.clean"
    map_index: int = -1


@pytest.mark.parametrize(
    ("base", "key", "expected"),
    [
        ("", Key(run_id="r"), "/dags/census/runs/r/tasks/group.clean/plugin/provspark-task-instance"),
        (
            "https://airflow.example/prefix",
            Key(),
            "https://airflow.example/prefix/dags/census/runs/manual__2026-01-01T00%3A00%3A00%2B00%3A00"
            "/tasks/group.clean/plugin/provspark-task-instance",
        ),
        (
            "http://host:8080/",
            Key(dag_id="a/../b", run_id="r", map_index=3),
            "http://host:8080/dags/a%2F..%2Fb/runs/r/tasks/group.clean/mapped/3/plugin/provspark-task-instance",
        ),
    ],
)
def test_it_leads_to_the_tab(monkeypatch: pytest.MonkeyPatch, base: str, key: Key, expected: str) -> None:
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", base)
    task = ProvSparkOperator(task_id="clean", application="job.py")
    (link,) = task.operator_extra_links
    assert link.get_link(task, ti_key=key) == expected


def test_airflow_may_load_it() -> None:
    assert get_provider_info()["extra-links"] == [f"{ProvenanceLink.__module__}.{ProvenanceLink.__qualname__}"]
