"""Random histories of three datasets: what any question says of their rows is what a mirror in plain Python knows.

`PROVSPARK_HISTORIES` is the number of long histories, `PROVSPARK_SEED` the first seed. A history that fails is shrunk
and printed, to be kept in _history_kept.py.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from _histories import History, Running, draw
from _history_answers import Asking
from _history_kept import KEPT
from _history_page import check_page

import provspark

pytestmark = pytest.mark.spark

HISTORIES = int(os.environ.get("PROVSPARK_HISTORIES", "200"))
SEED = int(os.environ.get("PROVSPARK_SEED", "0"))
BATCH = 10
FAILURES = Exception, pytest.fail.Exception
OFTEN = 3
"""How often a history that failed once is asked about, each time about other versions, runs, times and rows."""


@pytest.fixture(autouse=True)
def quiet(spark: Any) -> Iterator[None]:
    """Some jobs of a history are to fail; Spark's log would tell each at length."""
    spark.sparkContext.setLogLevel("OFF")
    yield
    spark.sparkContext.setLogLevel("ERROR")


@pytest.mark.long
@pytest.mark.parametrize("first", range(SEED, SEED + HISTORIES, BATCH))
def test_random_histories(first: int, spark: Any, tmp_path: Path) -> None:
    for seed in range(first, min(first + BATCH, SEED + HISTORIES)):
        check(draw(seed), seed, spark, tmp_path)


def test_some_random_histories(spark: Any, tmp_path: Path) -> None:
    for seed in range(10**6, 10**6 + 4):
        check(draw(seed), seed, spark, tmp_path)


@pytest.mark.parametrize("history", KEPT.values(), ids=KEPT)
def test_histories_that_failed_once(history: History, spark: Any, tmp_path: Path) -> None:
    run(history, spark, tmp_path / "history", OFTEN)


def check(history: History, seed: int, spark: Any, folder: Path) -> None:
    """Run a history and ask about it, half-way and at its end; of one that fails, tell the shortest that fails."""
    try:
        run(history, spark, folder / "history", 1, str(seed))
    except FAILURES as error:
        shortest = shrunk(history, spark, folder / "shrunk")
        pytest.fail(f"{error!r}\n\nPROVSPARK_SEED={seed} PROVSPARK_HISTORIES=1 fails; in short:\n{shortest}")


def run(history: History, spark: Any, folder: Path, times: int, drawn: str = "") -> None:
    """Run a history, and compare what is told with the mirror, half-way and at its end."""
    folder.mkdir()
    running = Running(history, spark, folder)
    moments = {len(history.acts) // 2, len(history.acts) - 1}
    prov = None
    for number, _ in enumerate(running.acts()):
        if number in moments and running.mirror.steps:
            prov = prov or provspark.open(running.store)
            prov.refresh()
            for time in range(times):
                asking = Asking(running, prov, random.Random(f"{drawn} {number} {time}"))
                asking.everything()
                if number == len(history.acts) - 1 or times > 1:
                    check_page(asking)
    shutil.rmtree(folder)


def shrunk(history: History, spark: Any, folder: Path) -> History:
    """Leave out operations, and what is special of them, as long as it fails."""
    numbers = itertools.count()
    smaller = True
    while smaller:
        smaller = False
        for less in _less(history):
            try:
                run(less, spark, folder.with_name(f"{folder.name}{next(numbers)}"), 3)
            except FAILURES:
                history, smaller = less, True
                break
    return history


def _less(history: History) -> Iterator[History]:
    acts = history.acts
    yield from (replace(history, acts=acts[:i] + acts[i + 1 :]) for i in range(len(acts)) if len(acts) > 1)
    plainer = {"ends": "well", "maps": 0, "days": (), "drawn": 1, "day": 1}
    for i, act in enumerate(acts):
        for name, value in plainer.items():
            if getattr(act, name) != value:
                yield replace(history, acts=(*acts[:i], replace(act, **{name: value}), *acts[i + 1 :]))
