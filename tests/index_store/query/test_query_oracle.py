"""Random pipelines, both directions, against answers worked out record by record.

They hold diamonds, self-joins, a data set read twice, steps that read their own output, appends and overwrites,
retries, partition folders read on their own, inner axes three deep, rows without any source and untracked writes.
"""

from collections import Counter
from pathlib import Path

import pytest

from provspark.errors import UntrackedError
from provspark.index_store.query import reachable_rows as reach_module
from provspark.index_store.query import write_walk as within
from provspark.index_store.query.answer import stops_of
from provspark.index_store.query.graph import Graph
from provspark.index_store.query.links import Linker
from provspark.index_store.query.relation import labelled
from provspark.index_store.query.row_walks import follow
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset
from provspark.model.runs import Runs
from provspark.testing.oracle import Oracle
from provspark.testing.worlds import World, WorldVersion, publish, random_world

SEEDS = range(40)
KINDS = (("data",), ("context",), ("data", "context"))


def versions(world: World) -> dict[str, WorldVersion]:
    return {v.id: v for w in world.writes for v in (w.output, *(v for v, _ in w.inputs))}


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_equal_the_oracle(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = random_world(seed)
    store = Store.open(str(tmp_path / "store"), create=True)
    publish(world, store)
    monkeypatch.setattr(within, "ROWS_AT_ONCE", int(world.random.choice([1, 3, 1 << 22])))
    monkeypatch.setattr(reach_module, "RUNS_AT_ONCE", 1 if seed % 2 else 1 << 17)
    linker, oracle = Linker(Graph([store])), Oracle(world)
    known = versions(world)
    names = sorted({v.dataset for v in known.values()})
    for version in known.values():
        at = linker.graph.find(Dataset.parse(version.dataset), version.id)
        for to in (None, names[int(world.random.integers(len(names)))]):
            for direction in ("backward", "forward"):
                kinds = KINDS[int(world.random.integers(3))]
                oracle.context = "context" in kinds
                rows = [r for r in range(version.rows) if world.random.random() < 0.7]
                expected, stopped = set(), False
                for row in rows:
                    lines, stop = getattr(oracle, direction)(version, row, to)
                    stopped |= stop
                    expected |= {(row, f"file://{x.dataset}", *x[1:]) for x in lines if x.kind in kinds}
                labels = Runs.of(rows)
                target = None if to is None else Dataset.parse(to)
                question = {"to": target, "kinds": frozenset(kinds)}
                if stopped and not expected:
                    with pytest.raises(UntrackedError, match="MapInPandas"):
                        follow(linker, at, labels, labelled(labels), direction, **question)
                    continue
                table = follow(linker, at, labels, labelled(labels), direction, **question).table()
                found = [tuple(line.values()) for line in table.to_pylist()]
                assert found == sorted(expected), (direction, to, kinds, version.dataset)
                assert bool(stops_of(table)) == stopped


def test_the_pipelines_hold_what_they_are_for() -> None:
    found: Counter[str] = Counter()
    for seed in SEEDS:
        world = random_world(seed)
        oracle = Oracle(world)
        made = {f: w for w in world.writes for f in w.written}
        for w in world.writes:
            read = {f for v, _ in w.inputs for _, f, _ in v.files}
            sources = [e for e in world.edges if e.write == w.number]
            found["read twice"] += any(occurrence for _, occurrence in w.inputs)
            found["self-join"] += len({(e.out, e.src) for e in sources}) < len({e[:-1] for e in sources})
            found["partition"] += any("p=" in v.dataset and f in made for v, _ in w.inputs for _, f, _ in v.files)
            found["append"] += any(f not in w.written and f in made for _, f, _ in w.output.files)
            found["own output"] += any(f in made and made[f].step == w.step for f in read)
            found["no source"] += len({e.out for e in sources}) < sum(n for _, f, n in w.output.files if f in w.written)
            superseded = world.steps[w.step].status == "failed"
            found["retry in use"] += superseded and oracle.counts[w.number]
            found["retry not in use"] += superseded and not oracle.counts[w.number]
            found["untracked"] += not w.tracked
            steps = {made[f].step for f in read if f in made}
            found["diamond"] += len(steps) > 1
        found["context"] += any(e.kind == "context" for e in world.edges)
    assert len(found) == 11
    assert min(found.values()) >= 3, found
