"""Each command of Spark, Delta Lake and Iceberg is in one list of Commands.java, whatever the version of Spark.

The slice `java` runs this on all supported versions.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from _jars import DELTA, DELTA_4_0, ICEBERG, jars
from _plan_classes import command_classes, spark_jars
from pyspark.find_spark_home import _find_spark_home

from provspark.tracker.spark.jvm import java_files

SPARK = spark_jars(Path(_find_spark_home()) / "jars")
SET = re.compile(r"Set (\w+) =\s*set\((.*?)\);", re.DOTALL)
FORMATS = {
    "Delta Lake for Spark 4.1": (DELTA, {"MergeIntoCommand", "DeltaReorgTable", "ShowDeltaPartitionsCommand"}),
    "Delta Lake for Spark 4.0": (DELTA_4_0, {"MergeIntoCommand", "DeltaReorgTable"}),
    "Iceberg": (ICEBERG, {"CreateOrReplaceBranch", "AddPartitionField", "CreateIcebergView"}),
}


def lists() -> dict[str, list[str]]:
    """By list of Commands.java, the commands in it."""
    text = java_files()["intercept/Commands.java"].read_text(encoding="utf-8")
    return {name: " ".join(re.findall(r'"([^"]*)"', names)).split() for name, names in SET.findall(text)}


def listed() -> Counter[str]:
    return Counter(name for names in lists().values() for name in names)


def test_the_lists() -> None:
    assert set(lists()) == {"QUIET", "READING", "DROPPING", "WRITING", "CACHING"}
    assert all(lists().values())
    assert [name for name, times in listed().items() if times > 1] == []


def test_every_command_of_spark_is_in_a_list() -> None:
    commands = command_classes(SPARK)
    assert len(commands) > 150 and commands >= {"ClearCacheCommand", "InsertIntoHadoopFsRelationCommand", "CacheTable"}
    assert sorted(commands - listed().keys()) == []


@pytest.mark.long
@pytest.mark.parametrize("name", FORMATS)
def test_every_command_of_a_table_format_is_in_a_list(name: str) -> None:
    wanted, some = FORMATS[name]
    commands = command_classes([*SPARK, *jars(wanted)]) - command_classes(SPARK)
    assert commands >= some
    assert sorted(commands - listed().keys()) == []
