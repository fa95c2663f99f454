"""Keys as literals: what they let through, against plain Python."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from provspark.replay.key_literals import one_of

VALUES: dict[str, list[Any]] = {
    "string": ["it's", "a\\b", "é\n", "", None, "A", "`x`"],
    "bigint": [0, -(2**63), 2**63 - 1, None, 7],
    "decimal(38,3)": [Decimal("0.100"), Decimal("-5"), None, Decimal("1e30")],
    "date": [date(1, 1, 1), date(2024, 2, 29), None, date(9999, 12, 31)],
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("nulls", [False, True])
def test_keys_let_through_what_is_equal(spark: SparkSession, kind: str, nulls: bool) -> None:
    every = spark.createDataFrame([(v,) for v in VALUES[kind]], f"b {kind}")
    for size in (0, 1, 4):
        some = VALUES[kind][-size:] if size else []
        kept = spark.createDataFrame([(v,) for v in some], f"a {kind}")
        sql = one_of(kept, [("a", "b")], nulls=nulls)
        assert sql != "true"
        found = [r.b for r in every.filter(sql).collect()]
        assert sorted(found, key=str) == sorted((v for v in some if nulls or v is not None), key=str)


def test_many_keys_and_other_types_are_left_to_the_join(spark: SparkSession) -> None:
    assert one_of(spark.range(101).selectExpr("id AS a"), [("a", "b")], nulls=True) == "true"
    assert one_of(spark.range(1).selectExpr("double(id) AS a"), [("a", "b")], nulls=True) == "true"
    assert one_of(spark.sql("SELECT cast(X'FF' AS string) AS a"), [("a", "b")], nulls=True) == "true"
    assert one_of(spark.range(1), [], nulls=False) == "true"
