"""Profiles between operations: against the script's own frames; and what is not settled is refused."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _replay_cases import read_sources, write_sources
from click.testing import CliRunner
from oracle.profiles import check
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

import provspark
from provspark.api import Provenance
from provspark.cli.main import main
from provspark.errors import (
    ConditionError,
    ReplayCancelledError,
    ReplayError,
    UnknownColumnError,
    UnknownDatasetError,
)
from provspark.tracker import attach

pytestmark = [pytest.mark.spark, pytest.mark.long]


def _frames(people: DataFrame, cities: DataFrame) -> list[DataFrame]:
    """The frames of a script, an operation each."""
    known = people.filter("city IS NOT NULL")
    paid = known.withColumn("pay", sf.when(sf.isnan("pay"), None).otherwise(sf.col("pay") * 2))
    groups = paid.groupBy("city").agg(sf.avg("pay").alias("mean"), sf.sort_array(sf.collect_list("pid")).alias("pids"))
    return [people, known, paid, groups]


@pytest.fixture(scope="module")
def root(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("spread")
    write_sources(spark, root)
    with attach(store=str(root / "store"), step="groups"):
        _frames(*read_sources(spark, root))[-1].write.parquet(str(root / "groups"))
    return root


@pytest.fixture
def prov(root: Path) -> Provenance:
    return provspark.open(str(root / "store"))


def test_each_operation_as_the_scripts_own_frame(prov: Provenance, root: Path, spark: SparkSession) -> None:
    told = prov.operation_profiles(str(root / "groups"))
    assert told.verified is True and [o.node for o in told.operations][1:] == ["Filter", "Project", "Aggregate"]
    for operation, frame in zip(told.operations, _frames(*read_sources(spark, root)), strict=True):
        check(told.after(operation.index), [row.asDict() for row in frame.collect()])
    lines = told.table().to_pylist()
    first = [(x["operation"], x["before"], x["after"]) for x in lines if x["column"] is None]
    assert first == [(0, None, 36), (1, 36, 31), (2, 31, 31), (3, 31, 5)]
    assert {x["column"] for x in lines if x["operation"] == 2} == {None, "pay"}
    assert {x["column"] for x in lines if x["operation"] == 3} >= {"name", "mean", "pids"}
    nulls = {(x["column"], x["measure"]): x["change"] for x in lines if x["operation"] == 1}
    assert nulls["city", "nulls"] == -5 and told.impact(1).before.column("city").nulls == 5


def test_some_operations_and_columns(prov: Provenance, root: Path) -> None:
    step = prov.steps().table()["step"][0].as_py()
    told = prov.operation_profiles(step, [2], columns=["PAY"])
    assert [s.operation.index for s in told.stages] == [1, 2] and told.verified is True
    assert {x["column"] for x in told.table().to_pylist()} == {None, "pay"}
    with pytest.raises(ReplayError, match="was not selected; this answer has the operations 1, 2"):
        told.after(3)
    with pytest.raises(ReplayError, match="has no operation 9; they go from 0 to 3"):
        prov.operation_profiles(step, [9])
    with pytest.raises(UnknownColumnError, match="did you mean pay"):
        prov.operation_profiles(step, columns=["pey"])
    with pytest.raises(UnknownDatasetError):
        prov.operation_profiles("elsewhere")
    with pytest.raises(ConditionError, match="No step of this store wrote"):
        prov.operation_profiles(str(root / "people"))
    with pytest.raises(ConditionError, match="reads the rows of operations: none"):
        prov.operation_profiles(step, [0], columns=["pay"]).impact(0)
    with pytest.raises(ReplayCancelledError):
        prov.operation_profiles(step, progress=lambda done, of, text: prov.replayer.cancel())


def test_a_column_that_operations_replace_is_compared_with_what_it_was(
    spark: SparkSession, root: Path, tmp_path: Path
) -> None:
    people = read_sources(spark, root)[0]
    with attach(store=str(tmp_path / "store"), step="replaced"):
        named = people.select("pid", "pay", "city").withColumnRenamed("city", "town")
        half = named.withColumn("half", sf.col("pay") / 2).drop("pay").filter("pid > 3")
        half.withColumnRenamed("half", "pay").write.parquet(str(tmp_path / "out"))
    told = provspark.open(str(tmp_path / "store")).operation_profiles(str(tmp_path / "out"))
    by_text = {o.text.split(" (")[0]: o.index for o in told.operations}
    renamed = told.impact(by_text["name city as town"])
    assert renamed.was == {"town": "city"} and "city" not in {name for name, *_ in renamed.pairs()}
    last, first = told.operations[-1].index, told.operations[0].index
    assert told.impact(last).was == {"pay": "half"}
    since = {(x["column"], x["measure"]): x for x in told.impact(last, since=first).table().to_pylist()}
    assert since["pay", "q50"]["before"] > since["pay", "q50"]["after"] > 0
    assert since[None, "rows"]["change"] < 0 and "half" not in {column for column, _ in since}
    before = told.operations[by_text["drop pay"]].index
    assert told.impact(before, since=first).was["half"] == "pay"
    for wrong in ({"since": last}, {"since": first, "child": first}):
        with pytest.raises(ConditionError, match="pass one that is before it"):
            told.impact(last, **wrong)  # type: ignore[arg-type]


def test_on_the_command_line(root: Path) -> None:
    at = ["--store", str(root / "store")]
    asked = [str(root / "groups"), "--operation", "1"]
    shown = CliRunner().invoke(main, ["operation-profiles", *asked, "--column", "city", *at])
    assert shown.exit_code == 0 and "1 keep rows where city IS NOT NULL" in shown.stdout, shown.output
    assert ["city", "nulls", "5.0", "0.0", "-5.0"] in [line.split() for line in shown.stdout.splitlines()]
    assert "city: histogram" in shown.stdout
    out = CliRunner().invoke(main, ["operation-profiles", *asked, "--json", *at]).stdout
    assert CliRunner().invoke(main, ["profile", *asked, "--json", *at]).stdout == out
    told = json.loads(out)
    assert told["verified"] is True and [x["asked"] for x in told["operations"]] == [False, True]
    assert [x["profile"]["rows"] for x in told["operations"]] == [36, 31]
    for more, why in ((["--operations"], "contradict each other"), (["--row", "1"], "all rows of a step")):
        said = CliRunner().invoke(main, ["profile", *asked, *more, *at])
        assert said.exit_code == 2 and why in said.output


def _ranked(order: list[str]) -> Callable[[DataFrame], DataFrame]:
    return lambda people: people.withColumn("n", sf.row_number().over(Window.partitionBy("name").orderBy(*order)))


def _dedented(people: DataFrame) -> DataFrame:
    return people.withColumn("two", sf.udf(textwrap.dedent, "string")(sf.concat(sf.lit("  "), "pid")))


UNSETTLED: dict[str, tuple[Callable[[DataFrame], DataFrame], str]] = {
    "duplicates": (lambda p: p.dropDuplicates(["city"]), "which duplicate Spark kept"),
    "any": (lambda p: p.limit(3), "there is no sort directly below"),
    "tied": (lambda p: p.orderBy("city").limit(7), "equal in the sort order"),
    "numbered": (_ranked(["city"]), "rows of a partition are equal in its order"),
    "first": (lambda p: p.groupBy("city").agg(sf.first("pay").alias("pay")), "depends on the order"),
    "listed": (lambda p: p.groupBy("city").agg(sf.collect_list("pid").alias("pids")), "depends on the order"),
    "random": (lambda p: p.withColumn("r", sf.rand(7)), "gives another value each time"),
    "sampled": (lambda p: p.sample(0.5, 7), "random sample"),
    "udf": (
        lambda p: p.withColumn("two", sf.udf(textwrap.dedent, "string")(sf.concat(sf.lit("  "), "pid"))),
        "function of the user's",
    ),
}
SETTLED: dict[str, Callable[[DataFrame], DataFrame]] = {
    "same": lambda p: p.dropDuplicates(),
    "few": lambda p: p.limit(500),
    "top": lambda p: p.orderBy(sf.desc("pid")).select("pid", "city").limit(7),
    "placed": _ranked(["pid"]),
    "rank": lambda p: p.withColumn("r", sf.rank().over(Window.partitionBy("name").orderBy("city"))),
    "mean": lambda p: p.withColumn("m", sf.max("city").over(Window.partitionBy("name"))),
    "so_far": lambda p: p.withColumn("m", sf.max("city").over(Window.partitionBy("name").orderBy("city"))),
}


@pytest.fixture(scope="module")
def cases(root: Path, spark: SparkSession) -> Provenance:
    people = read_sources(spark, root)[0]
    with attach(store=str(root / "cases"), step="cases", on_error="allow"):
        for name, make in {**{n: m for n, (m, _) in UNSETTLED.items()}, **SETTLED}.items():
            make(people).filter("true").write.parquet(str(root / name))
    return provspark.open(str(root / "cases"))


@pytest.mark.parametrize("name", UNSETTLED)
def test_what_is_not_settled_is_refused(name: str, cases: Provenance, root: Path) -> None:
    """The operation, and all after it; what stands before it is told."""
    told = cases.operation_profiles(str(root / name))
    at = next(s for s in told.stages if s.profile is None)
    assert UNSETTLED[name][1] in at.why and told.after(0).rows == 36
    assert told.verified is None and UNSETTLED[name][1] in told.why
    with pytest.raises(ReplayError, match="can't be profiled"):
        told.after(at.operation.index)
    assert told.table().to_pylist()[-1]["why"]


@pytest.mark.parametrize("name", SETTLED)
def test_what_is_settled_is_told(name: str, cases: Provenance, root: Path, spark: SparkSession) -> None:
    told = cases.operation_profiles(str(root / name))
    assert told.verified is True and not [s for s in told.stages if s.why]
    check(told.stages[-1].profile, [r.asDict() for r in spark.read.parquet(str(root / name)).collect()])  # type: ignore[arg-type]


def test_functions_where_they_may_run(cases: Provenance, root: Path) -> None:
    with pytest.raises(ReplayError, match="a replay runs it only with functions=True"):
        cases.operation_profiles(str(root / "udf")).after(1)
    told = cases.operation_profiles(str(root / "udf"), functions=True)
    assert told.verified is True and told.stages[-1].profile is not None
    assert told.stages[-1].profile.column("two").high == "9"


def test_joins_and_names_that_stand_twice(root: Path, spark: SparkSession) -> None:
    people, cities = read_sources(spark, root)
    with attach(store=str(root / "joins"), step="join"):
        joined = people.join(cities, people["city"] == cities["city"]).drop(cities["city"])
        joined.write.parquet(str(root / "joined"))
    told = provspark.open(str(root / "joins")).operation_profiles(str(root / "joined"))
    join = next(o for o in told.operations if o.node == "Join")
    assert told.verified is True
    doubled = [c.name for c in told.after(join.index).columns if c.name.startswith("city")]
    assert len(doubled) == 2 and all("#" in name for name in doubled)
    with pytest.raises(ConditionError, match="child="):
        told.impact(join.index)
    left, right = join.children
    assert told.impact(join.index, left).before.rows == 36 and told.impact(join.index, right).before.rows == 7


def test_a_changed_source_or_output(root: Path, tmp_path: Path, spark: SparkSession) -> None:
    people = read_sources(spark, root)[0]
    people.write.parquet(str(tmp_path / "in"))
    with attach(store=str(tmp_path / "store"), step="copy"):
        spark.read.parquet(str(tmp_path / "in")).filter("pid > 3").write.parquet(str(tmp_path / "out"))
    prov = provspark.open(str(tmp_path / "store"))
    people.write.mode("overwrite").parquet(str(tmp_path / "out"))
    told = prov.operation_profiles(str(tmp_path / "out"))
    assert told.verified is None and told.why and told.after(1).rows == 32
    people.limit(4).write.mode("overwrite").parquet(str(tmp_path / "in"))
    told = prov.operation_profiles(str(tmp_path / "out"))
    assert told.stages[0].profile is None and told.stages[0].why


def test_writes_without_operations_are_refused(root: Path, tmp_path: Path, spark: SparkSession) -> None:
    class Twice:
        def eval(self, x: int) -> Any:
            yield (x,)

    people = read_sources(spark, root)[0]
    with attach(store=str(tmp_path / "store"), step="lost", on_error="allow"):
        made = people.mapInPandas(lambda rows: rows, people.schema)
        made.write.parquet(str(tmp_path / "coarse"))
        spark.udtf.register("twice", sf.udtf(Twice, returnType="w int"))
        people.createOrReplaceTempView("seen")
        spark.sql("SELECT pid, w FROM seen, LATERAL twice(pid)").write.parquet(str(tmp_path / "untracked"))
    spark.catalog.dropTempView("seen")
    prov = provspark.open(str(tmp_path / "store"))
    with pytest.raises(ReplayError, match=r"untracked|kept no operations"):
        prov.operation_profiles(str(tmp_path / "untracked"))
    told = prov.operation_profiles(str(tmp_path / "coarse"))
    assert told.after(0).rows == 36 and told.stages[1].profile is None and told.verified is None
