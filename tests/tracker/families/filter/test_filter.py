"""What capture makes of plans of this family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _golden_plans import check_plans
from families.typed.shapes import FILTER, java
from pyspark.sql import DataFrame

pytestmark = pytest.mark.spark


PLANS = {
    "a condition": lambda t: t.emp.where("v > 10"),
    "a typed function": lambda t: DataFrame(t.emp._jdf.filter(java(t.spark, "Large", FILTER)), t.spark),
}


def test_plans(spark: Any, sources: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    check_plans(PLANS, __file__, spark, sources, tmp_path, request.config.getoption("--update-plans"))
