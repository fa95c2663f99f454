"""Spark's settings under which random plans run: each plan under one of them.

With `PROVSPARK_SETTINGS=product` it is one of the full product of the settings.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from typing import Any

Settings = Mapping[str, Any]


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
    settings(False, True, 3, "-1", True, 1),
    settings(False, False, 1, "-1", False, 3),
    settings(False, False, 3, "10MB", False, 1),
    settings(True, True, 3, "-1", True, 3),
)
RARE = (
    settings(True, False, 200, "-1", False, 1),
    settings(True, True, 200, "10MB", False, 3),
    settings(False, True, 200, "-1", True, 1),
    settings(False, False, 200, "10MB", True, 1),
)
"""Two hundred tasks for each exchange take long: one plan of 25 runs so."""


ALL = tuple(
    settings(adaptive, codegen, partitions, broadcast, merge, tasks)
    for (broadcast, merge, tasks), adaptive, codegen, partitions in itertools.product(
        (("10MB", True, 1), ("-1", True, 3), ("-1", False, 1)), (True, False), (True, False), (1, 200)
    )
)
"""The full product of the first three, each with three choices of the others."""


def of_seed(seed: int) -> Settings:
    """Return the settings of a plan. Every pair of values of two of them comes in each 100 plans."""
    if os.environ.get("PROVSPARK_SETTINGS") == "product":
        return ALL[seed % len(ALL)]
    return RARE[seed // 25 % len(RARE)] if seed % 25 == 24 else SETTINGS[seed % len(SETTINGS)]
