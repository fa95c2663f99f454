"""SQL scripts and EXECUTE IMMEDIATE: each INSERT is a write, and what a script gives is plain Spark's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from _reads import Edges
from _sql_session import Session, made_session  # noqa: F401
from oracle.cases import configured
from oracle.tables import DEPT

pytestmark = pytest.mark.spark

SCRIPTS = [
    ("BEGIN INSERT INTO one SELECT * FROM rows WHERE n < 2; INSERT INTO two SELECT * FROM rows WHERE n < 3; END", 2),
    ("EXECUTE IMMEDIATE 'INSERT INTO one SELECT * FROM rows WHERE n < ?' USING 2", 1),
    ("BEGIN SELECT n FROM rows WHERE n < 2; SELECT v, n AS m FROM rows WHERE n < 2; END", 0),
    (
        "BEGIN DECLARE EXIT HANDLER FOR USER_RAISED_EXCEPTION BEGIN INSERT INTO two SELECT * FROM rows WHERE n < 3; "
        "SELECT 'caught' AS what; END; INSERT INTO one SELECT * FROM rows WHERE n = 5; "
        "INSERT INTO one SELECT n, v, raise_error('no') FROM rows; SELECT 'not reached' AS what; END",
        2,
    ),
    (
        "BEGIN DECLARE hi BIGINT; SET hi = (SELECT max(w) FROM heads); "
        "IF (SELECT count(*) FROM rows) > 100 THEN INSERT INTO one SELECT * FROM rows WHERE n < hi; END IF; END",
        1,
    ),
    ("BEGIN INSERT INTO one SELECT * FROM rows WHERE n < 2; SELECT raise_error('no'); END", 1),
]


@pytest.mark.parametrize(("text", "writes"), SCRIPTS, ids=["two", "immediate", "none", "handler", "branch", "fails"])
def test_scripts_run_as_they_do(session: Session, sources: Path, text: str, writes: int) -> None:
    """The result, what is raised and the tables are plain Spark's; each write is the step's."""
    spark = session.spark
    DEPT.read(spark, str(DEPT.place(sources))).createOrReplaceTempView("heads")

    def run() -> Any:
        with configured(spark, {"spark.sql.scripting.enabled": True}):
            try:
                frame = spark.sql(text)
                return frame.schema, frame.collect()
            except Exception as e:
                return type(e), re.sub(r"==+.*|JVM.*", "", str(e), flags=re.DOTALL)

    def left() -> Any:
        return [sorted(spark.table(t).collect()) for t in ("one", "two")]

    plain, tables = run(), left()
    for table in ("one", "two"):
        spark.sql(f"INSERT OVERWRITE {table} SELECT * FROM rows WHERE false")
    found = []
    capture = session.run(lambda: found.append(run()))
    assert (found, left(), capture.untracked) == ([plain], tables, ())
    assert [w.coverage for w in capture.manifest.writes] == ["exact"] * writes
    if "heads" in text:
        read = {Path(v.dataset.name).name for read in capture.manifest.reads for v in read.inputs}
        assert read == {"skew", "dept"}


LOOPS = {
    "FOR": "BEGIN FOR r AS SELECT n FROM rows WHERE n = 2 DO INSERT INTO one VALUES (r.n, 1, 1); END FOR; END",
    "SET": "BEGIN DECLARE x INT; SET x = (SELECT n FROM rows WHERE n = 2); INSERT INTO one VALUES (x, 1, 1); END",
    "WHERE": "BEGIN DECLARE x INT; SET x = (SELECT n FROM rows WHERE n = 2); INSERT INTO one SELECT x, 1, 1; END",
    "DECLARE": "BEGIN DECLARE x INT DEFAULT (SELECT n FROM rows WHERE n = 2); INSERT INTO one VALUES (x, 1, 1); END",
}


@pytest.mark.parametrize("how", LOOPS)
def test_rows_may_come_from_what_a_script_assigned(session: Session, how: str) -> None:
    with configured(session.spark, {"spark.sql.scripting.enabled": True}):
        try:
            capture = session.run(lambda: session.spark.sql(LOOPS[how]))
        except Exception as e:
            pytest.skip(f"this Spark refuses it: {type(e).__name__}")
    assert capture.untracked == ()
    edges = Edges(session.work / "store", capture.manifest)
    (write,) = edges.manifest.writes
    assert ("reads", 0, "possible") in edges.of(write)[0]
    assert any(end[0] == "skew" for read in edges.manifest.reads for end in edges.of(read)[0])
