"""What capture makes of plans of this family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from _golden_plans import check_plans

pytestmark = pytest.mark.spark


def first(group: pd.DataFrame) -> pd.DataFrame:
    return group.head(1)


PLANS = {"applyInPandas": lambda t: t.emp.select("k", "id").groupBy("k").applyInPandas(first, "k INT, id INT")}


def test_plans(spark: Any, sources: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    check_plans(PLANS, __file__, spark, sources, tmp_path, request.config.getoption("--update-plans"))
