"""Check random plans, many writes in one step: what a step costs by itself is paid once.

Each plan is written by plain Spark first. What capture then writes has to be the same, or fail the same way; after that
its edges are compared with the oracle's.
"""

from __future__ import annotations

import logging
import random
import shutil
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from families.observation.shapes import OBSERVED
from oracle import lineage, outputs
from oracle.cases import Frames, Scans, configured, difference
from oracle.random_parts import UnknownMeaningError
from oracle.random_plans import Plan, TooLargeError, frame, generate, kinds, meaning, shrink, tasks
from oracle.random_saves import SAVES, Save, save_of
from oracle.random_tables import tables
from oracle.relation import Relation
from oracle.settings import Settings, of_seed
from oracle.sources import Source
from oracle.values import canon
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from provspark.errors import ProvSparkError
from provspark.tracker import attach

TABLES_FOR = 50
"""So many seeds in a row share their tables."""
MOST_TASKS = 1000
"""Of a stage: a join without a key multiplies tasks, and 40,000 of them take ten minutes."""
REFUSED = {"observe", "exists any"}
"""Operators that one plan must not have together; see `test_observed_rows_that_a_join_would_leave_out`."""
THEIRS = ("pyspark.", "org.apache.spark.")
"""Errors of a user's plan; others, such as NoSuchElementException, are faults of Spark's optimizer."""
FAULTS = ("INTERNAL_ERROR", "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY")
"""Conditions of theirs that are faults of Spark's optimizer: analysis refuses none of the plans drawn."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A plan to write in some way under some settings on the tables of a seed, and what the oracle says of it."""

    plan: Plan
    tables: int
    settings: Settings
    expected: Relation | None
    """None if Spark raises an error for some row: whether it gets to that row only Spark can say."""
    save: Save = SAVES[0]


@dataclass(frozen=True, slots=True)
class Written:
    """What a write left, or the error with which it failed."""

    rows: tuple[tuple[Any, ...], ...] = ()
    about: tuple[Any, ...] = ()
    """Schemas, partition folders, marks."""
    observed: tuple[str, ...] = ()
    """What each Observation got, in the order in which they were made; empty where Spark gives it nothing."""
    error: str = ""

    def differs(self, other: Written, *, ordered: bool = False) -> str:
        """Say how another is not like this one; empty where it is. `ordered`: rows too have to be in one order."""
        theirs = self.error.startswith(THEIRS) and not any(fault in self.error for fault in FAULTS)
        if self.error and not theirs and not other.error:
            log.warning("plain Spark itself fails by %s, and captured it does not", self.error)
            return ""
        if self.error != other.error:
            return f"plain Spark: {self.error or 'no error'}; captured: {other.error or 'no error'}"
        plain, captured = (Counter(map(_canon, w.rows)) for w in (self, other))
        if plain != captured:
            return f"rows other than plain Spark's: {difference(captured, plain)}"
        if ordered and [*map(_canon, self.rows)] != [*map(_canon, other.rows)]:
            return "rows in another order than plain Spark's"
        for mine, its in zip(self.observed, other.observed, strict=True):
            if mine not in ("", its):  # one of a frame that a query reads by name waits for ever in plain Spark
                return f"observed by plain Spark: {mine}; captured: {its}"
        return "" if self.about == other.about else f"plain Spark: {self.about}; captured: {other.about}"


def _canon(row: tuple[Any, ...]) -> Hashable:
    return canon(row)


