"""SQL commands that change rows are recorded with their line; other commands are not recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import provspark
from provspark.errors import RowOutOfRangeError
from provspark.tracker import attach

pytestmark = pytest.mark.spark


@pytest.fixture
def table(spark: Any) -> Iterator[str]:
    spark.sql("CREATE TABLE changed_0022 (a INT, p INT) USING parquet PARTITIONED BY (p)")
    spark.sql("INSERT INTO changed_0022 VALUES (1, 1), (2, 2)")
    yield "changed_0022"
    spark.sql("DROP TABLE IF EXISTS changed_0022")


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("TRUNCATE TABLE {t}", "TruncateTableCommand"),
        ("TRUNCATE TABLE {t} PARTITION (p = 1)", "TruncateTableCommand"),
        ("ALTER TABLE {t} DROP PARTITION (p = 1)", "AlterTableDropPartitionCommand"),
        ("ALTER TABLE {t} PARTITION (p = 1) RENAME TO PARTITION (p = 3)", "AlterTableRenamePartitionCommand"),
    ],
)
def test_a_command_that_changes_rows_is_told_with_its_line(
    text: str, node: str, spark: Any, table: str, tmp_path: Path
) -> None:
    before = spark.table(table).count()
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        spark.sql(text.format(t=table))
    (reason,) = capture.untracked
    assert (reason.node, reason.site.rpartition(":")[0]) == (node, __file__)
    assert spark.table(table).count() < before or node == "AlterTableRenamePartitionCommand"
    (write,) = capture.manifest.writes
    assert (write.coverage, write.reason, write.site) == ("untracked", reason, reason.site)
    assert write.output.dataset.name.endswith("/changed_0022")


def test_rows_that_java_code_writes_are_followed(spark: Any, tmp_path: Path) -> None:
    source, target, around = (str(tmp_path / name) for name in ("source", "target", "around"))
    store = (tmp_path / "store").as_uri()
    spark.range(4).write.parquet(source)
    spark.sql(f"CREATE TABLE loaded_0022 (id BIGINT) USING parquet LOCATION '{target}'")
    try:
        with attach(store=store, step="s") as capture:
            spark.read.parquet(source)._jdf.write().parquet(around)
            spark.read.parquet(source)._jdf.write().insertInto("loaded_0022")
    finally:
        spark.sql("DROP TABLE loaded_0022")
    assert capture.untracked == ()
    prov = provspark.open(store)
    for dataset in (around, target):
        for row, value in enumerate(prov.values(dataset, range(4)).table()["id"].to_pylist()):
            assert prov.values(prov.backward(dataset, [row])).table()["id"].to_pylist() == [value]


REMOVALS: dict[str, Callable[[Any], Any]] = {
    "DROP TABLE": lambda spark: spark.sql("DROP TABLE removed_0027.t"),
    "DROP DATABASE": lambda spark: spark.sql("DROP DATABASE removed_0027 CASCADE"),
    "saveAsTable": lambda spark: spark.range(2).write.mode("overwrite").saveAsTable("removed_0027.t"),
    "TRUNCATE": lambda spark: spark.sql("TRUNCATE TABLE removed_0027.t"),
}
"""`saveAsTable` drops the table that it overwrites before it makes a command."""


@pytest.mark.parametrize("removal", REMOVALS)
def test_rows_read_of_a_table_are_counted_before_they_are_gone(removal: str, spark: Any, tmp_path: Path) -> None:
    spark.sql("CREATE DATABASE removed_0027")
    try:
        spark.range(3).write.json(str(tmp_path / "rows"))
        spark.read.json(str(tmp_path / "rows")).write.format("csv").saveAsTable("removed_0027.t")
        with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
            assert spark.table("removed_0027.t").count() == 3
            REMOVALS[removal](spark)
    finally:
        spark.sql("DROP DATABASE IF EXISTS removed_0027 CASCADE")
    (read,) = capture.manifest.reads
    assert (read.coverage, [v.rows for v in read.inputs]) == ("coarse", [3])


def test_a_row_of_an_emptied_table_does_not_exist(spark: Any, table: str, tmp_path: Path) -> None:
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        spark.sql(f"TRUNCATE TABLE {table}")
    (write,) = capture.manifest.writes
    with pytest.raises(RowOutOfRangeError):
        provspark.open((tmp_path / "store").as_uri()).backward(write.output.dataset.uri, [0]).table()


def test_commands_that_change_no_rows_are_not_told(spark: Any, table: str, tmp_path: Path) -> None:
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        for text in (
            *(
                "SHOW TABLES",
                f"DESCRIBE TABLE {table}",
                f"SHOW PARTITIONS {table}",
                f"ANALYZE TABLE {table} COMPUTE STATISTICS",
            ),
            *(f"REFRESH TABLE {table}", f"CACHE TABLE {table}", f"UNCACHE TABLE {table}", "SET spark.sql.ansi.enabled"),
            *(f"CREATE OR REPLACE TEMP VIEW v_0022 AS SELECT * FROM {table}", "DROP VIEW v_0022", "SHOW CATALOGS"),
            *(f"ALTER TABLE {table} ADD COLUMNS (b INT)", f"ALTER TABLE {table} SET TBLPROPERTIES ('x' = '1')"),
            *(f"MSCK REPAIR TABLE {table}", f"EXPLAIN SELECT * FROM {table}", "DROP TABLE IF EXISTS nothing_0022"),
            *("DECLARE OR REPLACE VARIABLE x_0022 INT", "SET VAR x_0022 = 1", "CREATE DATABASE IF NOT EXISTS d_0022"),
            *("USE d_0022", "USE default", "DROP DATABASE d_0022", "SHOW FUNCTIONS", "SELECT 1"),
            "CLEAR CACHE",
        ):
            spark.sql(text)
    assert capture.untracked == ()
