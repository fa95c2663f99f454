"""What capture makes of plans of this family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _golden_plans import check_plans
from oracle.cases import Frames

pytestmark = pytest.mark.spark


def cached(t: Frames) -> Any:
    return t.emp.select("id", "v").cache().filter("v > 10")


PLANS = {
    "a range": lambda t: t.spark.range(3),
    "cache": cached,
}


def test_plans(spark: Any, sources: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    check_plans(PLANS, __file__, spark, sources, tmp_path, request.config.getoption("--update-plans"))