def draw(seed: int) -> Drawn | None:
    """Make the plan of a seed; None if it grows too large to be run."""
    rng, settings = random.Random(seed), of_seed(seed)
    save = save_of(rng)
    plan = generate(rng, rng.randint(1, 5))
    while tasks(plan, settings["spark.sql.shuffle.partitions"]) > MOST_TASKS or kinds(plan) >= REFUSED:
        plan = generate(rng, rng.randint(1, 5))
    return drawn(plan, seed // TABLES_FOR, settings, save)


def drawn(plan: Plan, table_seed: int, settings: Settings, save: Save = SAVES[0]) -> Drawn | None:
    """Work out what a plan means; None if it grows too large to be run."""
    try:
        return Drawn(plan, table_seed, settings, meaning(plan, Scans(sources(table_seed))), save)
    except TooLargeError:
        return None
    except UnknownMeaningError:
        return Drawn(plan, table_seed, settings, None, save)


@lru_cache(8)
def sources(seed: int) -> tuple[Source, ...]:
    """Return the tables of a seed."""
    return tables(seed)


def check(batch: Sequence[Drawn], spark: Any, root: Path, work: Path) -> None:
    """Run plans on the same tables as one step; AssertionError says where output or edges are not as they should be.

    A plan that fails is cut down to the smallest that still fails by itself. One of which Spark 4.0 makes other rows
    than the oracle says nothing of lineage; it is logged, and its output compared all the same.
    """
    errors = []
    for each, error in zip(batch, _run(batch, spark, root, work), strict=True):
        if error:
            small = _shrunk(each, spark, root, work)
            kept = "it fails only beside others" if small is None else f"{small!r} {each.tables}"
            way = f"{each.save.name} under {each.settings}"
            errors.append(f"{each.plan!r} on tables {each.tables} as {way}: {error}\nshrunk: {kept}")
    assert not errors, "\n\n".join(errors)


def _shrunk(each: Drawn, spark: Any, root: Path, work: Path) -> Plan | None:
    def fails(plan: Plan) -> bool:
        again = drawn(plan, each.tables, each.settings, each.save)
        return again is not None and any(_run([again], spark, root, work))

    return shrink(each.plan, fails) if fails(each.plan) else None


def _run(batch: Sequence[Drawn], spark: Any, root: Path, work: Path) -> list[str]:
    """Write each plan plainly, then tracked; return what is wrong with each, empty where nothing is."""
    (table_seed,) = {each.tables for each in batch}
    frames = Frames(spark, sources(table_seed), root / str(table_seed))
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    spark.sparkContext.setCheckpointDir(str(work / "checkpoints"))
    plain = [_left(_write(each, frames, work / f"plain{i}"), each, work / f"plain{i}") for i, each in enumerate(batch)]
    places = [work / str(i) for i in range(len(batch))]
    tracked = [Written()] * len(batch)
    for name, failing in (("failing", True), ("store", False)):
        with attach(store=(work / name).as_uri(), step=name) as capture:
            for i in (i for i, written in enumerate(plain) if bool(written.error) is failing):
                tracked[i] = _write(batch[i], frames, places[i])
    # Read after the step: what a script reads itself may be among the rows that it makes then.
    tracked = [_left(written, each, path) for written, each, path in zip(tracked, batch, places, strict=True)]
    errors = [_changed(each, a, b, frames, work) for each, a, b in zip(batch, plain, tracked, strict=True)]
    assert capture.manifest is not None
    refused = {w.output.dataset.name: w.reason for w in capture.manifest.writes if w.coverage != "exact"}
    answers = lineage.Lineage(work / "store", capture.manifest, sources(table_seed), frames.paths)
    edges: dict[Path, set[lineage.Edge]] = {}
    for i, (each, path) in enumerate(zip(batch, places, strict=True)):
        if not errors[i] and str(path) in refused:
            errors[i] = f"refused: {refused[str(path)]}"
        if not errors[i] and not plain[i].error and each.save.followed and _comparable(each, plain[i], spark):
            errors[i], edges[path] = _compare(each, answers, path, tracked[i])
    if not any(errors):
        assert not capture.untracked, capture.untracked
    wrong = answers.check_forward(edges) if edges and not refused else {}
    return [error or (wrong.get(path, "") if path in edges else "") for error, path in zip(errors, places, strict=True)]


def _write(each: Drawn, frames: Frames, path: Path) -> Written:
    """Write a plan's rows; whoever calls says whether that is tracked."""
    spark = frames.spark
    each.save.prepare(path)
    OBSERVED.clear()
    try:
        with configured(spark, each.settings):
            each.save.write(frame(each.plan, frames), str(path))
    except (PySparkException, Py4JJavaError) as e:
        assert spark.range(3).count() == 3, f"Spark itself is gone: {e}"
        log.info("%s fails on %r: %s", each.save.name, each.plan, e)
        return Written(error=_named(e))
    finally:
        spark.catalog.clearCache()
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    return Written(observed=tuple(map(_observed, OBSERVED)))


def _left(written: Written, each: Drawn, path: Path) -> Written:
    """Return what a write left, with the rows and files that it wrote."""
    if written.error:
        return written
    left = outputs.read(path, each.save.form)
    return replace(written, rows=left.rows, about=(left.schemas, left.folders, left.marks))


def _observed(each: Any) -> str:
    """Return what an Observation got, not by its `get`, which would count as a read by the driver; empty if nothing."""
    found = each._jo.future()
    return str(found.value().get().get().mkString(", ")) if found.isCompleted() else ""


def _named(error: PySparkException | Py4JJavaError) -> str:
    """Return the error's condition, or its kind: what scripts catch it by."""
    if isinstance(error, PySparkException):
        return f"pyspark.{type(error).__name__} {error.getCondition() or ''}".strip()
    thrown = first = error.java_exception
    while first.getCause() is not None:
        first = first.getCause()
    if first.getClass().getName() == "java.lang.NullPointerException":  # in Spark: no drawn plan has Java of its own
        return str(first.getClass().getName())
    fault = next((fault for fault in FAULTS if f"[{fault}" in thrown.toString()), "")
    return f"{thrown.getClass().getName()} {fault}".strip()


_AGAIN = 20
"""How often plain Spark writes again: it chooses rarely, as whether a column of an INTERSECT may be null."""


def _changed(each: Drawn, plain: Written, tracked: Written, frames: Frames, work: Path) -> str:
    """Say how capture changed what was written; where plain Spark itself writes otherwise each time, it is logged."""
    ordered = each.plan[0] in ("limit", "sort")
    error = plain.differs(tracked, ordered=ordered)
    again = work / "again"
    for i in range(_AGAIN if error else 0):
        if plain.differs(_left(_write(each, frames, again / str(i)), each, again / str(i)), ordered=ordered):
            log.warning("plain Spark writes %r on tables %s otherwise each time", each.plan, each.tables)
            return ""
    return error


def _comparable(each: Drawn, plain: Written, spark: Any) -> bool:
    """Whether the oracle knows a plan's rows, and its edges; Spark 4.0 itself makes other rows of some plans."""
    if each.expected is None:
        return False
    if not spark.version.startswith("4.0.") or Counter(map(_canon, plain.rows)) == each.expected.values():
        return True
    log.warning("plain Spark %s makes other rows of %r on tables %s", spark.version, each.plan, each.tables)
    return False


def _compare(each: Drawn, answers: lineage.Lineage, path: Path, tracked: Written) -> tuple[str, set[lineage.Edge]]:
    """Compare the edges of what was written to `path` with the oracle's; return what differs, and the edges found."""
    assert each.expected is not None
    try:
        found = answers.backward(path, len(tracked.rows))
    except ProvSparkError as e:
        return f"no answer: {e}", set()
    got, bag = Counter(zip(map(_canon, tracked.rows), found, strict=True)), each.expected.bag()
    return "" if got == bag else f"edges: {difference(got, bag)}", lineage.transpose(found)
