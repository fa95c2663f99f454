"""Tables of a JDBCTableCatalog, on the Derby that Spark brings along: a row is its key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from oracle.cases import configured
from oracle.tables import EMP
from pyspark.sql import functions as sf

import provspark
from provspark.errors import UnsupportedPlanError
from provspark.tracker import attach

pytestmark = pytest.mark.spark

PEOPLE = "shop.APP.people"


@pytest.fixture
def emp(spark: Any, sources: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A frame of id and v; the catalogue ``shop`` holds a database of the test's own."""
    name = re.sub(r"\W", "_", request.node.name)
    place = {
        "spark.sql.catalog.shop": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        "spark.sql.catalog.shop.url": f"jdbc:derby:memory:{name};create=true",
        "spark.sql.catalog.shop.driver": "org.apache.derby.jdbc.EmbeddedDriver",
        f"spark.provspark.keys.{PEOPLE}": "id",
    }
    session = spark.newSession()
    with configured(session, place):
        yield EMP.read(session, str(EMP.place(sources))).select("id", "v")


def step(work: Path, call: Callable[[], Any], on_error: Any = "warn") -> Any:
    with attach(store=(work / "store").as_uri(), step="shop", on_error=on_error) as capture:
        call()
    return capture


def of(work: Path, frame: Any, dataset: Any) -> dict[int, set[tuple[str, int]]]:
    """By id, which employees and which former rows of the table each row of it came from, in one step."""
    ids = sorted((row.id for row in frame.sparkSession.table(PEOPLE).select("id").collect()), key=str)
    prov = provspark.open((work / "store").as_uri())
    lines = prov.backward(dataset.uri, rows=range(len(ids)), to=frame.inputFiles()[0].rsplit("/", 1)[0]).table()
    out: dict[int, set[tuple[str, int]]] = {i: set() for i in ids}
    for line in lines.to_pylist():
        out[ids[line["row"]]].add((line["kind"], line["related_row"]))
    return out


def test_created_appended_to_and_overwritten(emp: Any, tmp_path: Path) -> None:
    spark = emp.sparkSession
    emp.createOrReplaceTempView("emp")
    first = step(tmp_path, lambda: emp.where("id < 4").writeTo(PEOPLE).create())
    assert first.untracked == ()
    dataset = first.manifest.writes[0].output.dataset
    assert (dataset.namespace.split(":")[0], dataset.name) == ("derby", "APP.people")
    more = step(tmp_path, lambda: emp.where("id IN (6, 8)").writeTo(PEOPLE).append())
    assert more.untracked == ()
    assert of(tmp_path, emp, dataset) == {i: {("data", i)} for i in (0, 1, 2, 3, 6, 8)}
    text = f"INSERT INTO {PEOPLE} SELECT id, v FROM emp WHERE id = 9"
    assert step(tmp_path, lambda: spark.sql(text)).untracked == ()
    assert of(tmp_path, emp, dataset) == {i: {("data", i)} for i in (0, 1, 2, 3, 6, 8, 9)}
    last = step(tmp_path, lambda: emp.where("id > 9").writeTo(PEOPLE).overwrite(sf.lit(True)))
    assert last.untracked == ()
    assert [tuple(r) for r in spark.table(PEOPLE).orderBy("id").collect()] == [(10, 10), (11, 70)]
    assert of(tmp_path, emp, dataset) == {i: {("data", i)} for i in (10, 11)}


def test_created_by_a_query(emp: Any, tmp_path: Path) -> None:
    spark = emp.sparkSession
    emp.createOrReplaceTempView("emp")
    made = step(tmp_path, lambda: spark.sql(f"CREATE TABLE {PEOPLE} AS SELECT id, v FROM emp WHERE id IN (5, 7)"))
    assert made.untracked == ()
    assert of(tmp_path, emp, made.manifest.writes[0].output.dataset) == {i: {("data", i)} for i in (5, 7)}


def test_filled_by_a_writer(emp: Any, tmp_path: Path) -> None:
    emp.sparkSession.sql(f"CREATE TABLE {PEOPLE} (id BIGINT, v BIGINT)")
    first = step(tmp_path, lambda: emp.where("id < 2").write.mode("append").saveAsTable(PEOPLE))
    more = step(tmp_path, lambda: emp.where("id IN (6, 8)").write.insertInto(PEOPLE))
    assert (first.untracked, more.untracked) == ((), ())
    dataset = more.manifest.writes[0].output.dataset
    assert of(tmp_path, emp, dataset) == {i: {("data", i)} for i in (0, 1, 6, 8)}
    last = step(tmp_path, lambda: emp.where("id > 9").write.insertInto(PEOPLE, overwrite=True))
    assert last.untracked == ()
    assert of(tmp_path, emp, dataset) == {i: {("data", i)} for i in (10, 11)}


def test_what_is_refused(emp: Any, tmp_path: Path) -> None:
    """Tables without keys, keys that are not unique, and reading: Spark writes as ever, the step says what lacks."""
    spark = emp.sparkSession
    emp.createOrReplaceTempView("emp")
    bare = step(tmp_path, lambda: spark.sql("CREATE TABLE shop.APP.bare AS SELECT id FROM emp WHERE id < 3"))
    assert [("provsparkKeys" in u.why, spark.table("shop.APP.bare").count()) for u in bare.untracked] == [(True, 3)]
    twice = step(tmp_path, lambda: spark.sql(f"CREATE TABLE {PEOPLE} AS SELECT 1 AS id, v FROM emp WHERE id < 3"))
    assert [("two rows" in u.why, spark.table(PEOPLE).count()) for u in twice.untracked] == [(True, 3)]
    with pytest.raises(UnsupportedPlanError, match="AppendData: no key columns are declared"):
        step(tmp_path, lambda: spark.sql("CREATE TABLE shop.APP.strict AS SELECT id FROM emp"), "fail")
    assert not spark.catalog.tableExists("shop.APP.strict")
    read = step(tmp_path, lambda: spark.table(PEOPLE).write.parquet(str(tmp_path / "out")))
    assert [u.node for u in read.untracked] == ["DataSourceV2Relation"]
