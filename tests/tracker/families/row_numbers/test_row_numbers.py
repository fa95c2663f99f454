"""What capture makes of plans of this family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _golden_plans import check_plans

pytestmark = pytest.mark.spark


PLANS = {"pandas on Spark": lambda t: t.emp.select("id").pandas_api().to_spark(index_col="n")}


def test_plans(spark: Any, sources: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    check_plans(PLANS, __file__, spark, sources, tmp_path, request.config.getoption("--update-plans"))
