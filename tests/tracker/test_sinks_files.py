from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F
from sinks_trial import READERS, Trial, check, contents

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def trial(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial(spark, tmp_path_factory.mktemp("jar"))


def numbers(spark: Any, rows: int = 100, parts: int = 4) -> Any:
    return spark.range(0, rows, 1, parts).withColumn("x", F.col("id") % 7)


def same_as_plain(trial: Trial, frame: Any, tmp_path: Path, end: str = "parquet", **how: Any) -> Any:
    """Write with and without the tap; the files must be alike, and the pieces right."""
    result = trial.write(frame, end, str(tmp_path / "out"), **how)
    check(tmp_path / "out", result, READERS[end])
    getattr(how.get("setup", lambda w: w)(frame.write), end)(str(tmp_path / "plain"))
    assert contents(tmp_path / "out", READERS[end]) == contents(tmp_path / "plain", READERS[end])
    return result


def test_narrow(spark: Any, trial: Trial, tmp_path: Path) -> None:
    result = same_as_plain(trial, numbers(spark).where("x <> 3"), tmp_path)
    version = result.written.version
    assert version.dataset.name == str(tmp_path / "out") == result.sink.dataset.name
    assert version.format == "parquet" and version.files.written.all()
    assert [(f.name, f.type) for f in version.fields] == [("id", "bigint"), ("x", "bigint")]
    stats = [(tmp_path / "out" / p).stat() for p in version.files.paths]
    assert version.files.sizes.tolist() == [s.st_size for s in stats]
    assert version.files.mtimes.tolist() == [s.st_mtime_ns // 1_000_000 for s in stats]
