"""Runs the text of a script under capture, and looks for hidden values in the plan that it leaves."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from _scripts import run, watched

import provspark
from provspark.model import said_constants as said
from provspark.tracker import attach
from provspark.tracker.script import program
from provspark.tracker.script.hidden_values import Hidden, hidden
from provspark.tracker.script.row_constants import MadeRows
from provspark.tracker.spark.jvm import Jvm

HEAD = """
import datetime, functools, operator, os, sys
from datetime import date, timedelta
from decimal import Decimal
import pandas as pd
from pyspark.sql import Window, functions as F
from pyspark.sql import functions as sf
from pyspark.sql.functions import col, lit, pandas_udf, udf

df = spark.read.parquet(source)
got = df.collect()
keys = [r.k for r in got]
x = got[0].v
"""


def table(spark: Any, folder: Path) -> str:
    """Write the table that the scripts read; return its path."""
    path = str(folder / "t")
    first = datetime(2023, 11, 14, 22, 13, 20)
    rows = [(f"{c}ey", v, first + timedelta(days=v)) for c, v in zip("stuvwx", (11, 12, 13, 3, 15, 16), strict=True)]
    spark.createDataFrame(rows, "k STRING, v BIGINT, t TIMESTAMP").coalesce(1).write.parquet(path)
    return path


def look(
    text: str,
    spark: Any,
    source: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    numbers: frozenset[str] = frozenset(),
) -> Hidden:
    """Run a script under capture; look at the plan of the frame that it leaves as `out`."""
    program().forget()
    said.forget()
    monkeypatch.setattr(sys, "argv", ["script.py", "2024-05-06", "31"])
    jvm = Jvm(spark)
    made = MadeRows(jvm)
    with attach(store=(folder / "store").as_uri(), step="s"), watched(monkeypatch, made):
        monkeypatch.setattr(sys, "argv", ["script.py", "2024-05-06", "31"])
        names = run(folder, HEAD + text + "\n", spark=spark, source=source, provspark=provspark)
        plan = names["out"]._jdf.queryExecution().analyzed()
        with ThreadPoolExecutor(1) as alone:  # this file is not of the script
            found = alone.submit(hidden, jvm, plan, made, numbers=numbers).result()
        assert not any(str(key) in found.reason for key in names["keys"])
    return found
