"""What capture makes of plans of this family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _golden_plans import check_plans

pytestmark = [pytest.mark.spark, pytest.mark.since("4.2")]


PLANS = {
    "inner": lambda t: t.sql("SELECT id, w FROM emp JOIN dept EXACT NEAREST 2 BY DISTANCE abs(id - w)"),
    "outer, with conditions above": lambda t: t.sql(
        "SELECT id, w FROM emp LEFT OUTER JOIN dept APPROX NEAREST 1 BY SIMILARITY w / id WHERE id > 0 AND w < 9"
    ),
}


def test_plans(spark: Any, sources: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    check_plans(PLANS, __file__, spark, sources, tmp_path, request.config.getoption("--update-plans"), version="4.2")
