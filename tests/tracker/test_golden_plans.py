"""What each rule makes of a plan, as text: fixtures/plans holds a file for each rule.

`pytest tests/tracker/test_golden_plans.py --update-plans` writes them anew, to be read before they are committed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from oracle.cases import Frames
from oracle.tables import BAG, DEPT, EMP
from pyspark.sql import Window
from pyspark.sql import functions as sf

from provspark.tracker import attach
from provspark.tracker.families import RULES
from provspark.tracker.plan.provenance_columns import ProvenanceColumn
from provspark.tracker.plan.rewrite import Rewriter

pytestmark = pytest.mark.spark

FIXTURES = Path(__file__).parent / "fixtures" / "plans"
SPARK = "4.1"
"""The version whose plans they are."""
NAMES = [rule.__name__.rsplit(".", 1)[1] for rule in RULES]  # type: ignore[attr-defined]
Plan = Callable[[Frames], Any]


def copies(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches


def first(group: pd.DataFrame) -> pd.DataFrame:
    return group.head(1)


def objects(t: Frames) -> Any:
    """Rows made objects and rows again, as by a Scala program's map."""
    from pyspark.sql import DataFrame

    jvm: Any = t.spark._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.cook(
        "public class Same implements org.apache.spark.api.java.function.MapFunction {"
        " public Object call(Object row) { return row; } }"
    )
    loaded = compiler.getClassLoader().loadClass("Same").getConstructors()[0]
    same = loaded.newInstance(t.spark.sparkContext._gateway.new_array(jvm.java.lang.Object, 0))
    strings = jvm.org.apache.spark.sql.Encoders.STRING()
    return DataFrame(getattr(t.emp.select("g")._jdf, "as")(strings).map(same, strings).toDF(), t.spark)


def cached(t: Frames) -> Any:
    return t.emp.select("id", "v").cache().filter("v > 10")


CASES: Mapping[str, Mapping[str, Plan]] = {
    "scan": {
        "Parquet": lambda t: t.emp,
        "CSV": lambda t: t.spark.read.schema("a INT, b STRING").csv(str(t.paths["emp"])),
    },
    "cached": {
        "a range": lambda t: t.spark.range(3),
        "cache": cached,
    },
    "filter": {"a condition": lambda t: t.emp.where("v > 10")},
    "project": {
        "computed": lambda t: t.emp.selectExpr("id + 1 AS n", "upper(g) AS g"),
        "a subquery's value": lambda t: t.sql("SELECT id, v - (SELECT max(w) FROM dept) AS d FROM emp"),
    },
    "narrow": {"sort and limit": lambda t: t.emp.select("id", "v").orderBy("v").limit(3)},
    "generate": {"explode": lambda t: t.bag.select("id", sf.explode("words").alias("word"))},
    "expand": {"rollup": lambda t: t.emp.rollup("k", "g").agg(sf.sum("v").alias("s"))},
    "join": {
        "inner": lambda t: t.emp.join(t.dept.select("k", "name"), "k").select("id", "name"),
        "full outer": lambda t: t.emp.select("id", "k").join(t.dept.select("k", "name"), "k", "full"),
        "semi by keys": lambda t: t.emp.join(t.dept, "k", "semi"),
        "semi by more than keys": lambda t: (
            lambda e, d: e.join(d, (e["k"] == d["k"]) & (e["x"] < d["x"]), "semi").select("id")
        )(t.emp, t.dept),
        "anti": lambda t: t.emp.join(t.dept, "k", "anti"),
        "EXISTS or a condition": lambda t: t.sql(
            "SELECT id FROM emp WHERE v > 10 OR EXISTS (SELECT 1 FROM dept WHERE dept.k = emp.k)"
        ),
    },
    "nearest": {
        "as of": lambda t: (lambda a, b: a._joinAsOf(b, a["id"], b["w"]).select("id", "w"))(
            t.emp.select("id"), t.dept.select("w")
        )
    },
    "aggregate": {
        "by a key": lambda t: t.emp.groupBy("k").agg(sf.sum("v").alias("s")),
        "global": lambda t: t.emp.agg(sf.count("*").alias("n")),
        "of an aggregate": lambda t: t.emp.groupBy("k").agg(sf.sum("v").alias("s")).agg(sf.max("s").alias("m")),
        "dropDuplicates on a column": lambda t: t.emp.select("k", "id").dropDuplicates(["k"]),
    },
    "union": {"two": lambda t: t.emp.select("k").union(t.dept.select("k"))},
    "window": {
        "two partitionings": lambda t: t.emp.select(
            "id",
            sf.sum("v").over(Window.partitionBy("k")).alias("s"),
            sf.count("*").over(Window.partitionBy("g")).alias("n"),
        )
    },
    "mark": {
        "a correlated subquery's value": lambda t: t.sql(
            "SELECT id, (SELECT sum(w) FROM dept WHERE dept.k = emp.k) AS s FROM emp"
        ),
        "a LIMIT of each row's own": lambda t: t.sql(
            "SELECT id, w FROM emp, LATERAL (SELECT w FROM dept WHERE dept.k = emp.k ORDER BY w LIMIT 1)"
        ),
        "EXCEPT ALL": lambda t: t.emp.select("k").exceptAll(t.dept.select("k")),
    },
    "maps": {"mapInPandas": lambda t: t.emp.select("id").mapInPandas(copies, "id INT")},
    "groups": {"applyInPandas": lambda t: t.emp.select("k", "id").groupBy("k").applyInPandas(first, "k INT, id INT")},
    "typed": {"map": objects},
}


