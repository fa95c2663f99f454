"""The 99 queries of TPC-DS, as DuckDB's extension has them: all are tracked, and write plain Spark's rows.

Witnesses are proved by running again: `_witnesses.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import duckdb_extension_tpcds
import pyarrow.parquet as pq
import pytest
from _witnesses import SAMPLED, Sample, Tables, check, values
from oracle.cases import configured

from provspark.tracker import attach

pytestmark = [pytest.mark.spark, pytest.mark.long]

SCALE = 0.01
STAYS: dict[tuple[int, str], str] = {}
"""Rows that may come as often without the witnesses of an occurrence, by query and table, and why."""


@pytest.fixture(scope="module")
def queries(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[int, str], Tables]]:
    root = tmp_path_factory.mktemp("tpcds")
    folder = Path(duckdb_extension_tpcds.__file__).parent / "extensions"
    db = duckdb.connect()
    db.execute(f"LOAD '{next(folder.rglob('tpcds.duckdb_extension'))}'")
    db.execute(f"CALL dsdgen(sf={SCALE})")
    for (name,) in db.execute("SHOW TABLES").fetchall():
        db.execute(f"COPY {name} TO '{root}/{name}.parquet' (FORMAT parquet)")
    texts = dict(db.execute("SELECT query_nr, query FROM tpcds_queries()").fetchall())
    db.close()
    tables = Tables.of(spark, root)
    with configured(spark, {"spark.sql.ansi.doubleQuotedIdentifiers": True}):  # aliases in the texts
        yield {number: text.rstrip().rstrip(";") for number, text in texts.items()}, tables
    tables.drop()


@pytest.mark.parametrize("number", range(1, 100))
def test_query(
    number: int,
    queries: tuple[dict[int, str], Tables],
    spark: Any,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    texts, tables = queries
    text = texts[number]
    out = tmp_path / "out"
    named(spark, text).write.parquet(str(tmp_path / "plain"))
    with attach(store=(tmp_path / "store").as_uri(), step="query") as capture:
        named(spark, text).write.parquet(str(out))
    assert values(pq.read_table(out)) == values(pq.read_table(tmp_path / "plain"))
    assert not capture.untracked
    assert capture.manifest is not None
    assert [write.coverage for write in capture.manifest.writes] == ["exact"]
    tally = check(text, tables, capture.manifest, out, Sample(*SAMPLED, number))
    record_property("TPC-DS", tally.counts)
    assert not [line for line in tally.lacking if (number, line.table) not in STAYS]


def named(spark: Any, text: str) -> Any:
    """With names that Parquet takes: some queries repeat one."""
    frame = spark.sql(text)
    return frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))
