"""A session of Spark Connect within a script: the step says that it sees nothing of it, and where it began."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import provspark

pytestmark = pytest.mark.spark
JOB = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote("local[1]").getOrCreate()
spark.range(5).write.parquet(sys.argv[1])
spark.stop()
"""


@pytest.mark.parametrize(("on_error", "code"), [("warn", 0), ("fail", 1)])
def test_a_session_of_spark_connect(on_error: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(JOB)
    command = [
        sys.executable,
        "-m",
        "provspark.cli.main",
        "run",
        "--store",
        str(tmp_path / "prov"),
        "--on-error",
        on_error,
    ]
    done = subprocess.run(
        [*command, str(tmp_path / "job.py"), str(tmp_path / "out")],
        capture_output=True,
        text=True,
        env=os.environ,
        timeout=300,
    )
    assert done.returncode == code, done.stderr[-5000:]
    (step,) = provspark.open(str(tmp_path / "prov")).graph.manifests
    assert [(u.node, u.site) for u in step.untracked] == [("Spark Connect", f"{tmp_path / 'job.py'}:5")]
    assert "Create a classic session in the script" in done.stderr
    assert (tmp_path / "out").exists() == (code == 0)
    assert code or pq.read_table(tmp_path / "out").num_rows == 5
