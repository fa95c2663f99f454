"""Patched methods look and fail as Spark's own: their signatures, and the errors of calls that do not fit."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from provspark.tracker import attach
from provspark.tracker.intercept.patches import Interception

pytestmark = pytest.mark.spark


def methods(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[tuple[type, str, Any, Any]]:
    """Yield each patched method of Spark: its class, its name, the original and the patch."""
    found: list[tuple[type, str, Any]] = []
    patch = Interception._patch

    def noted(self: Interception, owner: type, name: str, original: Any, patched: Any) -> None:
        patch(self, owner, name, original, patched)
        found.append((owner, name, original))

    monkeypatch.setattr(Interception, "_patch", noted)
    with attach(store=(folder / "store").as_uri(), step="s"):
        for owner, name, original in found:
            if not isinstance(original, property) and inspect.isfunction(original):
                yield owner, name, original, owner.__dict__[name]


def test_signatures(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0
    for owner, name, original, patched in methods(monkeypatch, tmp_path):
        assert patched is not original
        where = f"{owner.__name__}.{name}"
        assert inspect.signature(patched) == inspect.signature(original), where
        assert (patched.__name__, patched.__qualname__) == (original.__name__, original.__qualname__), where
        assert (patched.__doc__, patched.__module__) == (original.__doc__, original.__module__), where
        seen += 1
    assert seen > 60


def test_calls_that_do_not_fit(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0
    for owner, name, original, patched in methods(monkeypatch, tmp_path):
        this = object.__new__(owner)
        for arguments, named in (((), {"unheard_of": 1}), (tuple(range(40)), {})):
            try:
                inspect.signature(original).bind(this, *arguments, **named)
            except TypeError:
                pass
            else:
                continue  # it takes anything
            said = []
            for function in (original, patched):
                with pytest.raises(TypeError) as caught:
                    function(this, *arguments, **named)
                said.append(str(caught.value))
            assert said[0] == said[1], f"{owner.__name__}.{name}"
            seen += 1
    assert seen > 100


def test_the_patches_are_documented(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/architecture.md has a table of them, with reasons: a new patch needs one."""
    found = set()
    patch = Interception._patch

    def noted(self: Interception, owner: type, name: str, original: Any, patched: Any) -> None:
        patch(self, owner, name, original, patched)
        if not owner.__module__.startswith("pyspark.ml"):
            found.add((owner.__name__, name))

    monkeypatch.setattr(Interception, "_patch", noted)
    with attach(store=(tmp_path / "store").as_uri(), step="s"):
        pass
    text = (Path(__file__).parents[3] / "docs/architecture.md").read_text("utf-8")
    rows = [row.split("|")[1:3] for row in text.partition("### What is patched")[2].partition("\n## ")[0].splitlines()]
    names = [[re.findall("`([^`]+)`", cell) for cell in row] for row in rows if len(row) == 2]
    told = {(owner, name) for owners, methods in names for owner in owners for name in methods}
    assert found - told == set()
    pairs = {name for _, name in found}
    assert {name for _, name in told} - pairs == {"convert_exception", "first_spark_call"}


def test_a_call_without_what_it_needs(spark: Any, tmp_path: Path) -> None:
    writer = spark.readStream.format("rate").load().writeStream
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        for call, missing in ((spark.createDataFrame, "data"), (spark.sql, "sqlQuery"), (writer.foreachBatch, "func")):
            with pytest.raises(TypeError, match=f"missing 1 required positional argument: '{missing}'"):
                call()
    assert capture.untracked == ()
