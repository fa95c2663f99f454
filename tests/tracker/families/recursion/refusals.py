"""Plans of this family, which are refused."""

from __future__ import annotations

from typing import Any

from oracle.cases import Frames


def recursive(t: Frames) -> Any:
    t.dept.createOrReplaceTempView("dept")
    text = (
        "WITH RECURSIVE r AS (SELECT w FROM dept WHERE w < 3 UNION ALL SELECT w + 3 FROM r WHERE w < 7) SELECT * FROM r"
    )
    return t.spark.sql(text)  # refused


REFUSED = [(recursive, "UnionLoop", "4.1")]
