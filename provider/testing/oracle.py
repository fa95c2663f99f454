"""Slow, simple reference answers: boxes as sets of pairs, and queries that follow single records."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.testing.worlds import Record, World, WorldEdge, WorldVersion, weaker

__all__ = ["Oracle", "OracleLine", "Pairs", "cells", "runs_of", "within"]

Pairs = set[tuple[int, int]]


class OracleLine(NamedTuple):
    """A line of an answer, without the selected row."""

    dataset: str
    version: str
    occurrence: int
    row: int
    kind: str


class Oracle:
    """Reference answers about a world, computed record by record."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.maker = {f: w for w in world.writes for f in w.written}
        self.behind: dict[Record, list[WorldEdge]] = {}
        self.ahead: dict[Record, list[WorldEdge]] = {}
        self.counts = self._counts()
        for e in world.edges:
            self.behind.setdefault(e.out, []).append(e)
            if self.counts[e.write]:
                self.ahead.setdefault(e.src, []).append(e)

    def _counts(self) -> list[bool]:
        """Whether each write counts for `forward`: its try was not superseded, or a counting write used its files."""
        last = {s.key.task_id: s.key.try_number for s in self.world.steps if s.status == "succeeded"}
        keys = [self.world.steps[w.step].key for w in self.world.writes]
        counts = [last.get(k.task_id, 0) <= k.try_number for k in keys]
        while True:
            used = set()
            for w in self.world.writes:
                if counts[w.number]:
                    used |= {f for v, _ in w.inputs for _, f, _ in v.files}
                    used |= {f for _, f, _ in w.output.files if f not in w.written}
            better = [c or bool(w.written & used) for c, w in zip(counts, self.world.writes, strict=True)]
            if better == counts:
                return counts
            counts = better

    def backward(self, at: WorldVersion, row: int, to: str | None) -> tuple[set[OracleLine], bool]:
        """Return the lines for one row, of both kinds, and whether a path stopped at an untracked write."""
        return self._follow(at, at.records[row], -1, row, to, self._sources)

    def forward(self, at: WorldVersion, row: int, to: str | None) -> tuple[set[OracleLine], bool]:
        return self._follow(at, at.records[row], -1, row, to, self._results)

    def _follow(
        self,
        at: WorldVersion,
        record: Record,
        occurrence: int,
        row: int,
        to: str | None,
        one: Callable[
            [WorldVersion, Record, int, int, str | None], tuple[set[OracleLine], bool, list[tuple[WorldEdge, str]]]
        ],
    ) -> tuple[set[OracleLine], bool]:
        lines: set[OracleLine] = set()
        stopped = False
        seen = set()
        waiting = [(at, record, occurrence, row, "data")]
        while waiting:
            state = waiting.pop()
            if state in seen:
                continue
            seen.add(state)
            version, record, occurrence, row, kind = state
            reached, halt, steps = one(version, record, occurrence, row, to)
            lines |= {line._replace(kind=weaker(kind, line.kind)) for line in reached}
            stopped |= halt and (kind == "data" or self.context)
            for e, way in steps:
                after = weaker(kind, e.kind)
                if way == "backward":
                    if e.version.dataset == to:
                        lines.add(OracleLine(to, e.version.id, e.occurrence, e.row, after))
                    waiting.append((e.version, e.src, e.occurrence, e.row, after))
                else:
                    output = self.world.writes[e.write].output
                    if output.dataset == to:
                        lines.add(OracleLine(to, output.id, e.occurrence, e.out_row, after))
                    waiting.append((output, e.out, e.occurrence, e.out_row, after))
        return lines, stopped

    context = True
    """Whether a stop behind a context edge counts."""

    def _sources(
        self, at: WorldVersion, record: Record, occurrence: int, row: int, to: str | None
    ) -> tuple[set[OracleLine], bool, list[tuple[WorldEdge, str]]]:
        maker = self.maker.get(record[0])
        lines = set()
        if maker is None:
            if to is None:
                lines.add(OracleLine(at.dataset, at.id, occurrence, row, "data"))
            return lines, False, []
        if maker.output.dataset == to != at.dataset:
            lines.add(OracleLine(to, maker.output.id, occurrence, maker.output.records.index(record), "data"))
        edges = [(e, "backward") for e in self.behind.get(record, ())]
        return lines, not maker.tracked, edges

    def _results(
        self, at: WorldVersion, record: Record, occurrence: int, row: int, to: str | None
    ) -> tuple[set[OracleLine], bool, list[tuple[WorldEdge, str]]]:
        readings = [
            (w, v)
            for w in self.world.writes
            if self.counts[w.number]
            for v, _ in w.inputs
            if record[0] in {f for _, f, _ in v.files}
        ]
        lines = set()
        if not readings and to is None:
            lines.add(OracleLine(at.dataset, at.id, occurrence, row, "data"))
        for _, v in readings:
            if v.dataset == to != at.dataset:
                lines.add(OracleLine(to, v.id, occurrence, v.records.index(record), "data"))
        stopped = any(not w.tracked for w, _ in readings)
        return lines, stopped, [(e, "forward") for e in self.ahead.get(record, ())]


def cells(boxes: Boxes) -> list[tuple[int, int]]:
    """Return all pairs of all boxes, box by box, according to the definition."""
    pairs = []
    for out, n_out, src, n_src, diagonal in zip(
        boxes.out.tolist(),
        boxes.n_out.tolist(),
        boxes.src.tolist(),
        boxes.n_src.tolist(),
        boxes.diagonal.tolist(),
        strict=True,
    ):
        if diagonal:
            assert n_out == n_src
            pairs += [(out + k, src + k) for k in range(n_out)]
        else:
            pairs += [(out + i, src + k) for i in range(n_out) for k in range(n_src)]
    return pairs


def within(pairs: Pairs, starts: Int64, lengths: Int64, axis: str) -> Pairs:
    """Return the pairs whose row on an axis is in one of the runs."""
    rows = {r for s, n in zip(starts.tolist(), lengths.tolist(), strict=True) for r in range(s, s + n)}
    return {p for p in pairs if p[axis == "src"] in rows}


def runs_of(rows: list[int]) -> tuple[Int64, Int64]:
    """Return sorted disjoint runs of exactly these rows, as starts and lengths."""
    rows = sorted(set(rows))
    starts = [r for r in rows if r - 1 not in rows]
    lengths = [next(n for n in range(1, len(rows) + 2) if s + n not in rows) for s in starts]
    return np.array(starts, dtype=np.int64), np.array(lengths, dtype=np.int64)
