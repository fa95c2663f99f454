"""Runs the text of a script as a file of its own, and looks at what it hands to Spark."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from provspark.tracker.constants import rows_are_constant, script_place

PATCHED = {
    "SparkSession.createDataFrame": SparkSession,
    "SparkSession.range": SparkSession,
    "SparkSession.sql": SparkSession,
    "SparkContext.parallelize": SparkContext,
    "SparkContext.range": SparkContext,
}


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, bool]]]:
    """Yield a list that fills with each outermost call of a maker, and whether its rows are constant."""
    found: list[tuple[str, bool]] = []
    depth = [0]

    def watch(key: str, owner: type) -> None:
        name = key.split(".")[1]
        plain = getattr(owner, name)

        def call(this: Any, *args: Any, **kwargs: Any) -> Any:
            if not depth[0]:
                data = args[0] if args else next(iter(kwargs.values()))
                found.append((key, rows_are_constant(key, script_place(sys._getframe(1)), data)))
            depth[0] += 1
            try:
                return plain(this, *args, **kwargs)
            finally:
                depth[0] -= 1

        monkeypatch.setattr(owner, name, call)

    with monkeypatch.context():
        for key, owner in PATCHED.items():
            watch(key, owner)
        yield found
        monkeypatch.undo()


def run(folder: Path, text: str, name: str = "script.py", **names: Any) -> dict[str, Any]:
    """Run a script; return its names."""
    path = folder / name
    path.write_text(text)
    space: dict[str, Any] = {"__name__": "__main__", "__file__": str(path), **names}
    exec(compile(text, str(path), "exec"), space)
    return space
