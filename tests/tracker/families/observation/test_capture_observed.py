"""What observes rows on their way: each stays the row it was, and what is asked for is a read on the driver."""

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


def test_what_was_observed_is_a_read(spark: Any, sources: Path, tmp_path: Path) -> None:
    t, seen = Frames(spark, TABLES, sources), Observation()
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        t.dept.observe(seen, sf.max("w").alias("w")).write.parquet(str(tmp_path / "first"))
        t.emp.select("id").filter(sf.col("id") > seen.get["w"]).write.parquet(str(tmp_path / "out"))
    assert capture.untracked == () and capture.manifest is not None
    answers = lineage.Lineage(tmp_path / "store", capture.manifest, TABLES, t.paths)
    assert set(answers.backward(tmp_path / "first", 8)) == {frozenset({("dept", 0, i)}) for i in range(8)}
    (read,) = capture.manifest.reads
    assert (read.action, read.single, [t.edges for t in read.tensors]) == ("Observation.get", True, [8])
