"""Two tables of Spark's own catalogue that one test writes into, and the steps that write them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracle import lineage, outputs
from oracle.tables import SKEW

from provspark.tracker import attach


class Session:
    """Tables that one test makes, and the steps that write them."""

    def __init__(self, spark: Any, root: Path, work: Path) -> None:
        self.spark, self.work = spark, work
        self.paths = {"skew": SKEW.place(root)}
        SKEW.read(spark, str(self.paths["skew"])).select("n", "v", "k").createOrReplaceTempView("rows")
        for name in ("one", "two"):
            place = f"LOCATION '{work / name}'"
            spark.sql(f"CREATE TABLE {name} (n INT, v BIGINT, k INT) USING parquet {place}")

    def run(self, call: Callable[[], Any]) -> Any:
        with attach(store=(self.work / "store").as_uri(), step="sql") as capture:
            call()
        return capture

    def witnesses(self, capture: Any, name: str) -> dict[int, frozenset[Any]]:
        """By the rows' ``n``, where they came from."""
        found = outputs.read(self.work / name).rows
        lines = lineage.Lineage(self.work / "store", capture.manifest, [SKEW], self.paths)
        return {row[0]: w for row, w in zip(found, lines.backward(self.work / name, len(found)), strict=True)}


@pytest.fixture(name="session")
def made_session(spark: Any, sources: Path, tmp_path: Path) -> Any:
    yield Session(spark, sources, tmp_path)
    for name in ("one", "two", "made"):
        spark.sql(f"DROP TABLE IF EXISTS {name}")


def itself(*numbers: int) -> dict[int, frozenset[Any]]:
    return {n: frozenset({("skew", 0, n)}) for n in numbers}


def error(call: Callable[[], Any]) -> tuple[type, str]:
    with pytest.raises(Exception) as caught:
        call()
    return type(caught.value), re.sub(r"#\d+|made\.\d+|==+.*", "", str(caught.value), flags=re.DOTALL)
