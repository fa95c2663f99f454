"""Check random plans, many writes in one step: what a step costs by itself is paid once."""

from __future__ import annotations

import logging
import random
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from oracle import lineage, outputs
from oracle.cases import Frames, Scans, configured, difference
from oracle.random_plans import Plan, TooLargeError, frame, generate, meaning, shrink, tables, tasks
from oracle.relation import Relation
from oracle.settings import Settings, of_seed
from oracle.sources import Source
from oracle.values import canon
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from provspark.tracker import attach

TABLES_FOR = 50
"""So many seeds in a row share their tables."""
MOST_TASKS = 1000
"""Of a stage: a join without a key multiplies tasks, and 40,000 of them take ten minutes."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A plan to run under some settings on the tables of a seed, and what the oracle says of it."""

    plan: Plan
    tables: int
    settings: Settings
    expected: Relation


def draw(seed: int) -> Drawn | None:
    """Make the plan of a seed; None if it grows too large to be run."""
    rng, settings = random.Random(seed), of_seed(seed)
    plan = generate(rng, rng.randint(1, 5))
    while tasks(plan, settings["spark.sql.shuffle.partitions"]) > MOST_TASKS:
        plan = generate(rng, rng.randint(1, 5))
    return drawn(plan, seed // TABLES_FOR, settings)


def drawn(plan: Plan, table_seed: int, settings: Settings) -> Drawn | None:
    """Work out what a plan means; None if it grows too large to be run."""
    try:
        return Drawn(plan, table_seed, settings, meaning(plan, Scans(sources(table_seed))))
    except TooLargeError:
        return None


@lru_cache(8)
def sources(seed: int) -> tuple[Source, ...]:
    """Return the tables of a seed."""
    return tables(seed)


def check(batch: Sequence[Drawn], spark: Any, root: Path, work: Path) -> None:
    """Run plans on the same tables as one step; AssertionError says where rows or edges are not the oracle's.

    A plan that fails is cut down to the smallest that still fails by itself. One of which plain Spark makes other rows
    than the oracle says nothing of lineage; it is logged.
    """
    errors = []
    for each, error in zip(batch, _run(batch, spark, root, work), strict=True):
        if error and _spark_differs(each, spark, root):
            log.warning("plain Spark %s makes other rows of %r on tables %s", spark.version, each.plan, each.tables)
        elif error:
            small = _shrunk(each, spark, root, work)
            kept = "it fails only beside others" if small is None else f"{small!r} {each.tables}"
            errors.append(f"{each.plan!r} on tables {each.tables} under {each.settings}: {error}\nshrunk: {kept}")
    assert not errors, "\n\n".join(errors)


def _spark_differs(each: Drawn, spark: Any, root: Path) -> bool:
    """Whether Spark by itself fails on a plan, or makes other rows of it than the oracle: 4.0 loses some orders."""
    try:
        with configured(spark, each.settings):
            rows = frame(each.plan, Frames(spark, sources(each.tables), root / str(each.tables))).collect()
    except (PySparkException, Py4JJavaError) as e:
        assert spark.range(3).count() == 3, f"Spark itself is gone: {e}"
        return True
    return Counter(canon(tuple(row)) for row in rows) != each.expected.values()


def _shrunk(each: Drawn, spark: Any, root: Path, work: Path) -> Plan | None:
    def fails(plan: Plan) -> bool:
        again = drawn(plan, each.tables, each.settings)
        return again is not None and any(_run([again], spark, root, work))

    return shrink(each.plan, fails) if fails(each.plan) else None


def _run(batch: Sequence[Drawn], spark: Any, root: Path, work: Path) -> list[str]:
    """Write each plan's rows tracked; return what is wrong with each, empty where nothing is."""
    (table_seed,) = {each.tables for each in batch}
    frames = Frames(spark, sources(table_seed), root / str(table_seed))
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    places = [work / str(i) for i in range(len(batch))]
    errors = [""] * len(batch)
    with attach(store=(work / "store").as_uri(), step="batch") as capture:
        for i, each in enumerate(batch):
            try:
                with configured(spark, each.settings):
                    frame(each.plan, frames).write.parquet(str(places[i]))
            except Exception as e:
                errors[i] = f"failed: {e}"
        spark.catalog.clearCache()
    assert capture.manifest is not None
    refused = {w.output.dataset.name: w.reason for w in capture.manifest.writes if w.coverage != "exact"}
    answers = lineage.Lineage(work / "store", capture.manifest, sources(table_seed), frames.paths)
    edges: dict[Path, set[lineage.Edge]] = {}
    for i, (each, path) in enumerate(zip(batch, places, strict=True)):
        if str(path) in refused:
            errors[i] = f"refused: {refused[str(path)]}"
        if not errors[i]:
            errors[i], edges[path] = _compare(each, answers, path)
    if not any(errors):
        assert not capture.untracked, capture.untracked
    wrong = answers.check_forward(edges)
    return [error or wrong.get(path, "") for error, path in zip(errors, places, strict=True)]


def _compare(each: Drawn, answers: lineage.Lineage, path: Path) -> tuple[str, set[lineage.Edge]]:
    """Compare what was written to `path` with the oracle; return what differs, and the edges found."""
    tracked = outputs.read(path)
    values = [canon(row) for row in tracked.rows]
    expected = each.expected.values()
    if Counter(values) != expected:
        return f"rows: {difference(Counter(values), expected)}", set()
    found = answers.backward(path, len(values))
    got, bag = Counter(zip(values, found, strict=True)), each.expected.bag()
    return "" if got == bag else f"edges: {difference(got, bag)}", lineage.transpose(found)
