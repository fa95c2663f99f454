"""Thousands of random plans on random tables, each under one of the settings: edges and rows are the oracle's.

`PROVSPARK_PLANS` says how many in the second pass, `PROVSPARK_SEED` where the seeds begin. A plan that fails is shrunk
and printed; put it into KEPT.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from oracle import lineage, outputs
from oracle.cases import Case, Frames, Scans, compare_lineage, configured, difference, run_tracked
from oracle.random_plans import Plan, TooLargeError, frame, generate, meaning, shrink, tables
from oracle.sources import Source
from oracle.values import canon

pytestmark = pytest.mark.spark

PLANS = int(os.environ.get("PROVSPARK_PLANS", "2000"))
SEED = int(os.environ.get("PROVSPARK_SEED", "0"))
CHUNK = 50
SETTINGS: tuple[Mapping[str, object], ...] = tuple(
    {
        "spark.sql.adaptive.enabled": adaptive,
        "spark.sql.codegen.wholeStage": codegen,
        "spark.sql.shuffle.partitions": partitions,
        "spark.sql.autoBroadcastJoinThreshold": broadcast,
        "spark.sql.join.preferSortMergeJoin": merge,
    }
    for adaptive, codegen, partitions, broadcast, merge in (
        (True, True, 1, "10MB", True),
        (True, False, 200, "-1", False),
        (False, True, 3, "-1", True),
        (False, False, 1, "-1", False),
        (True, True, 200, "10MB", False),
        (False, False, 3, "10MB", True),
        (True, True, 3, "-1", True),
    )
)
"""Every pair of values of two settings comes at least once, but for 200 partitions without adaptive execution."""
KEPT: tuple[tuple[Plan, int], ...] = ()
"""Plans that failed once, with the seed of their tables."""


def run(plan: Plan, sources: tuple[Source, ...], spark: Any, root: Path, work: Path) -> None:
    """Write the plan's rows tracked; AssertionError where rows or edges are not the oracle's."""
    case = Case(repr(plan), lambda t: frame(plan, t), lambda t: meaning(plan, t))
    expected = meaning(plan, Scans(sources))
    frames = Frames(spark, sources, root)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    capture = run_tracked(case, frames, work)
    tracked = outputs.read(work / "out", "parquet")
    rows = Counter(map(canon, tracked.rows))
    assert rows == expected.values(), difference(rows, expected.values())
    assert not capture.untracked, f"refused: {'; '.join(map(str, capture.untracked))}"
    answers = lineage.Lineage(work / "store", capture.manifest, sources, frames.paths)
    got = answers.backward(work / "out", len(tracked.rows))
    compare_lineage(case, expected, Counter(zip(map(canon, tracked.rows), got, strict=True)))
    answers.check_forward(work / "out", lineage.transpose(got))


def check(seed: int, spark: Any, root: Path, work: Path) -> bool:
    """Check the plan of a seed; False if it grows too large to be run."""
    rng = random.Random(seed)
    plan = generate(rng, rng.randint(1, 5))
    table_seed = seed // CHUNK
    sources = tables(table_seed)
    try:
        meaning(plan, Scans(sources))
    except TooLargeError:
        return False
    with configured(spark, SETTINGS[seed % len(SETTINGS)]):
        try:
            run(plan, sources, spark, root / str(table_seed), work)
        except AssertionError as e:
            small = shrink(plan, lambda p: _fails(p, sources, spark, root / str(table_seed), work))
            raise AssertionError(f"seed {seed}: {e}\nshrunk, for KEPT: ({small!r}, {table_seed})") from e
    return True


def _fails(plan: Plan, *where: Any) -> bool:
    try:
        run(plan, *where)
    except AssertionError:
        return True
    return False


@pytest.mark.long
@pytest.mark.parametrize("first", range(SEED, SEED + PLANS, CHUNK))
def test_random_plans(first: int, spark: Any, tmp_path: Path) -> None:
    ran = sum(check(seed, spark, tmp_path, tmp_path / "work") for seed in range(first, first + CHUNK))
    assert ran > CHUNK / 2


def test_some_random_plans(spark: Any, tmp_path: Path) -> None:
    for seed in itertools.chain(range(10**6, 10**6 + 12)):
        check(seed, spark, tmp_path, tmp_path / "work")


@pytest.mark.parametrize(("plan", "seed"), KEPT, ids=repr)
def test_plans_that_failed_once(plan: Plan, seed: int, spark: Any, tmp_path: Path) -> None:
    run(plan, tables(seed), spark, tmp_path, tmp_path / "work")
