"""Tables of a Hive metastore: what Spark itself writes is followed, what Hive's writers do is refused by name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import provspark

pytestmark = [pytest.mark.spark, pytest.mark.long]

SESSION = """
import json, sys
from pyspark.sql import SparkSession
from provspark.tracker import attach

work = sys.argv[1]
spark = (
    SparkSession.builder.master("local[1]").enableHiveSupport().config("spark.ui.enabled", False)
    .config("spark.sql.shuffle.partitions", 1).config("spark.sql.warehouse.dir", "file://" + work + "/tables")
    .config("spark.hadoop.javax.jdo.option.ConnectionURL", "jdbc:derby:" + work + "/metastore;create=true")
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -Dderby.system.home=" + work).getOrCreate()
)
spark.range(6).coalesce(1).write.parquet("file://" + work + "/in")
spark.read.parquet("file://" + work + "/in").createOrReplaceTempView("v")
for kind in ("parquet", "orc", "textfile"):
    spark.sql(f"CREATE TABLE of_{kind} (id BIGINT) STORED AS {kind}")
found = {}
for name, run in {
    "data source": lambda: spark.sql("CREATE TABLE of_spark USING parquet AS SELECT * FROM v"),
    "saveAsTable": lambda: spark.table("v").write.saveAsTable("saved"),
    "parquet": lambda: spark.sql("INSERT INTO of_parquet SELECT * FROM v"),
    "orc": lambda: spark.sql("INSERT OVERWRITE of_orc SELECT * FROM v WHERE id > 2"),
    "text": lambda: spark.sql("INSERT INTO of_textfile SELECT * FROM v"),
    "CREATE": lambda: spark.sql("CREATE TABLE made STORED AS parquet AS SELECT * FROM v"),
    "insertInto": lambda: spark.table("v").write.insertInto("of_textfile"),
    "folder": lambda: spark.sql(f"INSERT OVERWRITE LOCAL DIRECTORY '{work}/text' STORED AS textfile SELECT * FROM v"),
    "read parquet": lambda: spark.table("of_parquet").where("id > 1").write.parquet("file://" + work + "/out"),
    "read orc": lambda: spark.table("of_orc").where("id > 3").write.parquet("file://" + work + "/out_orc"),
    "read text": lambda: spark.table("of_textfile").write.parquet("file://" + work + "/out_text"),
}.items():
    with attach(store="file://" + work + "/store", step=name.replace(" ", "-")) as capture:
        run()
    found[name] = [[u.node, u.site] for u in capture.untracked] or [w.coverage for w in capture.manifest.writes]
tables = ("of_spark", "saved", "of_parquet", "of_orc", "of_textfile", "made")
found["counts"] = [spark.table(name).count() for name in tables]
spark.stop()
print(json.dumps(found))
"""


def test_tables(tmp_path: Path) -> None:
    script = tmp_path / "session.py"
    script.write_text(SESSION)
    done = subprocess.run([sys.executable, script, tmp_path / "work"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert found.pop("counts") == [6, 6, 6, 3, 12, 6]
    refused = {name: told for name, told in found.items() if told != ["exact"]}
    assert {name: [node for node, _ in told] for name, told in refused.items()} == {
        "text": ["InsertIntoHiveTable"],
        "CREATE": ["CreateHiveTableAsSelectCommand"],
        "insertInto": ["InsertIntoHiveTable"],
        "folder": ["InsertIntoHiveDirCommand"],
        "read text": ["HiveTableRelation"],
    }
    assert all(site.startswith(str(script)) for told in refused.values() for _, site in told)
    prov = provspark.open((tmp_path / "work" / "store").as_uri())
    source = f"file://{tmp_path}/work/in"
    for out, first in (("out", 2), ("out_orc", 4)):
        lines = prov.backward(f"file://{tmp_path}/work/{out}", rows=range(6 - first), to=source).table().to_pylist()
        assert [(x["row"], x["related_row"]) for x in lines] == [(n, n + first) for n in range(6 - first)]
