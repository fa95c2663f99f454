"""IN with nulls below NOT, lateral generators, subqueries of one row: rows and schema are plain Spark's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oracle import outputs

from provspark.tracker import attach

pytestmark = pytest.mark.spark

IN, NULLS = "k IN (SELECT k FROM some)", "k IN (SELECT k FROM nulls)"
REFUSED = {
    "not or": f"SELECT id FROM t WHERE NOT ({IN} OR id = 9)",
    "not or, nulls in the subquery": f"SELECT id FROM t WHERE NOT ({NULLS} OR id = 9)",
    "not and": f"SELECT id FROM t WHERE NOT ({IN} AND id < 9)",
    "equals false": f"SELECT id FROM t WHERE ({IN}) = false",
    "not not": f"SELECT id FROM t WHERE NOT (NOT ({NULLS}))",
    "a value, negated above": f"SELECT id FROM (SELECT id, {IN} AS z FROM t) WHERE NOT z",
    "a value, negated in a union": f"SELECT id FROM (SELECT id, {IN} AS z FROM t UNION ALL SELECT 7, true) WHERE NOT z",
    "a value, compared": f"SELECT id FROM (SELECT id, {IN} AS z FROM t) WHERE CAST(z AS INT) = 0",
    "not or, as a value": f"SELECT id, NOT ({NULLS} OR id = 9) AS z FROM t",
    "in an aggregate": f"SELECT count(IF(NOT ({IN} OR id = 9), 1, NULL)) AS n FROM t",
    "having": f"SELECT k, count(*) AS n FROM t GROUP BY k HAVING NOT ({IN} OR count(*) > 5)",
    "of two columns": "SELECT id FROM t WHERE NOT ((k, id) IN (SELECT k, 1 FROM some) OR id = 9)",
    "within a subquery": f"SELECT id FROM t WHERE id IN (SELECT id FROM t WHERE NOT ({IN} OR id = 9))",
    "in a common table expression": f"WITH w AS (SELECT id FROM t WHERE NOT ({IN} OR id = 9)) SELECT id FROM w",
}
FOLLOWED = {
    "in": f"SELECT id FROM t WHERE {NULLS}",
    "not in": "SELECT id FROM t WHERE k NOT IN (SELECT k FROM some)",
    "or in": f"SELECT id FROM t WHERE {NULLS} OR id = 2",
    "or not in": "SELECT id FROM t WHERE k NOT IN (SELECT k FROM some) OR id = 9",
    "a value": f"SELECT id, {NULLS} AS z FROM t",
    "a value, filtered": f"SELECT id FROM (SELECT id, {NULLS} AS z FROM t) WHERE z",
    "grouped by it": "SELECT k IN (SELECT k FROM some) AS g, count(*) AS n FROM t GROUP BY k IN (SELECT k FROM some)",
    "without nulls": "SELECT id FROM range(3) WHERE NOT (id IN (SELECT id FROM range(2)) AND id < 9)",
    "not exists or": "SELECT id FROM t WHERE NOT (EXISTS (SELECT 1 FROM some WHERE some.k = t.k) OR id = 9)",
    "left join lateral explode": "SELECT id, e FROM a LEFT JOIN LATERAL explode(arr) AS z(e)",
    "left join lateral posexplode": "SELECT id, p, e FROM a LEFT JOIN LATERAL posexplode(arr) AS z(p, e)",
    "left join lateral of a query": "SELECT id, e FROM a LEFT JOIN LATERAL (SELECT explode(arr) AS e)",
    "lateral explode": "SELECT id, e FROM a, LATERAL explode(arr) AS z(e)",
    "lateral explode, limited": "SELECT id, e FROM a, LATERAL explode(arr) AS z(e) LIMIT 1",
    "lateral explode, numbered": "SELECT id, monotonically_increasing_id() AS m, e FROM a, LATERAL explode(arr) z(e)",
    "lateral projection": "SELECT id, y FROM t, LATERAL (SELECT id + 1 AS y)",
    "a literal": "SELECT id, (SELECT 6) AS z FROM t",
    "a struct": "SELECT id, (SELECT struct(1, 2)) AS z FROM t",
    "a filtered literal": "SELECT id, (SELECT 1 WHERE true) AS z FROM t",
    "a union of one": "SELECT id, (SELECT 1 UNION SELECT 1) AS z FROM t",
    "a row of its own": "SELECT id, (SELECT id + k) AS z FROM t",
}


@pytest.fixture(scope="module", autouse=True)
def tables(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("tables")
    made = {
        "t": ([(1, 1), (2, None), (3, 3)], "id int, k int"),
        "some": ([(1,)], "k int"),
        "nulls": ([(1,), (None,)], "k int"),
        "a": ([(1, [7, 8]), (2, []), (3, None)], "id int, arr array<int>"),
    }
    for name, (rows, schema) in made.items():
        spark.createDataFrame(rows, schema).coalesce(1).write.parquet(str(folder / name))
        spark.read.parquet(str(folder / name)).createOrReplaceTempView(name)
    yield
    for name in made:
        spark.catalog.dropTempView(name)


def both(text: str, spark: Any, folder: Path) -> Any:
    """Write a query plainly and captured, in one file each; return the capture once they are equal."""
    spark.sql(text).coalesce(1).write.parquet(str(folder / "plain"))
    with attach(store=(folder / "store").as_uri(), step="s") as capture:
        spark.sql(text).coalesce(1).write.parquet(str(folder / "captured"))
    plain, captured = (outputs.read(folder / name) for name in ("plain", "captured"))
    assert captured.schemas == plain.schemas
    if "GROUP BY" in text or "UNION" in text:
        assert sorted(map(repr, captured.rows)) == sorted(map(repr, plain.rows))
    else:
        assert captured.rows == plain.rows
    return capture


@pytest.mark.parametrize("name", REFUSED)
def test_in_that_could_be_null_below_not_is_refused(name: str, spark: Any, tmp_path: Path) -> None:
    capture = both(REFUSED[name], spark, tmp_path)
    (write,) = capture.manifest.writes
    assert write.coverage == "untracked" and write.reason.node == "InSubquery"
    assert "Write NOT IN and AND in place of NOT" in write.reason.why


@pytest.mark.parametrize("name", FOLLOWED)
def test_others_are_followed(name: str, spark: Any, tmp_path: Path) -> None:
    capture = both(FOLLOWED[name], spark, tmp_path)
    assert [w.coverage for w in capture.manifest.writes] == ["exact"], capture.untracked
