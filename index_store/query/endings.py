"""Endings of a forward trace: the writes that read rows of it and did not keep all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from provspark.index_store.query.nodes import VersionReference, WriteNode
from provspark.index_store.query.relation import compose, gathered, image
from provspark.index_store.query.write_walk import through, walk_axes
from provspark.model.boxes import Boxes
from provspark.model.progress import enter
from provspark.model.runs import Runs
from provspark.model.writes import Coverage, Kind

__all__ = ["Arrivals", "Ending"]


@dataclass(frozen=True, slots=True, order=True)
class Ending:
    """A write that read rows of a forward trace and kept only some of them, or none.

    Parameters
    ----------
    step : str
    write : int
        Number of the write in its step.
    dataset : str
        The dataset that it wrote.
    source, version : str
        The dataset and the version that it read.
    read, kept : int
        Number of rows of the trace in that version, and of those among them that an output row derives from.
    context : int
        Number of rows that were not kept, but used to compute values of the output; 0 if the trace follows context
        edges, because these rows then count as kept.
    node : int
        Number of the trace's node that has the rows.
    coverage : {"exact", "coarse"}
    """

    step: str
    write: int
    dataset: str
    source: str
    version: str
    read: int
    kept: int
    context: int
    node: int
    coverage: Coverage

    def __str__(self) -> str:
        rows, kept = f"{self.read:,} row{'' if self.read == 1 else 's'}", f"{self.kept:,}" if self.kept else "none"
        were = "was" if self.context == 1 else "were"
        used = f"; {self.context:,} of the rows not kept {were} used to compute values of the output (context)"
        used = used if self.context else ""
        return f"step {self.step}, which wrote {self.dataset}, read {rows} of {self.source} and kept {kept}{used}"


class Arrivals:
    """The rows that reached each write of a forward trace, and those made from them; counted on first use.

    Parameters
    ----------
    context : bool
        Whether the trace follows context edges.
    enters : callable
        Whether the trace enters a write.

    Attributes
    ----------
    drawn : callable
        Returns the trace's nodes that have rows of a version that a write read, each with the relation to its row ids.
    """

    def __init__(self, context: bool = False, enters: Callable[[WriteNode], bool] = lambda node: True) -> None:
        self._context, self._enters = context, enters
        self._came: dict[VersionReference, list[Runs]] = {}
        self._made: dict[VersionReference, list[Runs]] = {}
        self.drawn: Callable[[VersionReference], Sequence[tuple[int, Boxes | None]]] = lambda at: ()

    def __getstate__(self) -> dict[str, object]:
        """Pickle the counted endings only."""
        return {"ended": self.ended}

    def take(self, at: VersionReference, origin: VersionReference, via: WriteNode | None, rows: Runs) -> None:
        """Add rows that a walk met; see `WalkSink.met`."""
        if via is None:
            self._came.setdefault(at, []).append(rows)
        else:
            self._made.setdefault(origin, []).append(rows)

    @cached_property
    def ended(self) -> Mapping[Ending, Runs]:
        """The endings in order, each with its rows that were not kept."""
        endings = (self._ending(at, _all(parts)) for at, parts in self._came.items() if self._counts(at))
        return dict(sorted((e for e in endings if e is not None), key=lambda e: e[0]))

    def _counts(self, at: VersionReference) -> bool:
        """Whether the trace enters the write that read a version, and the write was captured."""
        node = at.node
        captured = node.write.coverage != "untracked" and not node.declared
        return captured and not node.is_read and self._enters(node)

    def _ending(self, at: VersionReference, read: Runs) -> tuple[Ending, Runs] | None:
        node, write = at.node, at.node.write
        enter(node.step)
        left = read - self._kept(at, read)
        told = self._told(at, left) if left else None
        if told is None:
            return None
        used = 0 if self._context else _used(at, left).count
        names = str(write.output.dataset), str(at.version.dataset), at.version.id
        counts = read.count, read.count - left.count, used
        return Ending(node.step, write.index, *names, *counts, told[0], write.coverage), told[1]

    def _told(self, at: VersionReference, rows: Runs) -> tuple[int, Runs] | None:
        """Return the first node of the trace that has any of these rows, with the rows; None if all are gone."""
        for number, boxes in self.drawn(at):
            there = rows if boxes is None else image(compose(gathered(rows), boxes))
            if there:
                return number, there
        return None

    def _kept(self, at: VersionReference, read: Runs) -> Runs:
        made = _all(self._made.get(at, ()))
        return read if made and read.count == 1 else read & _behind(at, made, context=self._context)


def _all(some: Iterable[Runs]) -> Runs:
    parts = [runs for runs in some if runs]
    if len(parts) < 2:
        return parts[0] if parts else Runs.span(0)
    return Runs.united(*(np.concatenate([getattr(r, of) for r in parts]) for of in ("starts", "lengths")))


def _axes(at: VersionReference) -> list[int]:
    """Return the axes by which a write reads a version."""
    return [i for i, a in enumerate(at.node.write.axes) if a.role == "input" and a.version == at.version.id]


def _behind(at: VersionReference, made: Runs, *, context: bool) -> Runs:
    """Return the rows of a version that given rows of its write's output came from."""
    node, axes = at.node, _axes(at)
    tensors = [t for t in node.write.tensors if context or t.kind != "context"]
    leading = set(axes)
    for axis in node.axes("forward"):
        leading |= {t.out for t in tensors if t.src == axis and axis in leading}
    rows = {0: made}
    for axis in node.axes("backward"):
        for t in tensors if rows.get(axis) else ():
            if t.out == axis and t.src in leading:
                behind = through(gathered(rows[axis]), node.reader(t, "out"), "backward")
                rows[t.src] = _all([image(behind), *([rows[t.src]] if t.src in rows else [])])
    return _all(rows[axis] for axis in axes if axis in rows)


def _used(at: VersionReference, rows: Runs) -> Runs:
    """Return the given rows of a version that any row of its write's output came from or was computed from."""
    if all(t.kind != "context" for t in at.node.write.tensors):
        return Runs.span(0)
    start: dict[tuple[int, Kind], Boxes] = {(axis, "data"): gathered(rows) for axis in _axes(at)}
    ways = walk_axes(at.node, start, "forward", context=True, keep={0})
    return rows & _behind(at, _all(image(boxes) for boxes in ways.values()), context=True)
