"""What Airflow's own commands say of the package."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.airflow


def airflow(home: Path, *command: str) -> str:
    env = {**os.environ, "AIRFLOW_HOME": str(home), "AIRFLOW__CORE__LOAD_EXAMPLES": "False"}
    done = subprocess.run(
        [sys.executable, "-m", "airflow", *command], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_airflow_lists_the_provider(tmp_path: Path) -> None:
    listed = json.loads(airflow(tmp_path, "providers", "list", "--output", "json"))
    assert [p["package_name"] for p in listed].count("airflow-provider-provspark") == 1
    one = airflow(tmp_path, "providers", "get", "airflow-provider-provspark", "--full", "--output", "json")
    assert "provspark.hooks.prov.ProvHook" in one


def test_airflow_lists_the_connection_type(tmp_path: Path) -> None:
    hooks = json.loads(airflow(tmp_path, "providers", "hooks", "--output", "json"))
    (ours,) = (h for h in hooks if h["connection_type"] == "provspark")
    assert ours["class"] == "provspark.hooks.prov.ProvHook"
    assert ours["conn_id_attribute_name"] == "prov_conn_id"


def test_airflow_lists_the_plugin(tmp_path: Path) -> None:
    plugins = json.loads(airflow(tmp_path, "plugins", "--output", "json"))
    (ours,) = (p for p in plugins if p["name"] == "provspark")
    assert "provspark.airflow.plugin:ProvSparkPlugin" in ours["source"]
