"""Drivers with a Python of their own, whose Spark differs from that of Airflow's environment."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from _dags import Run, run_dag

import provspark
from provspark.tracker.runner import SUPPORTED

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.long]
JOB = """
import sys
import pyspark
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
assert pyspark.__version__ == spark.version, (pyspark.__version__, spark.version)
print("runs on", spark.version)
spark.range(100).selectExpr("id", "id % 7 AS k").write.parquet(sys.argv[1] + "/rows")
spark.read.parquet(sys.argv[1] + "/rows").groupBy("k").count().coalesce(1).write.parquet(sys.argv[1] + "/counts")
"""
DAG = """
from airflow.sdk import DAG
from provspark.operators.spark import ProvSparkOperator

with DAG("drivers") as dag:
    ProvSparkOperator(
        task_id="count",
        application={job!r},
        application_args=[{out!r}],
        prov_store={store!r},
        on_error={on_error!r},
        env_vars={{"PYSPARK_DRIVER_PYTHON": {python!r}, "PYSPARK_PYTHON": {python!r}}},
    )
"""


def environment(folder: Path, *packages: str) -> Path:
    """Make a virtual environment with some packages, and those of this one behind them; return its Python."""
    venv.create(folder, symlinks=True)
    site = next((folder / "lib").iterdir()) / "site-packages"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), *packages]
    subprocess.run(pip, check=True)
    (site / "others.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    return folder / "bin" / "python"


def run(folder: Path, python: Path, on_error: str = "warn") -> Run:
    (folder / "dags").mkdir(parents=True)
    (folder / "job.py").write_text(JOB)
    given = {"job": str(folder / "job.py"), "out": str(folder / "out"), "store": str(folder / "prov")}
    (folder / "dags" / "drivers.py").write_text(DAG.format(**given, python=str(python), on_error=on_error))
    return run_dag(folder / "dags", "drivers", folder / "airflow", {})


def counts(folder: Path) -> dict[int, int]:
    return {row["k"]: row["count"] for row in pq.read_table(folder / "out" / "counts").to_pylist()}


def test_a_newer_spark_than_airflows(tmp_path: Path) -> None:
    python = environment(tmp_path / "venv", "pyspark==4.3.0")
    done = run(tmp_path / "run", python)
    assert done.states() == {"count": "success"}, done.log[-5000:]
    assert "runs on 4.3.0" in done.log
    assert counts(tmp_path / "run") == {k: 15 if k < 2 else 14 for k in range(7)}
    assert [o["coverage"] for o in done.xcom("count")["outputs"]] == ["exact", "exact"]


def test_a_spark_that_is_not_supported(tmp_path: Path) -> None:
    """The job runs as without capture; where lost lineage is to fail the job, it does."""
    python = environment(tmp_path / "venv", "pyspark==3.5.9", "py4j==0.10.9.7")
    done = run(tmp_path / "run", python)
    assert done.states() == {"count": "success"}, done.log[-5000:]
    assert "runs on 3.5.9" in done.log
    assert counts(tmp_path / "run") == {k: 15 if k < 2 else 14 for k in range(7)}
    assert f"the job runs without capture. pyspark 3.5.9 is not supported. {SUPPORTED}" in done.log
    (step,) = provspark.open(str(tmp_path / "run" / "prov")).graph.manifests
    assert (step.status, [u.node for u in step.untracked]) == ("succeeded", ["attach"])
    done = run(tmp_path / "fails", python, "fail")
    assert done.states() == {"count": "failed"}
    assert not (tmp_path / "fails" / "out").exists() and "pyspark 3.5.9 is not supported" in done.log
