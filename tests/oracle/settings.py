"""Spark's settings under which random plans run: each plan under one of them."""

from __future__ import annotations

from collections.abc import Mapping

Settings = Mapping[str, object]


def settings(adaptive: bool, codegen: bool, partitions: int, broadcast: str, merge: bool, tasks: int) -> Settings:
    """Name a choice of each; `tasks` is into how many a scan is divided, where it has the files for it."""
    return {
        "spark.sql.adaptive.enabled": adaptive,
        "spark.sql.codegen.wholeStage": codegen,
        "spark.sql.shuffle.partitions": partitions,
        "spark.sql.autoBroadcastJoinThreshold": broadcast,
        "spark.sql.join.preferSortMergeJoin": merge,
        "spark.sql.files.minPartitionNum": tasks,
    }


SETTINGS = (
    settings(True, True, 1, "10MB", True, 1),
    settings(True, False, 200, "-1", False, 1),
    settings(False, True, 3, "-1", True, 1),
    settings(False, False, 1, "-1", False, 3),
    settings(True, True, 200, "10MB", False, 3),
    settings(False, False, 3, "10MB", False, 1),
    settings(True, True, 3, "-1", True, 3),
)
RARE = (settings(False, True, 200, "-1", True, 1), settings(False, False, 200, "10MB", True, 1))
"""Two hundred tasks for each exchange take long: one plan of fifty runs so."""


def of_seed(seed: int) -> Settings:
    """Return the settings of a plan. Every pair of values of two of them comes in each 100 plans."""
    return RARE[seed // 50 % 2] if seed % 50 == 49 else SETTINGS[seed % len(SETTINGS)]