@pytest.mark.parametrize("rule", NAMES)
def test_golden_plans(rule: str, spark: Any, sources: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if not spark.version.startswith(SPARK):
        pytest.skip(f"the plans are those of Spark {SPARK}: other versions print and name some nodes otherwise")
    frames = Frames(spark, [EMP, DEPT, BAG], sources)
    texts = [f"== {name}\n{told(plan, frames, tmp_path)}" for name, plan in CASES[rule].items()]
    text = "\n".join(texts)
    fixture = FIXTURES / f"{rule}.txt"
    if request.config.getoption("--update-plans"):
        fixture.parent.mkdir(parents=True, exist_ok=True)
        fixture.write_text(text, encoding="utf-8")
    assert text == fixture.read_text(encoding="utf-8"), "see --update-plans"


def test_every_rule_has_a_file() -> None:
    assert sorted(NAMES) == sorted(CASES) == sorted(path.stem for path in FIXTURES.iterdir())


def told(plan: Plan, frames: Frames, folder: Path) -> str:
    """The plan before, as Spark's rules leave it, and after; what its provenance columns point at and its taps note."""
    with attach(store=(folder / "store").as_uri(), step="golden") as capture:
        jvm = capture._sessions.jvm(frames.spark)
        caches = capture._sessions.caches(jvm)
        analysed = caches.current(jvm, plan(frames)._jdf.queryExecution().analyzed())
        rewriter = Rewriter(jvm, (folder / "taps").as_uri(), caches)
        traced = rewriter.run(analysed)
        plans = {
            "before": analysed,
            "normal": rewriter.java.node(0),
            "after": rewriter.java.plan(traced.number),
        }
        trees = {name: each.treeString() for name, each in plans.items()}
        frames.spark.catalog.clearCache()
    numbers: dict[str, str] = {}
    told_twice = trees["before"] == trees["normal"]
    parts = [
        f"-- {name}\n{neutral(tree, numbers)}" for name, tree in trees.items() if name != "normal" or not told_twice
    ]
    parts.append("-- provenance columns\n" + "".join(f"{described(column)}\n" for column in traced.provenance))
    taps = "".join(f"{tap.number} {tap.label}: {'; '.join(map(described, tap.provenance))}\n" for tap in rewriter.taps)
    return "\n".join(parts + ([f"-- taps\n{taps}"] if taps else []))


def described(column: ProvenanceColumn) -> str:
    origin = f"groups of tap {column.origin}" if column.grouped else f"rows of scan {column.origin}"
    return f"{column.kind}: {origin}{', the others' if column.others else ''}"


def neutral(tree: str, numbers: dict[str, str]) -> str:
    """Ids by their first appearance; no paths, addresses or trailing blanks."""
    tree = re.sub(r"#(\d+)", lambda m: "#" + numbers.setdefault(m[1], str(len(numbers) + 1)), tree)
    tree = re.sub(r"file:/[^\s,\])]+", "PATH", tree)
    tree = re.sub(r"@[0-9a-f]{5,}", "@", tree)
    return "".join(f"{line.rstrip()}\n" for line in tree.splitlines())
