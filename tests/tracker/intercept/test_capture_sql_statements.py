"""Statements with several INSERTs, with parameters, that write nothing, that fail: what they give is plain Spark's."""

from __future__ import annotations

from typing import Any

import pytest
from _sql_session import Session, error, itself, made_session  # noqa: F401
from pyspark.sql.functions import lit, udf

pytestmark = pytest.mark.spark

FEW = "n % 10 = 3"


def test_one_from_with_two_inserts(session: Session) -> None:
    text = f"FROM rows INSERT INTO one SELECT n, v, k WHERE {FEW} INSERT OVERWRITE two SELECT n, v, k WHERE n < 5"
    capture = session.run(lambda: session.spark.sql(text))
    assert capture.untracked == ()
    assert session.witnesses(capture, "one") == itself(*range(3, 150, 10))
    assert session.witnesses(capture, "two") == itself(0, 1, 2, 3, 4)
    assert session.spark.table("one").count() == 15


def test_one_from_with_a_table_and_a_folder(session: Session) -> None:
    folder = f"INSERT OVERWRITE DIRECTORY '{session.work / 'three'}' USING parquet SELECT * WHERE n < 4"
    capture = session.run(lambda: session.spark.sql(f"FROM rows {folder} INSERT INTO one SELECT * WHERE {FEW}"))
    assert capture.untracked == ()
    assert session.witnesses(capture, "three") == itself(0, 1, 2, 3)
    assert session.witnesses(capture, "one") == itself(*range(3, 150, 10))


def test_two_inserts_into_one_table(session: Session) -> None:
    text = "FROM rows INSERT INTO one SELECT n, v, k WHERE n < 5 INSERT INTO one SELECT n, v, k WHERE n >= 5"
    capture = session.run(lambda: session.spark.sql(text))
    assert (capture.untracked, [w.coverage for w in capture.manifest.writes]) == ((), ["exact", "exact"])
    assert session.witnesses(capture, "one") == itself(*range(150))


@pytest.mark.parametrize(
    ("text", "args", "more"),
    [
        ("INSERT INTO one SELECT * FROM rows WHERE n < :most", {"most": 3}, {}),
        ("INSERT INTO one SELECT * FROM rows WHERE n < ? AND n >= ?", [3, 0], {}),
        ("INSERT INTO one SELECT * FROM {frame} WHERE n < {most}", None, {"most": 3}),
        ("INSERT INTO one SELECT * FROM {frame} WHERE n < :least + {one}", {"least": 2}, {"one": 1}),
    ],
)
def test_parameters(session: Session, text: str, args: Any, more: dict[str, Any]) -> None:
    frame = {"frame": session.spark.table("rows")} if "frame" in text else {}
    capture = session.run(lambda: session.spark.sql(text, args, **more, **frame))
    assert capture.untracked == ()
    assert session.witnesses(capture, "one") == itself(0, 1, 2)


def test_what_writes_nothing_is_spark_s_own(session: Session) -> None:
    spark = session.spark
    calls: list[Any] = []
    spark.udf.register("noting", lambda: calls.append(1) or 1, "int")
    asked = {
        "SELECT n FROM rows WHERE n < 2 ORDER BY n": [(0,), (1,)],
        "SELECT noting() AS one": [(1,)],
        "EXPLAIN INSERT INTO one SELECT * FROM rows": None,
        "SHOW TABLES LIKE 'one'": [("default", "one", False)],
    }

    def run() -> None:
        for text, expected in asked.items():
            found = [tuple(r) for r in spark.sql(text).collect()]
            assert expected is None or found == expected
        for text, args in (("INSERT INTO", None), ("INSERT INTO none_such SELECT 1", None), ("SELECT :x", {"y": 1})):
            plain = error(lambda text=text, args=args: session_sql(spark, text, args))
            assert error(lambda text=text, args=args: spark.sql(text, args)) == plain

    capture = session.run(run)
    assert (capture.untracked, capture.manifest.writes) == ((), ())
    assert "sql" not in vars(spark._jsparkSession)
    assert spark.sql("INSERT INTO one SELECT * FROM rows WHERE n < 2").collect() == []


def session_sql(spark: Any, text: str, args: Any) -> Any:
    """As Spark does without capture."""
    java = type(spark._jsparkSession).__getattr__(spark._jsparkSession, "sql")
    return java(text, {k: lit(v)._jc for k, v in (args or {}).items()})


def test_an_insert_gives_what_it_gives_and_runs_once(session: Session) -> None:
    counter = session.spark.sparkContext.accumulator(0)

    def count(n: int) -> int:
        counter.add(1)
        return n

    session.spark.udf.register("counted", udf(count, "int", useArrow=False).asNondeterministic())
    found = []
    capture = session.run(
        lambda: found.append(session.spark.sql("INSERT INTO one SELECT counted(n), v, k FROM rows").collect())
    )
    assert (found, capture.untracked, counter.value) == ([[]], (), 150)


def test_a_failing_insert_fails_as_it_does(session: Session) -> None:
    text = "INSERT INTO one SELECT n, v, raise_error('no ' || n) FROM rows WHERE n = 5"
    plain = error(lambda: session.spark.sql(text))
    found = []
    capture = session.run(lambda: found.append(error(lambda: session.spark.sql(text))))
    assert found == [plain]
    assert (capture.untracked, capture.manifest.writes) == ((), ())


def test_a_merge_that_spark_refuses_is_no_write(session: Session) -> None:
    text = "MERGE INTO one USING rows ON one.n = rows.n WHEN MATCHED THEN DELETE"
    found = []
    capture = session.run(lambda: found.append(error(lambda: session.spark.sql(text))))
    assert "MERGE INTO TABLE" in found[0][1]
    assert capture.untracked == ()
