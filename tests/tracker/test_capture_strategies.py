"""Each way in which Spark joins, asked for by a hint: the tracked write joins in that way too, and is exact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, check
from oracle.operators import How, join, rename, select
from oracle.tables import DEPT, SKEW
from oracle.values import eq, lt
from pyspark.sql import functions as sf

pytestmark = [pytest.mark.spark, pytest.mark.long]

WAYS: list[tuple[str, str, How, str]] = [
    ("broadcast", "BroadcastHashJoin", "left", "k = dk"),
    ("merge", "SortMergeJoin", "full", "k = dk"),
    ("shuffle_hash", "ShuffledHashJoin", "anti", "k = dk"),
    ("broadcast", "BroadcastNestedLoopJoin", "left", "k < dk"),
    ("shuffle_replicate_nl", "CartesianProduct", "inner", "k < dk"),
]
SPARK_HOW = {"left": "left_outer", "full": "full_outer", "anti": "left_anti", "inner": "inner"}


@pytest.mark.parametrize(("hint", "node", "how", "on"), WAYS, ids=[w[1] for w in WAYS])
def test_way(hint: str, node: str, how: How, on: str, spark: Any, sources: Path, tmp_path: Path) -> None:
    compare = eq if "=" in on else lt
    case = Case(
        node,
        lambda t: t.skew.join(t.dept.selectExpr("k AS dk", "w").hint(hint), sf.expr(on), SPARK_HOW[how]),
        lambda t: join(t.skew, rename(select(t.dept, "k", "w"), "dk", "w"), lambda a, b: compare(a.k, b.dk), how),
    )
    before = max(plans(spark), default=-1)
    check(case, spark, [SKEW, DEPT], sources, tmp_path)
    made = [plan for number, plan in plans(spark).items() if number > before]
    writes = [plan for plan in made if "InsertIntoHadoopFsRelationCommand" in plan]
    assert len(writes) == 2 and all(node in p for p in writes)


def plans(spark: Any) -> dict[int, str]:
    """What Spark has run of late, in its own words, by its numbers: of more than a thousand it forgets the first."""
    run = spark._jsparkSession.sharedState().statusStore().executionsList()
    return {int(run.apply(i).executionId()): str(run.apply(i).physicalPlanDescription()) for i in range(run.size())}
