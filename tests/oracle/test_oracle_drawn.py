"""Random plans draw every operator and every function that docs/operators.md calls exact."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oracle.batches import sources
from oracle.cases import Frames
from oracle.family_parts import family_parts
from oracle.functions import AGGREGATES, MERGED, ORDERED_AGGREGATES, SCALARS, TABLE_FUNCTIONS, VERSION, WINDOWS
from oracle.random_made import MADE
from oracle.random_plans import OPERATORS, Plan, frame
from oracle.random_tables import N_TABLES
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql.classic.dataframe import DataFrame

pytestmark = pytest.mark.spark

DOCS = Path(__file__).parents[2] / "docs" / "operators.md"
HERE = Path(__file__).parent
CHOICES = 16
"""Of an operator with more choices so many are built: the others are other functions, which another test counts."""
UNDRAWN_NODES = {
    "Tail": "Spark plans it for `df.tail` alone, whose rows go to the driver",
    "MapPartitions": "coarse, as the table says",
    "DomainJoin": "Spark makes and removes it in one batch of rules; drawn as correlation by an inequality",
    "LimitAll": "Spark's analysis takes it away; drawn as LIMIT ALL",
}
DRAWN_OTHERWISE = {
    **dict.fromkeys(("and", "or", "not", "in", "between", "like"), "an operator of SQL or a word of its grammar"),
    **dict.fromkeys(("ilike", "rlike", "case", "when", "div", "%"), "an operator of SQL or a word of its grammar"),
    **dict.fromkeys(("time", "position", "mod", "interval"), "the same"),
}
UNDRAWN_FUNCTIONS = {
    "rand randn random randstr uniform uuid": "drawn anew for each run",
    "now curdate current_date current_time current_timestamp localtime localtimestamp": "the time of each run",
    "current_catalog current_database current_schema current_timezone current_user session_user user": "the session",
    "current_path": "the session",
    "measure": "for metric views alone, which have no Python API",
    "input_file_name input_file_block_length input_file_block_start": "the file's place, which tests of scans compare",
    "from_avro to_avro schema_of_avro from_protobuf to_protobuf": "in jars that Spark does not come with",
    "st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid": "Spark switches the types off",
    "make_time time time_diff time_trunc to_time try_to_time": "Spark switches the type off",
    "time_from_micros time_from_millis time_from_seconds": "the same",
    "time_to_micros time_to_millis time_to_seconds": "the same",
    "session_window": "grouping by it is refused",
    "window_time": "the end of a time window, which is drawn",
    "kll_sketch_to_string_bigint kll_sketch_to_string_double kll_sketch_to_string_float": "a text with random numbers",
    "collations python_worker_logs sql_keywords": "what Spark says of itself",
}


UNLISTED = {"collations", "python_worker_logs", "sql_keywords", "measure"}


def exact_nodes() -> set[str]:
    """Classes of nodes of this Spark that rows can be followed through exactly, always or where declared."""
    found: set[str] = set()
    section = ""
    for line in DOCS.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [c.strip() for c in line.strip("|").split(" | ")]
        if section not in ("Captured operators", "Operators that are rewritten before capture") or not line.startswith(
            "| `"
        ):
            continue
        if cells[1] == "exact" or "exact if" in cells[2]:
            nodes = re.findall(r"`(\w+)`(?: \(from (\d+)\.(\d+)\))?", cells[0])
            found.update(name for name, *since in nodes if since == ["", ""] or tuple(map(int, since)) <= VERSION)
    return found


def exact_functions() -> dict[str, str]:
    """By function: the versions of Spark that have it, or nothing for all."""
    text = DOCS.read_text(encoding="utf-8")
    section = text[text.index("## Functions") :].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and "| exact |" in line]
    return dict(pair for row in rows for pair in re.findall(r"`([^`]+)`(?: \(([^)]*)\))?", row.split(" | ")[1]))


def plans() -> Iterator[Plan]:
    """Every operator with each of its choices, over scans; every leaf."""
    for i in range(N_TABLES):
        yield ("scan", i)
    for i in range(len(MADE)):
        yield ("made", i)
    for kind, operator in OPERATORS.items():
        ways = itertools.product(*(range(n) for n in operator.choices))
        for chosen in itertools.islice(ways, CHOICES):
            yield (kind, *chosen, *(("scan", i + 1) for i in range(operator.inputs)))


def classes(plan: Any, found: set[str]) -> None:
    """Take down the classes of a plan's nodes and of those in its subqueries."""
    found.add(plan.getClass().getSimpleName().rstrip("$"))
    for inner in (plan.children(), plan.subqueries(), plan.innerChildren()):
        for i in range(inner.size()):
            if hasattr(inner.apply(i), "subqueries"):
                classes(inner.apply(i), found)


def test_every_exact_operator_is_drawn(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: set[str] = set()
    made = DataFrame.__init__

    def noted(self: Any, jdf: Any, session: Any) -> None:
        made(self, jdf, session)
        execution = jdf.queryExecution()
        classes(execution.logical(), found)
        with contextlib.suppress(Py4JJavaError, AnalysisException):  # a part of a subquery sees its outer columns later
            classes(execution.withCachedData(), found)

    frames = Frames(spark, sources(0), tmp_path)
    spark.sparkContext.setCheckpointDir(str(tmp_path / "checkpoints"))
    monkeypatch.setattr(DataFrame, "__init__", noted)
    for plan in plans():
        frame(plan, frames)
    monkeypatch.undo()
    spark.catalog.clearCache()
    lacking = exact_nodes() - found
    assert lacking <= set(UNDRAWN_NODES), f"no random plan has {sorted(lacking - set(UNDRAWN_NODES))}"


def registered(spark: Any) -> set[str]:
    """Names of Spark's built-in functions."""
    return {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}


def identifier(spark: Any, name: str) -> Any:
    """Where the registries have a built-in function: from Spark 4.3 on by three names."""
    made = spark._jvm.org.apache.spark.sql.catalyst.FunctionIdentifier
    if VERSION < (4, 3):
        return made(name)
    some = spark._jvm.scala.Option.apply
    return made(name, some("builtin"), some("system"))


def test_every_function_is_in_the_table(spark: Any) -> None:
    """The table lists what Spark has of groups, windows and generators by name; all else is a function of one row."""
    state = spark._jsparkSession.sessionState()
    named = set()
    for name in registered(spark):
        place = identifier(spark, name)
        info = state.functionRegistry().lookupFunction(place)
        makes_rows = state.tableFunctionRegistry().lookupFunction(place).nonEmpty()
        if makes_rows or (info.nonEmpty() and info.get().getGroup() in ("agg_funcs", "window_funcs")):
            named.add(name)
    assert sorted(named - exact_functions().keys() - UNLISTED) == []


def test_every_function_is_drawn(spark: Any) -> None:
    modules = [*sorted(HERE.glob("random_*.py")), *(Path(str(each.__file__)) for each in family_parts("shapes"))]
    texts = [path.read_text(encoding="utf-8") for path in modules]
    texts += [*SCALARS, *AGGREGATES, *ORDERED_AGGREGATES, *itertools.chain(*MERGED, *WINDOWS, *TABLE_FUNCTIONS)]
    text = "\n".join(texts).lower()
    undrawn = {name for names in UNDRAWN_FUNCTIONS for name in names.split()}
    lacking = [
        name
        for name in sorted(registered(spark) - undrawn - DRAWN_OTHERWISE.keys())
        if not (re.search(rf"(?<!\w){re.escape(name)}\(", text) if name[0].isalpha() else name in text)
    ]
    assert lacking == []
    assert undrawn >= undrawn & registered(spark)
