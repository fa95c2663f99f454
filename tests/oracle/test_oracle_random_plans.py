"""Thousands of random plans on random tables, each under one of the settings: edges and rows are the oracle's.

`PROVSPARK_PLANS` is the number of long plans, `PROVSPARK_SEED` the first seed, `PROVSPARK_MASTER` the master of Spark:
in local-cluster mode the executors are processes of their own. A plan that fails is shrunk and printed as
a line for kept_plans.txt.
"""

from __future__ import annotations

import ast
import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from oracle.batches import TABLES_FOR, Drawn, check, draw, drawn
from oracle.random_plans import Plan
from oracle.settings import SETTINGS, Settings, of_seed

pytestmark = pytest.mark.spark

PLANS = int(os.environ.get("PROVSPARK_PLANS", "2000"))
SEED = int(os.environ.get("PROVSPARK_SEED", "0"))
KEPT = [
    (ast.literal_eval(line.rsplit(" ", 1)[0]), int(line.rsplit(" ", 1)[1]))
    for line in (Path(__file__).parent / "kept_plans.txt").read_text().splitlines()
    if not line.startswith("#")
]
"""Plans that failed once, with the seed of their tables."""


@pytest.mark.long
@pytest.mark.parametrize("first", range(SEED, SEED + PLANS, TABLES_FOR))
def test_random_plans(first: int, spark: Any, tmp_path: Path) -> None:
    seeds = range(first, min(first + TABLES_FOR, SEED + PLANS))
    batch = several(seeds)
    assert len(batch) > len(seeds) / 2
    for _, some in itertools.groupby(batch, lambda each: each.tables):
        check(list(some), spark, tmp_path, tmp_path / "work")


def test_some_random_plans(spark: Any, tmp_path: Path) -> None:
    check(several(range(10**6, 10**6 + 12)), spark, tmp_path, tmp_path / "work")


@pytest.mark.parametrize(("plan", "seed"), KEPT, ids=repr)
def test_plans_that_failed_once(plan: Plan, seed: int, spark: Any, tmp_path: Path) -> None:
    """Under two combinations of settings that differ in most of them."""
    under(plan, seed, SETTINGS[1:3], spark, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(("plan", "seed"), KEPT, ids=repr)
def test_plans_that_failed_once_under_other_settings(plan: Plan, seed: int, spark: Any, tmp_path: Path) -> None:
    under(plan, seed, (*SETTINGS[:1], *SETTINGS[3:]), spark, tmp_path)


def under(plan: Plan, seed: int, several: Sequence[Settings], spark: Any, tmp_path: Path) -> None:
    batch = [drawn(plan, seed, settings) for settings in several]
    check([each for each in batch if each is not None], spark, tmp_path, tmp_path / "work")


def test_settings_meet_pairwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROVSPARK_SETTINGS", raising=False)
    names = list(SETTINGS[0])
    used = [of_seed(seed) for seed in range(100)]
    for i, a in enumerate(names):
        for b in names[:i]:
            every = {(one[a], other[b]) for one in used for other in used}
            assert {(one[a], one[b]) for one in used} == every, (a, b)


def several(seeds: range) -> list[Drawn]:
    return [each for each in map(draw, seeds) if each is not None]
