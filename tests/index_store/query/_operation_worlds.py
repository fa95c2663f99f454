"""Random steps with random operations, and what columns and cells would answer, worked out path by path.

Nothing here uses bits, matrices or boxes but to hand a write to a store: paths are lists of links, followed one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, get_args

import numpy as np

from provspark.index_store.store.store import Store
from provspark.model.boxes.pairs import from_pairs
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.operations import Column, ColumnLink, Dependence, Expression, Operation, Operations, Term
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Axis

DIRECT = ("identity", "transformation", "aggregation")
ROWS = None
"""What stands for the rows themselves, among columns."""


class Hop(NamedTuple):
    """A piece of a path."""

    dependence: str
    context: bool
    sure: bool


class Step(NamedTuple):
    """Where a path leads within a write: an axis, a column of it, and the pieces, nearest to the output first."""

    axis: int
    column: str | None
    hops: tuple[Hop, ...]


@dataclass
class Made:
    """A write: what it read, its operations, its pairs of rows by axis and kind."""

    step: str
    output: PendingVersion
    readings: list[PendingVersion]
    occurrences: list[int]
    operations: tuple[Operation, ...]
    doubted: set[tuple[int, int, int]]
    """Operation, column made and column read, where some rows only take it."""
    counts: set[tuple[int, int]]
    """Operation and column made, where it counts rows."""
    pairs: dict[tuple[int, str], set[tuple[int, int]]]

    def paths(self, column: str | None) -> Iterator[Step]:
        """All paths from a column of the output, or from its rows."""
        last = self.operations[-1]
        yield from self.behind(
            last.index, None if column is ROWS else next(c.id for c in last.columns if c.name == column)
        )

    def behind(self, at: int, column: int | None) -> Iterator[Step]:
        op = self.operations[at]
        if op.axes:
            for axis in op.axes:
                yield Step(axis, None if column is None else next(c.name for c in op.columns if c.id == column), ())
            return
        below = [*op.children, *op.subqueries]
        if column is None:
            for link in op.links:
                if link.out == -1:
                    yield from self.further(below, link.source, Hop(link.kind, link.context, True))
            for i in op.children:
                yield from self.behind(i, None)
            for i in op.subqueries:
                links = [k for k in op.links if k.source in {c.id for c in self.operations[i].columns}]
                aside = bool(links) and all(k.context for k in links)
                for s in self.behind(i, None):
                    yield s._replace(hops=(Hop("identity", aside, True), *s.hops))
            return
        if (at, column) in self.counts:
            for i in below:
                for s in self.behind(i, None):
                    yield s._replace(hops=(Hop("aggregation", False, True), *s.hops))
        links = [k for k in op.links if k.out == column]
        for link in links:
            sure = (at, column, link.source) not in self.doubted
            yield from self.further(below, link.source, Hop(link.kind, link.context, sure))
        for i in op.children:
            if column in {c.id for c in self.operations[i].columns}:
                yield from self.behind(i, column)

    def further(self, below: list[int], source: int, hop: Hop) -> Iterator[Step]:
        for i in below:
            if source in {c.id for c in self.operations[i].columns}:
                for s in self.behind(i, source):
                    yield s._replace(hops=(hop, *s.hops))


def dependence(hops: tuple[Hop, ...]) -> str:
    """Of a whole path: the first that decides, or else the strongest that goes in."""
    for hop in hops:
        if hop.dependence not in DIRECT:
            return hop.dependence
    return max((h.dependence for h in hops), key=DIRECT.index, default="identity")


class Cell(NamedTuple):
    """Where a path of cells leads."""

    dataset: str
    occurrence: int
    row: int | None
    column: str | None
    context: bool
    hops: tuple[Hop, ...]
    steps: frozenset[str]


@dataclass
class World:
    """Sources and the writes after them."""

    writes: list[Made] = field(default_factory=list)

    def maker(self, dataset: str) -> Made | None:
        return next((w for w in self.writes if str(w.output.dataset) == dataset), None)

    def behind(self, dataset: str, row: int | None, column: str | None) -> Iterator[Cell]:
        """All ends of the paths back from a cell, or, without a row, from a column."""
        yield from self._behind(Cell(dataset, -1, row, column, False, (), frozenset()))

    def _behind(self, cell: Cell) -> Iterator[Cell]:
        made = self.maker(cell.dataset)
        if made is None:
            yield cell
            return
        for path in made.paths(cell.column):
            aside = any(h.context for h in path.hops)
            rows: list[int | None] = [None]
            if cell.row is not None:
                kind = "context" if aside else "data"
                rows = [s for o, s in made.pairs.get((path.axis, kind), ()) if o == cell.row]
            for row in rows:
                source = str(made.readings[path.axis - 1].dataset)
                occurrence = made.occurrences[path.axis - 1]
                yield from self._behind(
                    Cell(
                        source,
                        occurrence,
                        row,
                        path.column,
                        cell.context or aside,
                        cell.hops + path.hops,
                        cell.steps | {made.step},
                    )
                )


def world(seed: int) -> World:
    """Two sources and one to three steps, each reading what was there before."""
    random = np.random.default_rng(seed)
    made = World()
    known = [_version(random, f"/in/{n}", False) for n in "ab"]
    for number in range(int(random.integers(1, 4))):
        readings = [known[int(random.integers(len(known)))] for _ in range(int(random.integers(1, 4)))]
        operations, doubted, counts = _operations(random, readings, "cde"[number])
        output = _version(random, f"/out/{number}", True, [c.name for c in operations[-1].columns])
        pairs = {}
        for axis, v in enumerate(readings, 1):
            for kind in ("data", "context"):
                chosen = {
                    (o, s)
                    for o in range(output.files.total)
                    for s in range(v.files.total)
                    if random.random() < (0.4 if kind == "data" else 0.2)
                }
                if chosen:
                    pairs[axis, kind] = chosen
        occurrences = [sum(v is w for w in readings[:i]) for i, v in enumerate(readings)]
        step = StepKey(f"t{number}", "run").id
        made.writes.append(Made(step, output, readings, occurrences, operations, doubted, counts, pairs))
        known.append(output)
    return made


def publish(made: World, store: Store) -> None:
    """Store all steps, each a second after the other."""
    for number, w in enumerate(made.writes):
        writer = store.writer(StepKey(f"t{number}", "run"))
        identity = {id(v): v.files.identity(v.dataset) for v in (w.output, *w.readings)}
        axes = [Axis("output", w.output.files.total, identity[id(w.output)])]
        axes += [
            Axis("input", v.files.total, identity[id(v)], n) for v, n in zip(w.readings, w.occurrences, strict=True)
        ]
        tensors = [
            PendingTensor(0, axis, from_pairs(*np.array(sorted(p)).T), kind)  # type: ignore[arg-type]
            for (axis, kind), p in w.pairs.items()
        ]
        inputs = {identity[id(v)]: _read(v) for v in w.readings}
        writer.add(
            PendingWrite(
                w.output, "exact", tuple(inputs.values()), tuple(axes), tensors, operations=Operations(w.operations)
            )
        )
        clock = f"2024-01-01T00:00:{number:02d}.000000"
        writer.publish(status="succeeded", started=clock, ended=clock)


def _version(random: np.random.Generator, name: str, written: bool, columns: list[str] | None = None) -> PendingVersion:
    names = columns if columns is not None else [f"{name[-1]}{i}" for i in range(int(random.integers(1, 4)))]
    files = Files.of([("f", 10, 1000, int(random.integers(1, 4)), written)])
    return PendingVersion(Dataset.parse(name), files, "parquet", fields=tuple(Field(n, "int") for n in names))


def _read(v: PendingVersion) -> PendingVersion:
    f = v.files
    files = Files(f.paths, f.sizes, f.mtimes, f.rows, np.zeros(len(f.paths), dtype=np.bool_))
    return PendingVersion(v.dataset, files, v.format, v.options, v.fields)


def _operations(
    random: np.random.Generator, readings: list[PendingVersion], prefix: str
) -> tuple[tuple[Operation, ...], set[tuple[int, int, int]], set[tuple[int, int]]]:
    operations: list[Operation] = []
    doubted: set[tuple[int, int, int]] = set()
    counts: set[tuple[int, int]] = set()
    fresh = iter(range(1000))

    def column(name: str = "") -> Column:
        number = next(fresh)
        return Column(number, name or f"{prefix}{number}", "int")

    for axis, v in enumerate(readings, 1):
        columns = tuple(column(f.name) for f in v.fields)
        operations.append(Operation(len(operations), "Relation", ("source",), "read", columns=columns, axes=(axis,)))
    for _ in range(int(random.integers(1, 5))):
        at = len(operations)
        pick = random.permutation(at)[: int(random.integers(1, 4))].tolist()
        children, aside = pick[:2], pick[2:]
        below = {c.id: c for i in children for c in operations[i].columns}
        beside = {c.id: c for i in aside for c in operations[i].columns if c.id not in below}
        ids = [*below, *beside]
        handed = list({c.name: c for c in below.values() if random.random() < 0.6}.values())
        columns, links, expressions = list(handed), [], []
        for _ in range(int(random.integers(1, 4))):
            made = column()
            columns.append(made)
            kind = random.choice(["links", "coalesce", "count", "bare"], p=[0.5, 0.3, 0.1, 0.1])
            if kind == "count":
                terms = (Term("Count", "count", -1, 1), Term("Literal", "1"))
                expressions.append(Expression("output", "count(1)", terms, made.id))
                counts.add((at, made.id))
            elif kind == "coalesce" and len(ids) > 1:
                one, other = (ids[i] for i in random.permutation(len(ids))[:2].tolist())
                terms = (Term("Coalesce", "", -1, 2), Term("Ref", "", one), Term("Ref", "", other))
                expressions.append(Expression("output", "coalesce(…)", terms, made.id))
                links += [ColumnLink(made.id, i, "transformation", bool(random.random() < 0.2)) for i in (one, other)]
                doubted.add((at, made.id, other))
            elif kind != "bare" and ids:
                for _ in range(int(random.integers(1, 3))):
                    links.append(_link(random, made.id, ids))
        if len(handed) > 1 and random.random() < 0.3:
            links.append(ColumnLink(handed[0].id, handed[1].id, "join"))
        if ids:
            links += [_link(random, -1, ids) for _ in range(int(random.integers(0, 2)))]
        operations.append(
            Operation(
                at,
                "Some",
                ("transformation",),
                f"operation {at}",
                tuple(children),
                tuple(aside),
                tuple(columns),
                tuple(expressions),
                tuple(dict.fromkeys(links)),
                site=f"job.py:{int(random.integers(1, 4))}",
            )
        )
    return tuple(operations), doubted, counts


def _link(random: np.random.Generator, out: int, ids: list[int]) -> ColumnLink:
    kinds = get_args(Dependence)
    kind = kinds[int(random.integers(3 if out == -1 else 0, len(kinds)))]
    return ColumnLink(out, ids[int(random.integers(len(ids)))], kind, bool(random.random() < 0.25))
