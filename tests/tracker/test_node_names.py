"""What is said of a node of Spark's plans stands in the folder of its family: nothing else names its class."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from _plan_classes import plan_classes
from pyspark.find_spark_home import _find_spark_home
from test_imports import FOLDERS, ROOT

from provspark.tracker.families import registry

FREE = ("tracker/families/", "tracker/spark/", "tracker/java/spark/")
"""Where nodes are named: the families, and what we know of Spark's versions."""

COMMANDS = "commands, which write or change tables, are handled by interception and sinks: they belong to no family"
NORMAL = "normalising puts several families' nodes in the places of others before the rules of any family see them"
LEAVES = "a source puts another leaf in the place of Spark's"
SESSION = "a session keeps its caches, checkpoints and RDDs by the leaves that read them"
SCRIPT = "how values of the script came into a plan, whatever its operators: the leaves that hold them"
MADE_UP = "the reason of a write that is made up for tests; any would do"

EXCEPTIONS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "provider/testing/strategies.py": (("Generate",), MADE_UP),
    "provider/testing/worlds.py": (("MapInPandas",), MADE_UP),
    "provider/web/masks.py": (
        ("Transpose",),
        "the page's server loads no tracker; no other node names columns by values",
    ),
    "tracker/intercept/commands.py": (("*",), COMMANDS),
    "tracker/java/intercept/Commands.java": (("*",), COMMANDS),
    "tracker/java/intercept/Reads.java": (
        ("*",),
        "what the driver gets of a query: whether that is one number, and which rows a LIMIT on top takes",
    ),
    "tracker/java/plan/Calls.java": (("Filter", "Join", "Project"), NORMAL),
    "tracker/java/plan/Inferred.java": (("*",), NORMAL),
    "tracker/java/plan/Normal.java": (("*",), NORMAL),
    "tracker/java/plan/Unused.java": (
        (
            *("AsOfJoin", "Deduplicate", "Distinct", "Except", "Intersect", "NearestByJoin", "Project", "UnionLoop"),
            "Window",
        ),
        NORMAL,
    ),
    "tracker/java/script/PlanValues.java": (
        ("DataSourceV2Relation", "Expand", "LocalRelation", "LogicalRDD", "TransformWithState"),
        f"{SCRIPT}, and the numbers of copies, which are Spark's own",
    ),
    "tracker/java/script/ScriptRows.java": (("LocalRelation", "LogicalRDD", "Range"), SCRIPT),
    "tracker/java/session/CacheEntries.java": (
        ("CollectMetrics", "InMemoryRelation", "LogicalRDD"),
        f"{SESSION}; a cache that counts for an Observation is not filled anew",
    ),
    "tracker/java/session/RddAncestors.java": (("LogicalRDD",), SESSION),
    "tracker/java/intercept/CommandPlans.java": (("*",), COMMANDS),
    "tracker/java/intercept/CommandInterceptor.java": (("*",), COMMANDS),
    "tracker/java/sinks/CatalogTable.java": (("*",), COMMANDS),
    "tracker/java/sinks/WriteTarget.java": (("*",), COMMANDS),
    "tracker/java/sources/AddressedFormats.java": (("LogicalRelation",), LEAVES),
    "tracker/java/sources/AddressedRelation.java": (
        ("Filter", "Join", "LogicalRelation", "Project"),
        f"{LEAVES}, whose size it tells as Spark estimates it for the choice of a join",
    ),
    "tracker/java/sources/AddressedScan.java": (("LogicalRelation",), LEAVES),
    "tracker/java/sources/JdbcTable.java": (("LogicalRelation",), LEAVES),
    "tracker/java/sources/LocalRowSites.java": (("LocalRelation", "LogicalRDD"), LEAVES),
    "tracker/java/sources/LocalRows.java": (("LocalRelation", "LogicalRDD", "Range"), LEAVES),
    "tracker/java/sources/SourceFiles.java": (("LogicalRelation",), LEAVES),
    "tracker/java/trees/Marks.java": (("LogicalRDD", "SubqueryAlias"), f"an alias marks a side of a join; {SESSION}"),
    "tracker/java/trees/Plans.java": (("LogicalRelation",), "which source reads a leaf is told by what the leaf reads"),
    "tracker/plan/rewrite.py": (("Subquery",), "the word by which a step says where in a query Spark's rules failed"),
    "tracker/sinks/keyed.py": (("*",), COMMANDS),
}
"""By file, the names that stand in it, or `*`, and why."""

STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
PATH = re.compile(r"\borg\.apache\.spark\.[\w.$]+")
ALL_OF = re.compile(r"^import org\.apache\.spark\.[\w.]+\.\*;", re.MULTILINE)


@cache
def nodes() -> frozenset[str]:
    """Those of this version of Spark, and those of others that families know of."""
    others = {node for name in registry.names() for node in registry.family(name).nodes}
    return frozenset(others | set(plan_classes(Path(_find_spark_home()) / "jars")))


def listed(text: str) -> set[str]:
    """The nodes of which a text is a list; none of a sentence."""
    words = re.split(r"[\s,]+", text.strip(" ,\n"))
    return set(words) if set(words) <= nodes() else set()


def in_java(text: str) -> set[str]:
    """The nodes that a class imports, or lists in a string."""
    text = COMMENT.sub("", text)
    code = STRING.sub('""', text)
    names = {part.rstrip("$") for path in PATH.findall(code) for part in path.split(".")}
    if ALL_OF.search(code):
        names |= set(re.findall(r"(?<![\w.])[A-Z]\w*", code))
    return (names & nodes()).union(*(listed(each) for each in STRING.findall(text)))


def in_python(text: str) -> set[str]:
    """The nodes that a module's strings are or list, but for what it exports and documents."""
    names: set[str] = set()
    for node in parts(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            names |= listed(node.value)
    return names


def parts(tree: ast.AST) -> Iterator[ast.AST]:
    exports = isinstance(tree, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in tree.targets)
    documents = isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant)
    if not exports and not documents:
        yield tree
        for child in ast.iter_child_nodes(tree):
            yield from parts(child)


def named(paths: Iterable[Path]) -> dict[str, set[str]]:
    """By file outside the free folders, the nodes that it names."""
    out = {}
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(FREE):
            text = path.read_text(encoding="utf-8")
            out[name] = in_java(text) if path.suffix == ".java" else in_python(text)
    return {name: some for name, some in out.items() if some}


@cache
def everywhere() -> dict[str, set[str]]:
    return named(p for folder in FOLDERS.values() for p in (ROOT / folder).rglob("*") if p.suffix in (".java", ".py"))


def test_nodes_are_named_in_their_families_alone() -> None:
    names = {file: some - set(EXCEPTIONS.get(file, ((), ""))[0]) for file, some in everywhere().items()}
    wrong = {file: sorted(some) for file, some in names.items() if some and EXCEPTIONS.get(file, ((), ""))[0] != ("*",)}
    assert wrong == {}


@pytest.mark.parametrize("file", EXCEPTIONS)
def test_an_exception_is_needed(file: str) -> None:
    names, reason = EXCEPTIONS[file]
    there = everywhere().get(file, set())
    assert reason and there and (names == ("*",) or set(names) == there)


def test_names_are_seen() -> None:
    assert in_python('"""Join"""\n__all__ = ["View"]\nX = {"Join": "a Join", "Sort, Tail": f(" Filter ")}\n') == {
        "Join",
        "Sort",
        "Tail",
        "Filter",
    }
    assert in_java('import org.apache.spark.sql.x.Join$;\n/** Sort */ Object a = "Tail Union"; // View\n') == {
        "Join",
        "Tail",
        "Union",
    }
    assert in_java("import org.apache.spark.sql.catalyst.plans.logical.*;\nclass A { Sort s = a.View; }\n") == {"Sort"}
