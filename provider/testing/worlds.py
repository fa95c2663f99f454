"""Random pipelines as explicit sets of pairs, with their lineage computed record by record.

A record is (file, row in the file), a file (path, size, time). Boxes are used only to pass a write to a store.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from provspark.index_store.store.store import Store
from provspark.model.boxes.pairs import from_pairs
from provspark.model.datasets import Dataset, Files
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import StepKey, StepStatus
from provspark.model.writes import Axis, Untracked

FileId = tuple[str, int, int]
Record = tuple[FileId, int]


class WorldVersion(NamedTuple):
    """A list of files as one version of a dataset."""

    dataset: str
    files: tuple[tuple[str, FileId, int], ...]
    """Relative path, identity and number of rows of each file, in path order."""

    @property
    def rows(self) -> int:
        return sum(n for _, _, n in self.files)

    @property
    def records(self) -> list[Record]:
        return [(f, i) for _, f, n in self.files for i in range(n)]

    def pending(self, written: set[FileId] = frozenset()) -> PendingVersion:  # type: ignore[assignment]
        files = Files.of([(p, f[1], f[2], n, f in written) for p, f, n in self.files])
        return PendingVersion(Dataset.parse(self.dataset), files, "parquet")

    @property
    def id(self) -> str:
        return self.pending().files.identity(Dataset.parse(self.dataset))


class WorldEdge(NamedTuple):
    """Record `out` of a write came from record `src`, which is row `row` of a reading."""

    write: int
    out: Record
    out_row: int
    src: Record
    version: WorldVersion
    occurrence: int
    row: int
    kind: str


@dataclass
class MadeWrite:
    """A write of a world: its inputs, its output, and the pending write for a store."""

    number: int
    step: int
    output: WorldVersion
    written: set[FileId]
    inputs: list[tuple[WorldVersion, int]]
    tracked: bool
    pending: PendingWrite
    pairs: dict[tuple[int, int, str], set[tuple[int, int]]]
    """Pairs of each tensor, by (out, src, kind). Axis 0 is the output, followed by the readings and the inner axes."""


@dataclass
class MadeStep:
    """A step of a world."""

    key: StepKey
    status: StepStatus
    writes: list[MadeWrite] = field(default_factory=list)


class World:
    """Files on a simulated disk, and the steps that wrote them."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.disk: dict[str, tuple[FileId, int]] = {}
        self.clock = 1_700_000_000_000
        self.steps: list[MadeStep] = []
        self.writes: list[MadeWrite] = []
        self.edges: list[WorldEdge] = []
        self.sources = ["/in/a", "/in/b"]
        for name in self.sources:
            self.put(name, int(self.random.integers(1, 4)))

    def put(self, folder: str, n_files: int) -> set[FileId]:
        """Create files, some in partition folders, some empty."""
        made = set()
        for _ in range(n_files):
            self.clock += 1
            part = ["", "p=0/", "p=1/"][int(self.random.integers(3))]
            path = f"{folder}/{part}part-{int(self.random.integers(10**6)):06d}"
            file = (path, int(self.random.integers(1, 3)), self.clock)
            self.disk[path] = (file, int(self.random.integers(0, 6)))
            made.add(file)
        return made

    def look(self, folder: str) -> WorldVersion:
        """Return the version that a reader of a folder would list now."""
        inside = sorted(p for p in self.disk if p.startswith(folder + "/"))
        return WorldVersion(folder, tuple((p[len(folder) + 1 :], *self.disk[p]) for p in inside))

    def step(self, key: StepKey, status: StepStatus, n_writes: int, prefer: list[str] = ()) -> None:  # type: ignore[assignment]
        step = MadeStep(key, status)
        self.steps.append(step)
        mine: list[str] = list(prefer)
        for _ in range(n_writes):
            known = sorted({w.output.dataset for w in self.writes} | set(self.sources))
            readings: list[tuple[WorldVersion, int]] = []
            for _ in range(int(self.random.integers(1, 4))):
                pool = mine if mine and self.random.random() < 0.5 else known
                folder = pool[int(self.random.integers(len(pool)))]
                if readings and self.random.random() < 0.3:
                    folder = readings[-1][0].dataset
                elif self.random.random() < 0.2:
                    folder += f"/p={int(self.random.integers(2))}"
                version = self.look(folder)
                readings.append((version, sum(v == version for v, _ in readings)))
            outputs = sorted({w.output.dataset for w in self.writes})
            if outputs and self.random.random() < 0.5:
                target = outputs[int(self.random.integers(len(outputs)))]
            else:
                target = f"/out/{len(outputs)}"
            if self.random.random() < 0.6:
                for path in [p for p in self.disk if p.startswith(target + "/")]:
                    del self.disk[path]
            written = self.put(target, int(self.random.integers(1, 4)))
            self.write(step, readings, self.look(target), written, self.random.random() < 0.9)
            mine.append(target)

    def write(
        self,
        step: MadeStep,
        readings: list[tuple[WorldVersion, int]],
        output: WorldVersion,
        written: set[FileId],
        tracked: bool,
    ) -> None:
        """Relate the written rows to rows of the readings, directly and through up to three inner axes."""
        r = self.random
        own = [i for i, (file, _) in enumerate(output.records) if file in written]
        n_inner = int(r.integers(0, 4))
        sizes = [output.rows] + [v.rows for v, _ in readings] + [int(r.integers(1, 6)) for _ in range(n_inner)]
        inner = list(range(1 + len(readings), len(sizes)))
        pairs: dict[tuple[int, int, str], set[tuple[int, int]]] = {}
        for out in [0, *inner]:
            rows = own if out == 0 else range(sizes[out])
            targets = [*range(1, 1 + len(readings)), *(i for i in inner if i > out)]
            for src in targets:
                for kind in ("data", "context"):
                    if r.random() < (0.5 if kind == "data" else 0.2):
                        chosen = {(o, s) for o in rows for s in range(sizes[src]) if r.random() < r.choice([0.1, 0.5])}
                        if r.random() < 0.3:
                            chosen = {(o, s) for o, s in chosen if o == s + own[0]} if own else set()
                        if chosen:
                            pairs[out, src, kind] = chosen
        number = len(self.writes)
        axes = [Axis("output", sizes[0], output.id)]
        axes += [Axis("input", v.rows, v.id, occurrence) for v, occurrence in readings]
        axes += [Axis("inner", n, label="group") for n in sizes[1 + len(readings) :]]
        tensors = [
            PendingTensor(out, src, from_pairs(*np.array(sorted(p)).T), kind)  # type: ignore[arg-type]
            for (out, src, kind), p in pairs.items()
        ]
        reason = None if tracked else Untracked("MapInPandas", "not yet captured", "job.py:7")
        distinct = {v.id: v for v, _ in readings}
        pending = PendingWrite(
            output.pending(written),
            "exact" if tracked else "untracked",
            tuple(v.pending() for v in distinct.values()),
            tuple(axes) if tracked else (),
            tensors if tracked else (),
            reason,
            complete=not tracked,
        )
        made = MadeWrite(
            number, len(self.steps) - 1, output, written, readings, tracked, pending, pairs if tracked else {}
        )
        step.writes.append(made)
        self.writes.append(made)
        if not tracked:
            return

        @lru_cache(None)
        def behind(axis: int, row: int) -> frozenset[tuple[int, int, str]]:
            sources = set()
            for (out, src, kind), chosen in pairs.items():
                for o, s in chosen:
                    if (out, o) != (axis, row):
                        continue
                    if 1 <= src <= len(readings):
                        sources.add((src, s, kind))
                    else:
                        sources |= {(a, x, weaker(kind, k)) for a, x, k in behind(src, s)}
            return frozenset(sources)

        for o in own:
            for axis, s, kind in behind(0, o):
                version, occurrence = readings[axis - 1]
                edge = WorldEdge(number, output.records[o], o, version.records[s], version, occurrence, s, kind)
                self.edges.append(edge)


def weaker(a: str, b: str) -> str:
    """Return the kind of a path of two edges: data only if both are."""
    return "data" if a == b == "data" else "context"


def random_world(seed: int) -> World:
    """Return a world of up to five tasks, some with a failed first try, with one to three writes each."""
    world = World(seed)
    for i in range(int(world.random.integers(1, 6))):
        key = StepKey(f"t{i}", "run", "dag")
        if world.random.random() < 0.3:
            world.step(key, "failed", int(world.random.integers(1, 3)))
            key = StepKey(f"t{i}", "run", "dag", try_number=2)
        world.step(key, "succeeded", int(world.random.integers(1, 4)))
    return world


def publish(world: World, store: Store) -> None:
    """Publish all steps of a world, one per second."""
    for i, step in enumerate(world.steps):
        writer = store.writer(step.key)
        for write in step.writes:
            writer.add(write.pending)
        clock = f"2024-01-01T00:{i // 60:02d}:{i % 60:02d}"
        writer.publish(status=step.status, started=f"{clock}.000000", ended=f"{clock}.500000")
