"""Where the histories of two versions of a row begin to differ, on a pipeline of two tasks that runs twice.

Each run appends its day to all datasets, so that both versions of the report can be read.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from _steps import identity, publish, read, version, write

import provspark
from provspark.api import Provenance
from provspark.errors import ConditionError
from provspark.index_store.store.store import Store
from provspark.model.steps import StepKey
from provspark.tracker import attach

pytestmark = pytest.mark.spark

ORDERS = [(1, "ann", 10), (2, "ann", 20), (3, "bob", 5)]
RATES = [("ann", 2), ("bob", 3)]
TOTAL = "sum(amount * rate)"


class Pipeline:
    """Runs of `clean` and `report`."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self.spark, self.folder, self.days = spark, folder, itertools.count()

    def name(self, dataset: str) -> str:
        return str(self.folder / dataset)

    def run(
        self,
        orders: list[tuple[int, str, int]] = ORDERS,
        rates: list[tuple[str, int]] = RATES,
        clean: str = "amount > 0",
        total: str = TOTAL,
        task: str = "report",
    ) -> str:
        """Run both tasks for the next day; the version of the report."""
        day, spark = next(self.days), self.spark
        sources = (("orders", orders, "id int, who string, amount int"), ("rates", rates, "who string, rate int"))
        for name, rows, schema in sources:
            spark.createDataFrame(rows, schema).coalesce(1).write.parquet(f"{self.name(name)}/day={day}")
        for step, query in (
            ("clean", f"select * from orders where day = {day} and {clean}"),
            (
                task,
                f"select who, {total} total, {day} day from (select * from clean where day = {day}) "
                f"join (select * from rates where day = {day}) using (who) group by who",
            ),
        ):
            for name in ("orders", "rates", *(["clean"] if step != "clean" else [])):
                spark.read.parquet(self.name(name)).createOrReplaceTempView(name)
            out = self.name("clean" if step == "clean" else "report")
            with attach(store=self.name("prov"), key=StepKey(step, f"day{day}", "daily")) as capture:
                spark.sql(query).coalesce(1).write.mode("append").parquet(out)
            assert [w.coverage for w in capture.manifest.writes] == ["exact"], capture.untracked
        return self.open().select(self.name("report")).at.version.id

    def open(self) -> Provenance:
        return provspark.open(self.name("prov"))

    def ask(self, other: str, who: str = "ann", **more: Any) -> dict[str, Any]:
        """Compare the row of the second day with that of another version."""
        where = [("who", "=", who), ("day", "=", 1)]
        given: dict[str, Any] = {"key": "who", "ignoring": "day", **more}
        (line,) = self.open().first_difference(self.name("report"), where=where, other=other, **given)
        return dict(line)


CASES: dict[str, tuple[dict[str, Any], tuple[str, str, str]]] = {
    "the same again": ({}, ("none", "", "")),
    "an order changed": ({"orders": [(1, "ann", 11), *ORDERS[1:]]}, ("source", "orders", "clean")),
    "an order more": ({"orders": [*ORDERS, (4, "ann", 1)]}, ("source", "orders", "clean")),
    "an order more of another": ({"orders": [*ORDERS, (4, "bob", 1)]}, ("none", "", "")),
    "a rate changed": ({"rates": [("ann", 3), ("bob", 3)]}, ("source", "rates", "report")),
    "an order that is dropped": ({"clean": "amount > 10"}, ("source", "orders", "clean")),
    "a condition more": ({"clean": "amount > 0 and who is not null"}, ("operations", "clean", "clean")),
    "another sum": ({"total": f"{TOTAL} + count(*)"}, ("operations", "report", "report")),
    "another constant, to no effect": ({"clean": "amount > 1"}, ("none", "", "")),
    "another constant": ({"total": "sum(amount * rate * 3)"}, ("constants", "report", "report")),
    "another task": ({"task": "totals"}, ("task", "report", "totals")),
}


