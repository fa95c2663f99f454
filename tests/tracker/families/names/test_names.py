"""What capture makes of plans of this family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _golden_plans import check_plans

pytestmark = pytest.mark.spark


PLANS = {
    "a correlated subquery's value": lambda t: t.sql(
        "SELECT id, (SELECT sum(w) FROM dept WHERE dept.k = emp.k) AS s FROM emp"
    ),
    "a LIMIT of each row's own": lambda t: t.sql(
        "SELECT id, w FROM emp, LATERAL (SELECT w FROM dept WHERE dept.k = emp.k ORDER BY w LIMIT 1)"
    ),
    "EXCEPT ALL": lambda t: t.emp.select("k").exceptAll(t.dept.select("k")),
}


def test_plans(spark: Any, sources: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    check_plans(PLANS, __file__, spark, sources, tmp_path, request.config.getoption("--update-plans"))
