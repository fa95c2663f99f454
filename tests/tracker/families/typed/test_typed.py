"""What capture makes of plans of this family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _golden_plans import check_plans
from oracle.cases import Frames

pytestmark = pytest.mark.spark


def objects(t: Frames) -> Any:
    """Rows made objects and rows again, as by a Scala program's map."""
    from pyspark.sql import DataFrame

    jvm: Any = t.spark._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.cook(
        "public class Same implements org.apache.spark.api.java.function.MapFunction {"
        " public Object call(Object row) { return row; } }"
    )
    loaded = compiler.getClassLoader().loadClass("Same").getConstructors()[0]
    same = loaded.newInstance(t.spark.sparkContext._gateway.new_array(jvm.java.lang.Object, 0))
    strings = jvm.org.apache.spark.sql.Encoders.STRING()
    return DataFrame(getattr(t.emp.select("g")._jdf, "as")(strings).map(same, strings).toDF(), t.spark)


PLANS = {"map": objects}


def test_plans(spark: Any, sources: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    check_plans(PLANS, __file__, spark, sources, tmp_path, request.config.getoption("--update-plans"))
