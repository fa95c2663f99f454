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

spark = SparkSession.builder{way}.getOrCreate()
spark.range(5).write.parquet(sys.argv[1])
spark.stop()
"""
REMOTE = '.remote("local[1]")'


@pytest.mark.parametrize(
    ("way", "env", "on_error", "code"),
    [
        (REMOTE, {}, "warn", 0),
        (REMOTE, {}, "fail", 1),
        ('.master("local[1]").config("spark.api.mode", "connect")', {}, "warn", 0),
        ("", {"SPARK_REMOTE": "local[1]"}, "warn", 0),
    ],
    ids=["remote", "remote-fail", "api-mode", "environment"],
)
def test_a_session_of_spark_connect(way: str, env: dict[str, str], on_error: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(JOB.format(way=way))
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
        env=os.environ | env,
        timeout=300,
    )
    assert done.returncode == code, done.stderr[-5000:]
    (step,) = provspark.open(str(tmp_path / "prov")).graph.manifests
    assert [(u.node, u.site) for u in step.untracked] == [("Spark Connect", f"{tmp_path / 'job.py'}:5")]
    assert "Create a classic session instead" in done.stderr
    assert (tmp_path / "out").exists() == (code == 0)
    assert code or pq.read_table(tmp_path / "out").num_rows == 5
