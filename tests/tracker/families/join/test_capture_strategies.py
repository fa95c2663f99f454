"""Each way in which Spark joins, by a hint or by what it estimates: the tracked write joins so too, and is exact."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from oracle.cases import Case, check
from oracle.operators import How, join, rename, select
from oracle.tables import DEPT, SKEW
from oracle.values import eq, lt
from pyspark.sql import functions as sf

import provspark
from provspark.tracker import attach

pytestmark = pytest.mark.spark

WAYS: list[tuple[str, str, How, str]] = [
    ("broadcast", "BroadcastHashJoin", "left", "k = dk"),
    ("merge", "SortMergeJoin", "full", "k = dk"),
    ("shuffle_hash", "ShuffledHashJoin", "anti", "k = dk"),
    ("broadcast", "BroadcastNestedLoopJoin", "left", "k < dk"),
    ("shuffle_replicate_nl", "CartesianProduct", "inner", "k < dk"),
]
SPARK_HOW = {"left": "left_outer", "full": "full_outer", "anti": "left_anti", "inner": "inner"}

WIDE, FACTS = 20_000, 120_000
JOIN = "SELECT fact, k, seven FROM facts JOIN wide ON fact = k WHERE seven LIKE '%7%'"
AVERAGE = f"SELECT fact FROM facts WHERE fact > (SELECT avg(k + seven) FROM ({JOIN}))"
TWICE = f"SELECT * FROM ({JOIN}) UNION ALL SELECT fact, k, other FROM facts JOIN wide ON fact = k"


@pytest.mark.long
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


@pytest.fixture(name="facts")
def _facts(spark: Any, tmp_path: Path) -> Iterator[np.ndarray[Any, Any]]:
    """Two tables, and a threshold that a key and two texts of `wide` come to, but not with an address."""
    random = np.random.default_rng(11)
    facts = random.integers(0, WIDE, FACTS)
    texts = {name: [f"{n:08d}" for n in random.integers(0, 10**8, WIDE)] for name in ("other", *"abcdef")}
    wide = {"k": np.arange(WIDE), "seven": [str(k) for k in range(WIDE)], **texts}
    for name, columns in (("facts", {"fact": facts}), ("wide", wide)):
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet", use_dictionary=False)
        spark.read.parquet(str(tmp_path / f"{name}.parquet")).createOrReplaceTempView(name)
    size = (tmp_path / "wide.parquet").stat().st_size
    all_columns, read = 8 + 8 + 8 * 20, 8 + 8 + 20
    threshold = size * ((read / all_columns) + (read + 8) / (all_columns + 8)) / 2
    assert (tmp_path / "facts.parquet").stat().st_size > threshold
    settings = {"spark.sql.autoBroadcastJoinThreshold": str(int(threshold)), "spark.sql.adaptive.enabled": "false"}
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield facts
    for name, value in before.items():
        spark.conf.unset(name) if value is None else spark.conf.set(name, value)


ESTIMATED = [(JOIN, 1), (AVERAGE, 1), pytest.param(TWICE, 2, marks=pytest.mark.long)]


@pytest.mark.parametrize(("query", "joins"), ESTIMATED, ids=["join", "subquery", "twice"])
def test_it_joins_as_without_capture(query: str, joins: int, facts: Any, spark: Any, tmp_path: Path) -> None:
    before = max(plans(spark), default=-1)
    spark.sql(query).write.parquet(str(tmp_path / "plain"))
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        spark.sql(query).write.parquet(str(tmp_path / "out"))
    assert capture.untracked == ()
    made = [plan for number, plan in plans(spark).items() if number > before]
    writes = [plan for plan in made if "InsertIntoHadoopFsRelationCommand" in plan]
    joined = [re.findall(r"^\(\d+\) (\w+Join)\b", plan, re.MULTILINE) for plan in writes]
    assert joined == [["BroadcastHashJoin"] * joins] * 2
    if query == JOIN:
        exact(tmp_path, facts)


def exact(folder: Path, facts: Any) -> None:
    """Of each row joined, the two rows that its keys tell; no fact twice."""
    out = pq.read_table(folder / "out").to_pydict()
    found = provspark.open((folder / "store").as_uri()).backward((folder / "out").as_uri()).table().to_pylist()
    of_facts, of_wide = ([(e["row"], e["related_row"]) for e in found if e["occurrence"] == n] for n in (0, 1))
    assert len(out["k"]) == sum("7" in str(fact) for fact in facts)
    assert of_wide == list(enumerate(out["k"]))
    assert [(row, facts[source]) for row, source in of_facts] == list(enumerate(out["fact"]))
    assert len({source for _, source in of_facts}) == len(of_facts)
