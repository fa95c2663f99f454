"""The table of actions against PySpark's classes: what brings values to the driver is in it, whatever version."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark.ml
import pytest
from pyspark import RDD, Accumulator, SparkContext
from pyspark.sql import GroupedData, Observation, SparkSession
from pyspark.sql.catalog import Catalog
from pyspark.sql.dataframe import DataFrame, DataFrameNaFunctions, DataFrameStatFunctions

from provspark.tracker.intercept.actions import LEARNERS, METHODS, reading

LAZY = re.compile(
    r"\b(DataFrame|RDD|Column|GroupedData|TableArg|DataFrameWriter\w*|DataStreamWriter|MergeIntoWriter)\b"
)
"""What a call returns that runs nothing."""
TAKES = re.compile(r"\b(DataFrame|RDD)\b")


def public(owner: type) -> Iterator[tuple[str, Any]]:
    for name in dir(owner):
        member = inspect.getattr_static(owner, name)
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if not name.startswith("_") and callable(function) and not isinstance(member, type):
            yield name, function


def returned(function: Any) -> str:
    return str(inspect.signature(function).return_annotation)


def arguments(function: Any) -> str:
    parameters = inspect.signature(function).parameters.values()
    return " ".join(str(p.annotation) for p in parameters if p.name != "self")


@pytest.mark.parametrize(
    "owner", [DataFrame, RDD, GroupedData, DataFrameNaFunctions, DataFrameStatFunctions, Observation, Accumulator]
)
def test_each_method_is_known(owner: type) -> None:
    """What returns neither a frame nor an RDD nor a column is in the table."""
    known = METHODS.get(owner.__name__, {})
    eager = {n for n, f in public(owner) if not LAZY.search(returned(f).replace("DataFrameLike", ""))}
    eager -= {"toDF"}  # a session adds it to RDD, without the annotation of what it returns
    assert eager <= set(known), f"say in tracker/intercept/actions.py what these return: {eager - set(known)}"
    assert set(known) <= eager | {"sql_ctx"}


@pytest.mark.parametrize("owner", [SparkContext, SparkSession, Catalog])
def test_what_takes_frames_is_known(owner: type) -> None:
    """Other classes bring values of rows only where they are given some."""
    found = {n for n, f in public(owner) if TAKES.search(arguments(f)) and not LAZY.search(returned(f))}
    assert found <= set(METHODS.get(owner.__name__, {}))


def test_the_docs_list_them() -> None:
    text = (Path(__file__).parents[3] / "docs" / "session.md").read_text()
    told = set(re.findall(r"`([\w.]+)`", text[text.index("## Reads on the driver") : text.index("### One number")]))
    named = {path.removeprefix("Estimator.").removeprefix("Evaluator.") for some in LEARNERS.values() for path in some}
    inner = {"callJavaFunc", "JavaWrapper._call_java"}
    assert (named - inner) | {*reading("DataFrame"), *reading("RDD")} <= told
    assert {
        f"{owner}.{name}" for owner in ("Accumulator", "Observation", "SparkContext") for name in reading(owner)
    } <= told


def test_what_learns_is_known() -> None:
    """Whatever of MLlib takes a frame and returns none goes through a function that is watched."""
    watched = {path.rsplit(".", 1)[-1] for paths in LEARNERS.values() for path in paths}
    by_java = re.compile(r"_call_java\(|_java_obj\.")
    unseen = set()
    for module in pkgutil.walk_packages(pyspark.ml.__path__, "pyspark.ml."):
        if re.search(r"\.(tests|connect|torch|deepspeed|model_cache|dl_util|functions)\b", module.name):
            continue
        for owner in vars(importlib.import_module(module.name)).values():
            if not isinstance(owner, type) or owner.__module__ != module.name:
                continue
            for name, function in public(owner):
                takes = name in vars(owner) and TAKES.search(arguments(function))
                seen = name in watched or LAZY.search(returned(function))
                if takes and not seen and not by_java.search(inspect.getsource(function)):
                    unseen.add(f"{owner.__qualname__}.{name}")
    assert unseen == set()
