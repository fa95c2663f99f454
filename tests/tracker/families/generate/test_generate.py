"""What capture makes of plans of this family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _golden_plans import check_plans
from pyspark.sql import functions as sf

pytestmark = pytest.mark.spark


PLANS = {"explode": lambda t: t.bag.select("id", sf.explode("words").alias("word"))}


def test_plans(spark: Any, sources: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    check_plans(PLANS, __file__, spark, sources, tmp_path, request.config.getoption("--update-plans"))
