"""Runs the text of a script as a file of its own, and looks at what it hands to Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark import RDD, SparkContext
from pyspark.sql import SparkSession

import provspark
from provspark.tracker.script.row_constants import MadeRows, not_constant

PATCHED = {
    "SparkSession.createDataFrame": SparkSession,
    "SparkSession.range": SparkSession,
    "SparkSession.sql": SparkSession,
    "SparkContext.parallelize": SparkContext,
    "SparkContext.range": SparkContext,
}

HEAD = """
import datetime, os, sys, uuid
from datetime import date
from decimal import Decimal
from pyspark.sql import Row, functions as F
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

source = spark.range(5).withColumn("s", F.col("id").cast("string"))
got = source.collect()
p = source.toPandas()
"""


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch, made: MadeRows | None = None) -> Iterator[list[tuple[str, bool]]]:
    """Yield a list that fills with each outermost call of a maker, and whether its rows are constant."""
    found: list[tuple[str, bool]] = []
    handed: list[Any] = []
    depth = [0]

    def watch(key: str, owner: type) -> None:
        name = key.split(".")[1]
        plain = getattr(owner, name)

        def call(this: Any, *args: Any, **kwargs: Any) -> Any:
            data = args[0] if args else next(iter(kwargs.values()))
            if made is not None and isinstance(data, RDD):
                why = made.of_rdd(data._jrdd)
            else:
                why = not_constant(key, None, data)
            if not depth[0]:
                found.append((key, not why))
            depth[0] += 1
            try:
                result = plain(this, *args, **kwargs)
            finally:
                depth[0] -= 1
            if made is not None and not depth[0]:
                if owner is SparkContext:
                    made.note_rdd(result._jrdd, why)
                    handed.append(result)
                elif not isinstance(data, RDD) or data in handed:
                    made.note(result._jdf, why)
            return result

        call.__code__ = call.__code__.replace(co_filename="<frozen tests>")  # no line of the script
        patch.setattr(owner, name, call)

    with monkeypatch.context() as patch:
        for key, owner in PATCHED.items():
            watch(key, owner)
        yield found


def run(folder: Path, text: str, name: str = "script.py", **names: Any) -> dict[str, Any]:
    """Run a script; return its names."""
    path = folder / name
    path.write_text(text)
    space: dict[str, Any] = {"__name__": "__main__", "__file__": str(path), **names}
    exec(compile(text, str(path), "exec"), space)
    return space


def last(folder: Path, text: str, spark: Any, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Run text after a head; return of each row made by it whether it is constant."""
    with watched(monkeypatch) as found:
        run(folder, HEAD + text + "\n", spark=spark, provspark=provspark)
    return [constant for _, constant in found[1:]]  # the first one makes the source
