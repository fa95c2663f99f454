"""Replay against plain Spark: the frames that a script makes, and which source rows are in each of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _replay_cases import CASES, Case, read_sources, write_sources
from pyspark.sql import DataFrame, SparkSession

import provspark
from provspark.api import Provenance
from provspark.replay.kept_rows import key_of
from provspark.replay.records import Replayed, Stage
from provspark.tracker import attach

Row = tuple[Any, ...]
QUICK = ("narrow", "inner", "groups", "sql")


@dataclass(frozen=True)
class World:
    """What the scripts read and wrote."""

    root: Path
    prov: Provenance
    spark: SparkSession

    def frames(self, case: Case) -> list[tuple[str, DataFrame]]:
        """The frames that plain Spark makes."""
        return case.make(self.spark, *read_sources(self.spark, self.root))

    def numbers(self, source: str, column: str) -> list[int]:
        """By row id, the number that the row carries."""
        return self.prov.values(str(self.root / source)).table()[column].to_pylist()


@pytest.fixture(scope="module")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> World:
    root = tmp_path_factory.mktemp("replay")
    write_sources(spark, root)
    with attach(store=str(root / "store"), step="script") as capture:
        people, cities = read_sources(spark, root)
        for case in CASES:
            case.make(spark, people, cities)[-1][1].write.parquet(str(root / case.name))
    assert capture.untracked == ()
    return World(root, provspark.open(str(root / "store")), spark)


def marked(cases: list[Case]) -> list[Any]:
    """A few for every run, the others for the slice `replay`."""
    return [pytest.param(c, id=c.name, marks=() if c.name in QUICK else pytest.mark.long) for c in cases]


@pytest.mark.parametrize("case", marked(CASES))
def test_frames_and_endings(world: World, case: Case) -> None:
    """All rows at once: each frame is what plain Spark makes, and each row ends where plain Spark lost it."""
    for source, number, label in (("people", "pid", "pids"), ("cities", "cid", "")):
        told = _replayed(world, case, source, None)
        if told is None:
            continue
        assert told.verified is True, (told.why, told.stopped)
        frames = world.frames(case)
        numbers = world.numbers(source, number)
        before: set[int] | None = None
        at = -1
        for node, frame in frames:
            stage = _next(told, node, at, frame)
            if stage is None:
                break
            at = stage.operation.index
            if source == "people":
                expected = Counter(_key(r) for r in frame.collect())
                assert Counter(_rows(stage, frame)) == _derived(expected, frame), (node, stage.operation.text)
            inside = _numbers(frame, number, label)
            if inside is None:
                continue
            sources = {numbers[s.row] for line in stage.lines for s in line.sources if s.dataset.endswith(source)}
            assert sources >= inside if _forks(told) else sources == inside, (node, stage.operation.text)
            if before is not None and source == "people" and not _forks(told):
                ended = {numbers[s.row] for e in told.endings if e.whole for s in e.sources if e.operation.index <= at}
                assert before - inside <= ended and not inside & ended
            before = inside if before is None else before & inside


@pytest.mark.parametrize("case", marked([c for c in CASES if not c.whole]))
def test_one_row_is_as_among_all(world: World, case: Case) -> None:
    """One row alone, whose partners and groups are looked for: the lines that it is in when all rows are followed."""
    for source, rows in (("people", (13,)), ("cities", (3,))):
        every = _replayed(world, case, source, None)
        if every is None:
            continue
        for row in rows:
            told = _replayed(world, case, source, [row])
            assert told is not None and told.verified is True, told
            for stage in every.stages:
                mine = Counter(key_of(line.values) for line in stage.lines if _has(line.sources, source, row))
                alone = told.stage(stage.operation.index)
                assert Counter(key_of(x.values) for x in alone.lines if alone) == mine if alone else not mine
            assert {e.operation.index for e in told.endings} >= {
                e.operation.index for e in every.endings if e.whole and _has(e.sources, source, row)
            }


@pytest.mark.parametrize("case", marked([c for c in CASES if not c.whole]))
def test_output_row(world: World, case: Case) -> None:
    """The lines that led to one output row: it stands at their end, and its witnesses at their beginning."""
    target = str(world.root / case.name)
    if not world.prov.select(target):
        pytest.skip("no row")
    told = world.prov.replay(target, [0])
    assert told.verified is True, told.why
    last = told.stages[-1]
    stored = world.prov.values(target, [0]).columns_only().to_pylist()[0]
    assert key_of(tuple(stored.values())) in {key_of(line.values) for line in last.lines}
    witnesses = world.prov.backward(target, [0]).table().to_pylist()
    expected = {(w["dataset"], w["occurrence"], w["related_row"]) for w in witnesses}
    (line,) = last.lines[:1]
    if len(last.lines) == 1:
        assert {(s.dataset, s.occurrence, s.row) for s in line.sources} == expected


def _replayed(world: World, case: Case, source: str, rows: list[int] | None) -> Replayed | None:
    """Replay this case's write for rows of a source; None where it does not read it."""
    graph = world.prov.graph
    (node,) = (n for n in graph.nodes if n.write.output.dataset.name.endswith(f"/{case.name}"))
    version = next((v for v in node.write.inputs if v.dataset.name.endswith(f"/{source}")), None)
    if version is None:
        return None
    chosen = world.prov.select(str(version.dataset), rows)
    return world.prov.replayer.inputs(node, {version.id: chosen.runs})


def _next(told: Replayed, node: str, after: int, frame: DataFrame) -> Stage | None:
    names = set(frame.columns)
    return next(
        (s for s in told.stages if s.operation.node == node and s.operation.index > after and names <= set(s.columns)),
        None,
    )


def _rows(stage: Stage, frame: DataFrame) -> list[Row]:
    place = {name: i for i, name in reversed(list(enumerate(stage.columns)))}
    return [tuple(key_of(line.values[place[c]]) for c in frame.columns) for line in stage.lines]


def _key(row: Any) -> Row:
    return tuple(key_of(v) for v in row)


def _derived(expected: Counter[Row], frame: DataFrame) -> Counter[Row]:
    """Rows that come from people: those of cities alone are not followed."""
    if "pid" not in frame.columns:
        return expected
    at = frame.columns.index("pid")
    return Counter({row: n for row, n in expected.items() if row[at] is not None})


def _numbers(frame: DataFrame, number: str, label: str) -> set[int] | None:
    if number in frame.columns:
        return {r[0] for r in frame.select(number).collect() if r[0] is not None}
    if label in frame.columns:
        return {n for r in frame.select(label).collect() for n in r[0]}
    return None


def _forks(told: Replayed) -> bool:
    """Whether people are read more than once, so that no frame alone says whether a row ended."""
    return sum(o.node == "LogicalRelation" and "people" in o.text for o in told.operations) > 1


def _has(sources: Any, source: str, row: int) -> bool:
    return any(s.row == row and s.dataset.endswith(source) for s in sources)
