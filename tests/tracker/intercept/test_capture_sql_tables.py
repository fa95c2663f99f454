"""Tables that a step wrote are read by the next; tables of other catalogues without keys are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _sql_session import Session, itself, made_session  # noqa: F401
from oracle import outputs
from oracle.cases import configured
from oracle.tables import SKEW
from pyspark.sql.functions import lit

import provspark

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("kind", ["partitions", "buckets", "both"])
def test_tables_read_back(kind: str, spark: Any, sources: Path, tmp_path: Path) -> None:
    """A table that a step wrote is read by the next: joined by its buckets, pruned by its partitions."""
    by = {"partitions": "PARTITIONED BY (k)", "buckets": "CLUSTERED BY (k) SORTED BY (n) INTO 3 BUCKETS"}
    by["both"] = "PARTITIONED BY (v) CLUSTERED BY (k) INTO 2 BUCKETS"
    session = Session(spark, sources, tmp_path)
    try:
        session.run(
            lambda: spark.sql(
                f"CREATE TABLE made USING orc {by[kind]} LOCATION '{tmp_path / 't'}' AS SELECT * FROM rows"
            )
        )
        query = "SELECT a.n, b.n AS m FROM made a JOIN made b ON a.k = b.k WHERE a.v = 1 AND b.n < 30 AND a.k <> 7"
        expected = {
            (a[0], b[0])
            for a in SKEW.rows
            for b in SKEW.rows
            if a[1] == b[1] is not None and a[2] == 1 and b[0] < 30 and a[1] != 7
        }
        with configured(spark, {"spark.sql.autoBroadcastJoinThreshold": -1}):
            frame = spark.sql(query)
            assert ("Exchange hashpartitioning" in frame._jdf.queryExecution().executedPlan().toString()) == (
                kind == "partitions"
            )
            capture = session.run(lambda: frame.write.parquet(str(tmp_path / "out")))
        assert capture.untracked == ()
        found = outputs.read(tmp_path / "out").rows
        assert set(found) == expected and len(found) == len(expected)
        lines = (
            provspark.open((tmp_path / "store").as_uri())
            .backward(str(tmp_path / "out"), rows=range(len(found)))
            .table()
        )
        got: dict[int, list[int]] = {}
        for line in lines.sort_by([("row", "ascending"), ("occurrence", "ascending")]).to_pylist():
            assert line["dataset"] == f"file://{session.paths['skew']}"
            got.setdefault(line["row"], []).append(line["related_row"])
        assert {i: set(found[i]) for i in got} == {i: set(w) for i, w in got.items()}
        assert len(got) == len(found)
    finally:
        for name in ("one", "two", "made"):
            spark.sql(f"DROP TABLE IF EXISTS {name}")


DERBY = {
    "": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
    ".url": "jdbc:derby:memory:sql_writes;create=true",
    ".driver": "org.apache.derby.jdbc.EmbeddedDriver",
}


def test_tables_without_keys_are_refused_by_name(session: Session) -> None:
    spark = session.spark
    frame = spark.table("rows").where("n < 4")
    calls = [
        (lambda: frame.writeTo("derby.app.t").create(), "AppendData", 4),
        (lambda: frame.writeTo("derby.app.t").append(), "AppendData", 8),
        (lambda: frame.writeTo("derby.app.t").overwrite(lit(True)), "OverwriteByExpression", 4),
        (lambda: frame.writeTo("derby.app.t").createOrReplace(), "ReplaceTableAsSelect", 4),
        (lambda: spark.sql("INSERT INTO derby.app.t SELECT * FROM rows WHERE n < 2"), "AppendData", 6),
        (lambda: spark.sql("CREATE TABLE derby.app.u AS SELECT * FROM rows"), "AppendData", 6),
    ]
    with configured(spark, {f"spark.sql.catalog.derby{k}": v for k, v in DERBY.items()}):
        for call, node, count in calls:
            capture = session.run(call)
            assert [u.node for u in capture.untracked] == [node]
            assert capture.untracked[0].why and capture.untracked[0].site.startswith(__file__)
            assert spark.table("derby.app.t").count() == count


def test_a_table_is_created_in_a_folder_that_exists_and_is_empty(session: Session) -> None:
    """Spark writes there, although the command's mode is to fail if there is something."""
    (session.work / "made").mkdir()
    text = f"CREATE TABLE made USING parquet LOCATION '{session.work / 'made'}' AS SELECT * FROM rows WHERE n < 4"
    capture = session.run(lambda: session.spark.sql(text))
    assert (capture.untracked, [w.coverage for w in capture.manifest.writes]) == ((), ["exact"])
    assert session.witnesses(capture, "made") == itself(0, 1, 2, 3)
