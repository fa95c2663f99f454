"""What capture makes of plans of this family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _golden_plans import check_plans

pytestmark = pytest.mark.spark


PLANS = {
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
}


def test_plans(spark: Any, sources: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    check_plans(PLANS, __file__, spark, sources, tmp_path, request.config.getoption("--update-plans"))
