"""Co-contributory and co-dependent rows of random pipelines, against derivation trees worked out row by row."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from provspark.index_store.query.graph import Graph
from provspark.index_store.query.links import Linker
from provspark.index_store.query.reachable_rows import Reach
from provspark.index_store.query.relation import labelled
from provspark.index_store.query.shared_derivations import rows_sharing_witness, rows_used_together
from provspark.index_store.query.walk import Stand
from provspark.index_store.store.store import Store
from provspark.model.boxes.pairs import pairs
from provspark.model.datasets import Dataset
from provspark.model.runs import Runs
from provspark.testing.oracle import Oracle
from provspark.testing.worlds import MadeWrite, Record, World, WorldVersion, publish, random_world, weaker

Spot = tuple[Record, frozenset[str]]
"""A row in a tree: its record, and the names under which it stands there."""


class Trees:
    """All derivation trees of a world, as what two rows can stand in one of them."""

    def __init__(self, world: World) -> None:
        self.world, self.oracle = world, Oracle(world)

    def legs(self, record: Record) -> list[list[tuple[str, object]]]:
        """What a row was made of: one choice of each list."""
        maker = self.oracle.maker.get(record[0])
        return [] if maker is None else self.inner(maker, 0, maker.output.records.index(record))

    def inner(self, write: MadeWrite, axis: int, row: int) -> list[list[tuple[str, object]]]:
        out = []
        for (at, src, kind), chosen in write.pairs.items():
            ends = [(kind, (write.number, src, s)) for o, s in sorted(chosen) if (at, o) == (axis, row)]
            if ends:
                out.append(ends)
        return out

    def spot(self, node: object) -> Spot | None:
        """The row that a reading is of; None within a write."""
        number, axis, row = node  # type: ignore[misc]
        write = self.world.writes[number]
        if axis > len(write.inputs):
            return None
        version = write.inputs[axis - 1][0]
        record = version.records[row]
        maker = self.oracle.maker.get(record[0])
        return record, frozenset({version.dataset} | ({maker.output.dataset} if maker else set()))

    def below(self, node: object) -> list[list[tuple[str, object]]]:
        number, axis, row = node  # type: ignore[misc]
        spot = self.spot(node)
        return self.inner(self.world.writes[number], axis, row) if spot is None else self.legs(spot[0])

    @lru_cache(None)  # noqa: B019
    def spots(self, node: object) -> frozenset[tuple[str, Spot]]:
        """A node and all that may stand below it, with the kind of the way to it."""
        spot = self.spot(node)
        found = {("data", spot)} if spot else set()
        for leg in self.below(node):
            for kind, end in leg:
                found |= {(weaker(kind, k), s) for k, s in self.spots(end)}
        return frozenset(found)

    @lru_cache(None)  # noqa: B019
    def pairs(self, node: object) -> frozenset[tuple[str, Spot, Spot]]:
        """Two rows, one below the other or not, in one tree from this node on."""
        return frozenset(self.of_legs(self.spot(node), self.below(node)))

    def of_legs(self, spot: Spot | None, legs: list[list[tuple[str, object]]]) -> set[tuple[str, Spot, Spot]]:
        found = set()
        for i, leg in enumerate(legs):
            for kind, end in leg:
                found |= {(weaker(kind, k), a, b) for k, a, b in self.pairs(end)}
                for k, a in self.spots(end):
                    k = weaker(kind, k)
                    if spot:
                        found |= {(k, a, spot), (k, spot, a)}
                    for j, other in enumerate(legs):
                        if i != j:
                            for kind2, end2 in other:
                                found |= {(weaker(k, weaker(kind2, k2)), a, b) for k2, b in self.spots(end2)}
        return found

    def roots(self, dataset: str, asked: Record) -> Iterator[Spot]:
        """The rows of a data set, as those writes know them that count; the row asked about where one read it so."""
        for w in self.world.writes:
            if not self.oracle.counts[w.number]:
                continue
            if w.output.dataset == dataset and w.tracked:
                yield from ((r, frozenset({dataset})) for r in w.output.records if r[0] in w.written and r != asked)
            for version, _ in w.inputs:
                if version.dataset == dataset:
                    for record in version.records:
                        maker = self.oracle.maker.get(record[0])
                        yield record, frozenset({dataset} | ({maker.output.dataset} if maker else set()))

    def together(self, at: WorldVersion, row: int, to: str, target: str) -> set[tuple[Record, str]]:
        asked = at.records[row]
        found = set()
        for root in set(self.roots(target, asked)):
            legs = self.legs(root[0])
            found |= {(b[0], k) for k, a, b in self.of_legs(root, legs) if a[0] == asked and to in b[1]}
            if to != at.dataset:
                spots = {("data", root)} | {(weaker(k, x), s) for leg in legs for k, e in leg for x, s in self.spots(e)}
                found |= {(asked, k) for k, s in spots if s[0] == asked and to in s[1]}
        if target == at.dataset:
            maker = self.oracle.maker.get(asked[0])
            here = (asked, frozenset({at.dataset} | ({maker.output.dataset} if maker else set())))
            found |= {(b[0], k) for k, a, b in self.of_legs(here, self.legs(asked)) if a is here and to in b[1]}
            if to != at.dataset and to in here[1]:
                found.add((asked, "data"))
        return found


def versions(world: World) -> dict[str, WorldVersion]:
    return {v.id: v for w in world.writes for v in (w.output, *(v for v, _ in w.inputs))}


def records(found: Reach, known: dict[str, WorldVersion], rows: list[int]) -> set[tuple[int, Record, str]]:
    out = set()
    for stand in found.stands:
        label, row = (x.tolist() for x in pairs(stand.boxes))
        held = known[stand.at.version.id].records
        out |= {(rows[i], held[r], stand.kind) for i, r in zip(label, row, strict=True)}
    return out


@pytest.mark.parametrize("seed", range(24))
def test_rows_that_stand_in_one_derivation(seed: int, tmp_path: Path) -> None:
    world = random_world(seed)
    store = Store.open(str(tmp_path / "store"), create=True)
    publish(world, store)
    linker, trees, known = Linker(Graph([store])), Trees(world), versions(world)
    names = sorted({v.dataset for v in known.values()})
    for version in known.values():
        at = linker.graph.find(Dataset.parse(version.dataset), version.id)
        rows = [r for r in range(version.rows) if world.random.random() < 0.5]
        start = Stand(at, labelled(Runs.of(rows)))
        for _ in range(3):
            to, target = (names[int(world.random.integers(len(names)))] for _ in range(2))
            expected = {(row, r, k) for row in rows for r, k in trees.together(version, row, to, target)}
            for context in (False, True):
                found = rows_used_together(linker, start, Dataset.parse(to), Dataset.parse(target), context=context)
                wanted = {x for x in expected if context or x[2] == "data"}
                assert records(found, known, rows) == wanted, (version.dataset, to, target, context)


@pytest.mark.parametrize("seed", range(40))
def test_rows_that_share_a_witness(seed: int, tmp_path: Path) -> None:
    world = random_world(seed)
    store = Store.open(str(tmp_path / "store"), create=True)
    publish(world, store)
    linker, oracle, known = Linker(Graph([store])), Oracle(world), versions(world)
    names = sorted({v.dataset for v in known.values()})
    for version in known.values():
        at = linker.graph.find(Dataset.parse(version.dataset), version.id)
        rows = [r for r in range(version.rows) if world.random.random() < 0.5]
        to, witness = (names[int(world.random.integers(len(names)))] for _ in range(2))
        expected = set()
        for row in rows:
            for back in oracle.backward(version, row, witness)[0]:
                for line in oracle.forward(known[back.version], back.row, to)[0]:
                    record = known[line.version].records[line.row]
                    if to != version.dataset or record != version.records[row]:
                        expected.add((row, line.version, line.occurrence, line.row, weaker(back.kind, line.kind)))
        for context in (False, True):
            asked = Runs.of(rows)
            start, places = Stand(at, labelled(asked)), (Dataset.parse(to), Dataset.parse(witness))
            found = rows_sharing_witness(linker, start, asked, *places, context=context)
            lines = {
                (rows[i], s.at.version.id, s.occurrence, r, s.kind)
                for s in found.stands
                for i, r in zip(*(x.tolist() for x in pairs(s.boxes)), strict=True)
            }
            assert lines == {x for x in expected if context or x[-1] == "data"}, (version.dataset, to, witness)
