"""SQL commands that change rows are recorded with their line; other commands are not recorded."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest

import provspark
from provspark.errors import RowOutOfRangeError, UntrackedError
from provspark.tracker import attach
from provspark.tracker.spark.jvm import Jvm

pytestmark = pytest.mark.spark
CHANGING = frozenset(
    (
        *("AlterTableDropPartitionCommand", "AlterTableRenamePartitionCommand", "AppendData", "CreateFlowCommand"),
        *("CreateDataSourceTableAsSelectCommand", "CreateHiveTableAsSelectCommand", "CreateMaterializedViewAsSelect"),
        *("CreateStreamingTable", "CreateStreamingTableAsSelect", "CreateTableAsSelect", "DeleteFromTable"),
        *("DeleteFromTableWithFilters", "DropPartitions", "ExternalCommandExecutor", "InsertIntoDataSourceCommand"),
        *("InsertIntoDataSourceDirCommand", "InsertIntoHadoopFsRelationCommand", "InsertIntoHiveDirCommand"),
        *("InsertIntoHiveTable", "LoadData", "LoadDataCommand", "MergeIntoTable", "OverwriteByExpression"),
        *("OverwritePartitionsDynamic", "RenamePartitions", "ReplaceColumns", "ReplaceData", "ReplaceTable"),
        *("ReplaceTableAsSelect", "SaveIntoDataSourceCommand", "TruncatePartition", "TruncateTable"),
        *("TruncateTableCommand", "UpdateTable", "WriteDelta"),
    )
)
"""Commands of Spark that may change the rows of a table, or write others."""


def commands(spark: Any) -> Iterator[str]:
    """The names of all commands in Spark's jars."""
    jvm = spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    kind = jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.plans.logical.Command", False, loader)
    for jar in (Path(pyspark.__file__).parent / "jars").glob("spark-*.jar"):
        if not any(part in jar.name for part in ("catalyst", "spark-sql_", "spark-hive_")):
            continue
        for entry in zipfile.ZipFile(jar).namelist():
            name = entry.removesuffix(".class").replace("/", ".")
            if "$" in name or not entry.endswith(".class") or not any(p in name for p in ("logical", "execution")):
                continue
            try:
                found = jvm.java.lang.Class.forName(name, False, loader)
            except Exception:  # of a library that Spark does not bring
                continue
            if kind.isAssignableFrom(found) and not jvm.java.lang.reflect.Modifier.isAbstract(found.getModifiers()):
                yield name.rsplit(".", 1)[-1]


def test_every_command_of_spark_is_known_to_change_rows_or_not(spark: Any) -> None:
    quiet = set(str(Jvm(spark).new("Commands").quiet()).split())
    found = set(commands(spark))
    assert found - quiet - CHANGING == set() and quiet & CHANGING == set()


@pytest.fixture
def table(spark: Any) -> Iterator[str]:
    spark.sql("CREATE TABLE changed_0022 (a INT, p INT) USING parquet PARTITIONED BY (p)")
    spark.sql("INSERT INTO changed_0022 VALUES (1, 1), (2, 2)")
    yield "changed_0022"
    spark.sql("DROP TABLE IF EXISTS changed_0022")


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("TRUNCATE TABLE {t}", "TruncateTable"),
        ("TRUNCATE TABLE {t} PARTITION (p = 1)", "TruncatePartition"),
        ("ALTER TABLE {t} DROP PARTITION (p = 1)", "DropPartitions"),
        ("ALTER TABLE {t} PARTITION (p = 1) RENAME TO PARTITION (p = 3)", "RenamePartitions"),
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
    assert spark.table(table).count() < before or node == "RenamePartitions"
    (write,) = capture.manifest.writes
    assert (write.coverage, write.reason, write.site) == ("untracked", reason, reason.site)
    assert write.output.dataset.name.endswith("/changed_0022")


def test_rows_that_went_into_a_command_stop_at_it(spark: Any, tmp_path: Path) -> None:
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
    assert {w.output.dataset.name: (w.coverage, w.complete) for w in capture.manifest.writes} == {
        around: ("untracked", True),
        target: ("untracked", True),
    }
    prov = provspark.open(store)
    for dataset, direction, told in ((source, "forward", 2), (around, "backward", 1), (target, "backward", 1)):
        with pytest.raises(UntrackedError, match="bypassed capture"):
            getattr(prov, direction)(dataset, [1])
        assert len(prov.trace(dataset, [1], direction).stops) == told


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
        ):
            spark.sql(text)
    assert capture.untracked == ()
