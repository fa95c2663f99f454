"""pandas API on Spark: what it brings to the driver is read there; frames that it computes there are the script's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _reads import Edges
from oracle.cases import Frames, configured
from oracle.tables import DEPT

from provspark.tracker import attach

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]
ANSI = {"spark.sql.ansi.enabled": "false"}


def run(spark: Any, sources: Path, folder: Path, script: Any) -> Edges:
    import pyspark.pandas as ps

    path = str(Frames(spark, [DEPT], sources).paths["dept"])
    with (
        configured(spark, ANSI),
        ps.option_context("compute.default_index_type", "distributed", "compute.fail_on_ansi_mode", False),
        attach(store=(folder / "store").as_uri(), step="s") as capture,
    ):
        script(ps.read_parquet(path, columns=["k", "w"]), str(folder / "out"))
    assert capture.untracked == ()
    return Edges(folder / "store", capture.manifest)


def test_rows_brought_to_pandas(spark: Any, sources: Path, tmp_path: Path) -> None:
    edges = run(spark, sources, tmp_path, lambda frame, _: frame[frame.w > 5].to_pandas())
    read = edges.manifest.reads[-1]
    assert (read.action, read.coverage, read.output.rows) == ("DataFrame.toPandas", "exact", 3)
    assert sorted(end for ends in edges.of(read).values() for end in ends) == [("dept", 5), ("dept", 6), ("dept", 7)]


def test_a_small_frame_computed_on_the_driver(spark: Any, sources: Path, tmp_path: Path) -> None:
    """apply() computes it from rows that it reads: the new rows may come from any of these."""

    def script(frame: Any, out: str) -> None:
        frame.apply(lambda column: column * 2).to_spark().write.parquet(out)

    edges = run(spark, sources, tmp_path, script)
    (write,) = edges.manifest.writes
    rows = sum(read.output.rows for read in edges.manifest.reads)
    assert rows >= len(DEPT.rows)
    for ends in edges.of(write).values():
        assert {end[1:] for end in ends if end[0] == "reads"} == {(i, "possible") for i in range(rows)}


def test_a_frame_of_constants(spark: Any, sources: Path, tmp_path: Path) -> None:
    """One that the script's text shows comes from no read."""
    import pyspark.pandas as ps

    def script(frame: Any, out: str) -> None:
        frame.head(2).to_pandas()
        ps.DataFrame({"n": [1, 2], "t": ["a", "b"]}).to_spark().write.parquet(out)

    edges = run(spark, sources, tmp_path, script)
    (write,) = edges.manifest.writes
    assert edges.manifest.reads and [axis.role for axis in write.axes if axis.role == "reads"] == []
