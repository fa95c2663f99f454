"""What observes rows on their way: each stays the row it was, and what is asked for is context of later writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle import lineage
from oracle.cases import Frames
from oracle.tables import TABLES
from pyspark.sql import Observation
from pyspark.sql import functions as sf

from provspark.tracker import attach

pytestmark = pytest.mark.spark


def test_observation(spark: Any, sources: Path, tmp_path: Path) -> None:
    t, seen = Frames(spark, TABLES, sources), Observation("seen")
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        rows = t.emp.observe(seen, sf.count(sf.lit(1)).alias("n"), sf.sum("v").alias("v"))
        rows.filter("id > 3").write.parquet(str(tmp_path / "out"))
    assert capture.untracked == ()
    assert seen.get == {"n": 12, "v": 260}


def test_what_was_observed_is_context(spark: Any, sources: Path, tmp_path: Path) -> None:
    t, seen = Frames(spark, TABLES, sources), Observation()
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        t.dept.observe(seen, sf.max("w").alias("w")).write.parquet(str(tmp_path / "first"))
        t.emp.select("id").filter(sf.col("id") > seen.get["w"]).write.parquet(str(tmp_path / "out"))
    assert capture.untracked == ()
    answers = lineage.Lineage(tmp_path / "store", capture.manifest, TABLES, t.paths)
    assert set(answers.backward(tmp_path / "first", 8)) == {frozenset({("dept", 0, i)}) for i in range(8)}
    whole = {("dept", 1, i, "context") for i in range(8)}
    assert set(answers.backward(tmp_path / "out", 4)) == {frozenset({("emp", 0, i), *whole}) for i in range(8, 12)}
