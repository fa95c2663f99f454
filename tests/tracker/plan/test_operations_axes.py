"""Each source operation names the axes that number its rows, and no other's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _operations import axes
from oracle.cases import Frames
from oracle.tables import TABLES

pytestmark = pytest.mark.spark

SUMS = "WITH c AS (SELECT k, sum(n) AS s FROM skew GROUP BY k) "
PLANS: dict[str, tuple[Callable[[Frames], Any], list[str]]] = {
    "one": (lambda t: t.emp.filter("id > 1"), ["emp"]),
    "a self-join": (lambda t: (lambda e: e.alias("a").join(e.alias("b"), "id"))(t.emp), ["emp", "emp"]),
    "two tables": (lambda t: t.emp.join(t.dept, "k"), ["emp", "dept"]),
    "a union of one frame": (lambda t: (lambda e: e.union(e))(t.emp), ["emp", "emp"]),
    "three": (lambda t: (lambda e: e.union(e).union(t.emp))(t.emp), ["emp", "emp", "emp"]),
    "a union and another": (
        lambda t: (lambda e: e.select("k").union(t.dept.select("k")).union(e.select("k")))(t.emp),
        ["emp", "dept", "emp"],
    ),
    "a CTE used twice": (
        lambda t: t.sql(SUMS + "SELECT a.k, b.s FROM c a JOIN c b ON a.k = b.k + 1"),
        ["skew", "skew"],
    ),
    "a CTE and its highest": (
        lambda t: t.sql(SUMS + "SELECT k FROM c WHERE s = (SELECT max(s) FROM c)"),
        ["skew", "skew"],
    ),
    "equal scalar subqueries": (
        lambda t: t.sql("SELECT id + (SELECT max(w) FROM dept) + (SELECT max(w) FROM dept) AS v FROM emp"),
        ["emp", "dept", "dept"],
    ),
    "EXISTS": (
        lambda t: t.sql("SELECT id FROM emp WHERE EXISTS (SELECT 1 FROM dept WHERE dept.k = emp.k)"),
        ["emp", "dept"],
    ),
    "NOT IN": (
        lambda t: t.sql("SELECT id FROM emp WHERE k NOT IN (SELECT k FROM dept WHERE k IS NOT NULL)"),
        ["emp", "dept"],
    ),
    "a correlated scalar": (
        lambda t: t.sql("SELECT id, (SELECT max(w) FROM dept WHERE dept.k = emp.k) AS m FROM emp"),
        ["emp", "dept"],
    ),
    "a semi-join of the same": (lambda t: (lambda e: e.join(e, "id", "semi"))(t.emp), ["emp", "emp"]),
    "an anti-join": (lambda t: t.emp.join(t.dept, "k", "anti"), ["emp", "dept"]),
    "except all": (lambda t: t.emp.select("k").exceptAll(t.dept.select("k")), ["emp", "dept"]),
    "intersect": (lambda t: t.dept.select("k").intersect(t.emp.select("k")), ["dept", "emp"]),
    "a lateral join": (
        lambda t: t.sql("SELECT id, s FROM emp, LATERAL (SELECT sum(w) AS s FROM dept WHERE dept.k = emp.k)"),
        ["emp", "dept"],
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_axes(name: str, spark: Any, sources: Path) -> None:
    """In order of the user's plan the sources are as expected, each with an axis of its data set, all axes taken."""
    make, expected = PLANS[name]
    t = Frames(spark, TABLES, sources)
    found, names = axes(make(t))
    read = [o for o in found.operations if o.categories == ("source",)]
    places = {Path(t.paths[n]).name: n for n in t.paths}
    assert sorted(places[names[a]] for o in read for a in o.axes) == sorted(expected)
    assert [{places[names[a]] for a in o.axes} for o in read] == [{n} for n in expected]
    assert sorted(a for o in read for a in o.axes) == list(range(1, len(names)))
