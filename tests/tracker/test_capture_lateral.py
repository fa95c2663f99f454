"""Lateral joins: the rows joined, whatever Spark makes of the correlation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, check
from oracle.operators import explode, join, rename, select
from oracle.relation import Relation, Witness
from oracle.tables import TABLES
from oracle.values import eq, lt

pytestmark = pytest.mark.spark


def counted(left: Relation, right: Relation, on: Any) -> Relation:
    """Each left row with how many right rows fit, owed to these."""
    rows = []
    for v, w in left.rows:
        fit = [y for x, y in right.rows if on(v, x) is True]
        rows.append(((v.id, len(fit)), w | frozenset[Witness]().union(*fit)))
    return Relation.of(("id", "n"), rows)


CASES = [
    Case(
        "equality",
        lambda t: t.sql("SELECT e.id, d.w FROM emp e, LATERAL (SELECT * FROM dept d WHERE d.k = e.k) d"),
        lambda t: rename(
            select(join(t.emp, rename(t.dept, "l", "n", "y", "w"), lambda a, b: eq(a.k, b.l)), "id", "w"), "id", "w"
        ),
    ),
    Case(
        "inequality, outer",
        lambda t: t.sql("SELECT e.id, d.w FROM emp e LEFT JOIN LATERAL (SELECT * FROM dept d WHERE d.w < e.k) d"),
        lambda t: select(join(t.emp, rename(t.dept, "l", "n", "y", "w"), lambda a, b: lt(b.w, a.k), "left"), "id", "w"),
    ),
    Case(
        "count, none for some",
        lambda t: t.sql("SELECT e.id, d.n FROM emp e, LATERAL (SELECT count(*) n FROM dept d WHERE d.k = e.k) d"),
        lambda t: counted(t.emp, t.dept, lambda a, b: eq(a.k, b.k)),
    ),
    Case(
        "of the same source",
        lambda t: t.sql("SELECT e.id, d.n FROM emp e, LATERAL (SELECT count(*) n FROM emp) d"),
        lambda t: counted(t.emp, t.emp, lambda a, b: True),
    ),
    Case(
        "explode",
        lambda t: t.sql("SELECT b.id, c FROM bag b, LATERAL explode(b.words) AS x(c)"),
        lambda t: select(explode(t.bag, "words"), "id", "col"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_lateral(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)
