"""The 99 queries of TPC-DS, as DuckDB's extension has them: all are tracked, and write plain Spark's rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import duckdb_extension_tpcds
import pyarrow.parquet as pq
import pytest
from oracle.cases import configured

from provspark.tracker import attach

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.xdist_group("tpcds")]

SCALE = 0.01


@pytest.fixture(scope="module")
def queries(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, str]]:
    root = tmp_path_factory.mktemp("tpcds")
    folder = Path(duckdb_extension_tpcds.__file__).parent / "extensions"
    db = duckdb.connect()
    db.execute(f"LOAD '{next(folder.rglob('tpcds.duckdb_extension'))}'")
    db.execute(f"CALL dsdgen(sf={SCALE})")
    names = [name for (name,) in db.execute("SHOW TABLES").fetchall()]
    for name in names:
        db.execute(f"COPY {name} TO '{root}/{name}.parquet' (FORMAT parquet)")
        spark.read.parquet(str(root / f"{name}.parquet")).createOrReplaceTempView(name)
    texts = dict(db.execute("SELECT query_nr, query FROM tpcds_queries()").fetchall())
    db.close()
    with configured(spark, {"spark.sql.ansi.doubleQuotedIdentifiers": True}):  # aliases in the texts
        yield texts
    for name in names:
        spark.catalog.dropTempView(name)


@pytest.mark.parametrize("number", range(1, 100))
def test_query(number: int, queries: dict[int, str], spark: Any, tmp_path: Path) -> None:
    text = queries[number].rstrip().rstrip(";")
    spark.sql(text).toDF(*columns(spark, text)).write.parquet(str(tmp_path / "plain"))
    with attach(store=(tmp_path / "store").as_uri(), step="query") as capture:
        spark.sql(text).toDF(*columns(spark, text)).write.parquet(str(tmp_path / "out"))
    assert rows(tmp_path / "out") == rows(tmp_path / "plain")
    assert not capture.untracked
    assert capture.manifest is not None
    assert [write.coverage for write in capture.manifest.writes] == ["exact"]


def columns(spark: Any, text: str) -> list[str]:
    """Names that Parquet takes: some queries repeat one."""
    return [f"c{i}" for i in range(len(spark.sql(text).columns))]


def rows(path: Path) -> Counter[Any]:
    """Multiset of rows; sums of doubles come in any order, so twelve digits of them count."""
    table = pq.read_table(path)
    return Counter(tuple(rounded(v) for v in line.values()) for line in table.to_pylist())


def rounded(value: Any) -> Any:
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.12g}")
    return value.normalize() if isinstance(value, Decimal) else value
