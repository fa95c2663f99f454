"""Commands of Delta Lake, by SQL and by methods: the table is plain Spark's, and the step tells each with its line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from _jars import DELTA, jars

import provspark

pytestmark = [pytest.mark.spark, pytest.mark.long]
HEAD = """
import sys
from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.jars", {jars!r})
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.databricks.delta.snapshotPartitions", 1)
    .config("spark.sql.shuffle.partitions", 2)
    .config("spark.ui.enabled", False)
    .getOrCreate()
)
t, src, out = "delta.`" + sys.argv[1] + "/table`", sys.argv[1] + "/src", sys.argv[1] + "/out"
"""
MAKE = "spark.range(6).selectExpr('id', 'id % 2 AS k').write.format('delta').save(sys.argv[1] + '/table')\n"
METHODS = "from delta.tables import DeltaTable\nd = DeltaTable.forPath(spark, sys.argv[1] + '/table')\n"
CASES = {
    "merge": (
        "text = f'MERGE INTO {t} x USING parquet.`{src}` s ON x.id = s.id WHEN MATCHED THEN UPDATE SET k = 9'\n"
        "spark.sql(text)  # R"
    ),
    "update": "spark.sql(f'UPDATE {t} SET k = 7 WHERE id = 1')  # R",
    "delete": "spark.sql(f'DELETE FROM {t} WHERE id = 1')  # R",
    "optimize": "spark.sql(f'OPTIMIZE {t}')  # R",
    "restore": "spark.sql(f'UPDATE {t} SET k = 8')  # S\nspark.sql(f'RESTORE TABLE {t} TO VERSION AS OF 0')  # R",
    "delete by a method": METHODS + "d.delete('id = 2')  # R",
    "update by a method": METHODS + "d.update('id = 2', {'k': '5'})  # R",
    "merge by a method": (
        METHODS + "s = spark.read.parquet(src).alias('s')\n"
        "m = d.alias('x').merge(s, 'x.id = s.id').whenMatchedUpdate(set={'k': '4'})\nm.execute()  # R"
    ),
    "optimize by a method": METHODS + "d.optimize().executeCompaction()  # R",
    "mergeInto": (
        "from pyspark.sql import functions as F\n"
        "spark.sql(f'CREATE TABLE named USING delta AS SELECT * FROM {t}')  # S\n"
        "s = spark.read.parquet(src).alias('s')\n"
        "m = s.mergeInto('named', F.expr('named.id = s.id')).whenNotMatched().insertAll()\n"
        "m.merge()  # R"
    ),
    "a read": "spark.read.format('delta').load(sys.argv[1] + '/table').write.parquet(out)  # R",
    "insert": "spark.sql(f'INSERT INTO {t} VALUES (77, 1)')  # R",
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Delta's Python package, which needs nothing but Spark."""
    folder = tmp_path_factory.mktemp("delta")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(folder),
        "delta-spark==4.4.0",
    ]
    subprocess.run(pip, check=True)
    return folder


def run(folder: Path, text: str, packages: Path, *command: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    (folder / "job.py").write_text(text)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(packages), os.environ.get("PYTHONPATH", "")])}
    return subprocess.run(
        [*command, str(folder / "job.py"), str(folder)],
        capture_output=True,
        text=True,
        env=env,
        cwd=folder,
        timeout=300,
    )


@pytest.mark.parametrize("name", CASES)
def test_a_command_of_delta(name: str, packages: Path, tmp_path: Path) -> None:
    head = dedent(HEAD).format(jars=",".join(map(str, jars(DELTA))))
    head += "spark.range(3, 9).selectExpr('id', '1L AS k').write.mode('overwrite').parquet(src)\n"
    end = "\nprint('ROWS', sorted(map(tuple, spark.sql(f'SELECT * FROM {t}').collect())))\n"
    text = head + MAKE + CASES[name] + end
    capture = [sys.executable, "-m", "provspark.cli.main", "run", "--store", str(tmp_path / "prov")]
    plain, captured = (
        run(tmp_path / "plain", text, packages, sys.executable),
        run(tmp_path / "c", text, packages, *capture),
    )
    rows = [line for done in (plain, captured) for line in done.stdout.splitlines() if line.startswith("ROWS")]
    assert len(rows) == 2 and rows[0] == rows[1], plain.stderr[-3000:] + captured.stderr[-3000:]
    (step,) = provspark.open(str(tmp_path / "prov")).graph.manifests
    line = next(i for i, code in enumerate(text.splitlines(), 1) if code.endswith("# R"))
    told = [u for u in step.untracked if u.site == f"{tmp_path / 'c' / 'job.py'}:{line}"]
    assert len(told) == 1, [str(u) for u in step.untracked]
    assert not [u for u in step.untracked if not u.site], [str(u) for u in step.untracked]
    left = {w.output.dataset.name.rsplit("/", 1)[-1] for w in step.writes if w.reason == told[0]}
    assert left == {"out" if name == "a read" else "named" if name == "mergeInto" else "table"}
    assert name != "a read" or "Delta Lake" in told[0].why