@pytest.mark.parametrize("case", CASES)
def test_the_first_step_that_differs(case: str, spark: Any, tmp_path: Path) -> None:
    changed, (difference, dataset, task) = CASES[case]
    pipeline = Pipeline(spark, tmp_path)
    first: dict[str, Any] = {"total": "sum(amount * rate * 2)"} if case == "another constant" else {}
    before = pipeline.run(**first)
    pipeline.run(**changed)
    line = pipeline.ask(before)
    assert (line["difference"], line["exact"]) == (difference, True), line
    assert (line["dataset"] or "").rpartition("/")[2] == dataset
    steps = {s["step"]: s for s in pipeline.open().steps()}
    tasks = [steps[line[name]]["task_id"] for name in ("step", "related_step") if line[name]]
    runs = [steps[line[name]]["run_id"] for name in ("step", "related_step") if line[name]]
    assert tasks == ([task, "report" if case == "another task" else task] if task else [])
    assert runs == (["day1", "day0"] if task else [])


def test_a_column_that_counts_differs(spark: Any, tmp_path: Path) -> None:
    pipeline = Pipeline(spark, tmp_path)
    before = pipeline.run()
    pipeline.run()
    line = pipeline.ask(before, ignoring=())
    assert (line["difference"], line["dataset"].rpartition("/")[2]) == ("source", "orders")


def test_values_that_are_gone_are_said_to_be(spark: Any, tmp_path: Path) -> None:
    pipeline = Pipeline(spark, tmp_path)
    before = pipeline.run()
    pipeline.run()
    for path in (tmp_path / "orders" / "day=0").glob("part-*"):
        path.unlink()
    line = pipeline.ask(before)
    assert (line["difference"], line["exact"], line["dataset"]) == ("unknown", False, None)
    assert "orders" in line["why"]


def test_bad_input(spark: Any, tmp_path: Path) -> None:
    pipeline = Pipeline(spark, tmp_path)
    before = pipeline.run()
    after = pipeline.run(orders=[*ORDERS, (5, "cid", 1)], rates=[*RATES, ("cid", 1)])
    with pytest.raises(ConditionError, match="0 rows have the same who as row"):
        pipeline.ask(before, "cid")
    with pytest.raises(ConditionError, match="has 2 rows, so none with the id 4"):
        pipeline.open().first_difference(pipeline.name("report"), [4], other=before)
    with pytest.raises(ConditionError, match="2 rows have the same who as row"):
        pipeline.open().first_difference(pipeline.name("report"), [0], version=before, other=after, key="who")


def test_an_append_in_between_is_no_difference(tmp_path: Path) -> None:
    """By hand: a later step appends to the dataset, and one report reads it before, the other after."""
    source, more = version("/src", {"a": 3}), version("/more", {"a": 2})
    before, after = version("/log", {"p1": 3}, ["p1"]), version("/log", {"p1": 3, "p2": 2}, ["p2"])
    store = Store.open(str(tmp_path / "prov"), create=True)
    publish(store, "day1", write(before, [(source, [(0, 0), (1, 1), (2, 2)])]))
    publish(store, "append", write(after, [(more, [(3, 0), (4, 1)])]))
    reports = [version("/rep", {name: 1}, [name]) for name in ("r1", "r2")]
    for number, (report, log) in enumerate(zip(reports, (before, after), strict=True)):
        publish(store, "report", write(report, [(read(log), [(0, 0)])]), run=f"r{number}")
    prov = provspark.open(str(tmp_path / "prov"))
    (line,) = prov.first_difference("/log", [0], version=identity(after), other=identity(before))
    assert (line["difference"], line["exact"]) == ("none", True)
    (line,) = prov.first_difference("/rep", [0], version=identity(reports[1]), other=identity(reports[0]))
    assert (line["difference"], line["exact"]) == ("unknown", False)  # there are no files to read
