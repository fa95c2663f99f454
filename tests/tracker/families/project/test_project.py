"""What capture makes of plans of this family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _golden_plans import check_plans

pytestmark = pytest.mark.spark


PLANS = {
    "computed": lambda t: t.emp.selectExpr("id + 1 AS n", "upper(g) AS g"),
    "a subquery's value": lambda t: t.sql("SELECT id, v - (SELECT max(w) FROM dept) AS d FROM emp"),
}


def test_plans(spark: Any, sources: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    check_plans(PLANS, __file__, spark, sources, tmp_path, request.config.getoption("--update-plans"))
