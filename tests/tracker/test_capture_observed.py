"""What observes or transforms rows on their way: each stays the row it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, Frames, check
from oracle.operators import select
from oracle.tables import TABLES
from pyspark.ml import Pipeline
from pyspark.ml.feature import StringIndexer, VectorAssembler
from pyspark.sql import Observation
from pyspark.sql import functions as sf

from provspark.tracker import attach

pytestmark = pytest.mark.spark


def indexed(t: Frames) -> Any:
    rows = t.skew.fillna({"k": -1})
    stages = [StringIndexer(inputCol="k", outputCol="i"), VectorAssembler(inputCols=["i", "v"], outputCol="f")]
    return Pipeline(stages=stages).fit(rows).transform(rows).select("n", "v")


def test_pipeline(spark: Any, sources: Path, tmp_path: Path) -> None:
    check(Case("", indexed, lambda t: select(t.skew, "n", "v")), spark, TABLES, sources, tmp_path)


def test_observation(spark: Any, sources: Path, tmp_path: Path) -> None:
    t, seen = Frames(spark, TABLES, sources), Observation("seen")
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        rows = t.emp.observe(seen, sf.count(sf.lit(1)).alias("n"), sf.sum("v").alias("v"))
        rows.filter("id > 3").write.parquet(str(tmp_path / "out"))
    assert capture.untracked == ()
    assert seen.get == {"n": 12, "v": 260}
