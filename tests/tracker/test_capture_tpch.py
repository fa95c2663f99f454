"""All queries of TPC-H: each is tracked, and writes what plain Spark writes; `_witnesses.py` proves its witnesses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _witnesses import SAMPLED, Sample, Tables, check
from oracle import outputs
from oracle.cases import Case, compare_outputs

from provspark.tracker import attach

pytestmark = [pytest.mark.spark, pytest.mark.long]

QUERIES = Path(__file__).parents[2] / "benchmarks" / "tpch"
CONTEXT = {2, 11, 15, 17, 20, 22}
"""Those with a scalar subquery."""


@pytest.fixture(scope="module")
def tables(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    """Make TPC-H's tables, of scale 0.01, temporary views."""
    folder = tmp_path_factory.mktemp("tpch")
    tool = Path(sys.executable).parent / "tpchgen-cli"
    subprocess.run([tool, "parquet", "-s", "0.01", "--output-dir", folder], check=True, capture_output=True)
    made = Tables.of(spark, folder)
    yield made
    made.drop()


@pytest.mark.parametrize("query", range(1, 23))
def test_tpch(
    query: int, tables: Tables, spark: Any, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    text = (QUERIES / f"q{query}.sql").read_text(encoding="utf-8")
    spark.sql(text).write.parquet(str(tmp_path / "plain"))
    with attach(store=(tmp_path / "store").as_uri(), step=f"q{query}") as capture:
        spark.sql(text).write.parquet(str(tmp_path / "out"))
    case = Case(str(query), lambda t: None, lambda t: None)  # type: ignore[arg-type,return-value]
    plain, tracked = outputs.read(tmp_path / "plain"), outputs.read(tmp_path / "out")
    compare_outputs(case, plain, tracked)
    assert capture.untracked == () and capture.manifest is not None
    (write,) = capture.manifest.writes
    assert write.coverage == "exact"
    covered = {kind: {t.out for t in write.tensors if t.kind == kind} for kind in ("data", "context")}
    made = any(v is not None for row in plain.rows for v in row)
    assert not made or 0 in covered["data"]
    assert not made or not covered["context"] or query in CONTEXT
    tally = check(text, tables, capture.manifest, tmp_path / "out", Sample(*SAMPLED, query))
    record_property("TPC-H", tally.counts)
    assert not tally.lacking
