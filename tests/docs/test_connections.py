"""README's commands create the connections that its examples need."""

from __future__ import annotations

import json
import shlex

import pytest
from _code_blocks import ROOT, blocks

from provspark.hooks.prov import ProvHook
from provspark.operators.spark import ProvSparkOperator


def _created() -> dict[str, dict[str, str]]:
    """Return each connection that README creates, by its id, as Airflow's JSON form has it."""
    (block,) = (b for b in blocks(ROOT / "README.md") if "airflow connections add" in b.code)
    out = {}
    for line in block.code.splitlines():
        _, _, _, _, name, *options = shlex.split(line)
        out[name] = dict(
            zip(
                (o.removeprefix("--conn-").replace("type", "conn_type") for o in options[::2]),
                options[1::2],
                strict=True,
            )
        )
    return out


def test_the_operator_and_the_hook_use_these_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    created = _created()
    assert set(created) == {"spark_default", ProvHook.default_conn_name}
    for name, connection in created.items():
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}", json.dumps(connection))
    hook = ProvSparkOperator(task_id="clean", application="/jobs/clean.py")._get_hook()
    assert hook._connection["master"] == "local[*]"
    assert ProvHook()._url() == "file:///data/prov"
