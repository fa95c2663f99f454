"""Derivations as tuples: TensProv's order n+1 tensor of a step, sliced and projected, page by page.

A column of the tuples is a *leaf*: a path along tensors from the output to one occurrence of an input. A derivation
has one source row for each leaf of its row. The inner axes determine which source rows belong together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from provspark.index_store.query.nodes import WriteNode
from provspark.index_store.query.relation import compose, identity, image, restrict
from provspark.index_store.query.write_walk import pieces
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.pairs import pairs, sort, transpose
from provspark.model.runs import Runs

TensorPath = tuple[int, ...]
"""Numbers of the tensors on a path, from the output on."""


def leaves(node: WriteNode) -> tuple[TensorPath, ...]:
    """Return the paths along a write's data tensors from its output to its inputs, by occurrence."""
    tensors, axes = node.write.tensors, node.write.axes
    paths: list[TensorPath] = []
    waiting: list[TensorPath] = [()]
    while waiting:
        path = waiting.pop()
        at = tensors[path[-1]].src if path else 0
        if path and axes[at].role == "input":
            paths.append(path)
            continue
        waiting += [(*path, n) for n, t in enumerate(tensors) if t.out == at and t.kind == "data"]
    return tuple(sorted(paths, key=lambda p: (axes[tensors[p[-1]].src].occurrence, p)))


@dataclass(frozen=True, slots=True, eq=False)
class TuplePage:
    """Some tuples: the label of each, and for each leaf the source row, or -1 if the derivation has none."""

    labels: Int64
    columns: Mapping[TensorPath, Int64]

    def take(self, which: npt.NDArray[np.generic]) -> TuplePage:
        """Select tuples by position or mask."""
        return TuplePage(self.labels[which], {path: column[which] for path, column in self.columns.items()})


def derivations(
    node: WriteNode, rows: Boxes, keep: Iterable[TensorPath], within: Mapping[TensorPath, Runs], size: int
) -> Iterator[TuplePage]:
    """List the derivations of rows of a write's output.

    Parameters
    ----------
    rows : Boxes
        From labels to rows of the output.
    keep : iterable of TensorPath
        Leaves to return. If these are not all leaves, each distinct tuple is returned once for each label.
    within : mapping of TensorPath to Runs
        Return only tuples whose source rows of these leaves are in these sets.
    size : int
        Maximum number of tuples in memory for each leaf.

    Yields
    ------
    TuplePage
        In ascending order of labels.
    """
    keep = tuple(keep)
    allowed = _allowed(node, within)
    wanted = {path[:n] for path in (*keep, *within) for n in range(1, len(path) + 1)}
    todo = sorted(p for p in wanted if len(p) == 1)
    pages = _Tuples(node, wanted, allowed, size).pages(_first(rows, allowed.get((), None), size), todo)
    if set(keep) == set(leaves(node)):
        yield from pages
    else:
        yield from _distinct(TuplePage(p.labels, {path: p.columns[path] for path in keep}) for p in pages)


def _allowed(node: WriteNode, within: Mapping[TensorPath, Runs]) -> dict[TensorPath, Runs]:
    """Return the rows that lead to the rows allowed by `within`, for each beginning of a path to such a leaf."""
    allowed: dict[TensorPath, Runs] = {}
    for path, runs in within.items():
        for n in range(len(path), -1, -1):
            allowed[path[:n]] = allowed[path[:n]] & runs if path[:n] in allowed else runs
            if n:
                reader = node.reader(node.write.tensors[path[n - 1]], "src")
                parts = [image(transpose(reader.lookup(*p))) for p in pieces(runs)]
                runs = Runs.united(
                    np.concatenate([p.starts for p in parts] or [runs.starts]),
                    np.concatenate([p.lengths for p in parts] or [runs.lengths]),
                )
    return allowed


def _first(rows: Boxes, allowed: Runs | None, size: int) -> Iterator[TuplePage]:
    """Yield the output rows of the labels, in order of the labels."""
    if allowed is not None:
        rows = restrict(rows, allowed)
    for starts, lengths in pieces(image(transpose(rows))):
        label, row = pairs(compose(identity(Runs(starts, lengths)), rows))
        for low in range(0, len(label), size):
            yield TuplePage(label[low : low + size], {(): row[low : low + size]})


class _Tuples:
    def __init__(self, node: WriteNode, wanted: set[TensorPath], allowed: Mapping[TensorPath, Runs], size: int) -> None:
        self.node, self.wanted, self.allowed, self.size = node, wanted, allowed, size
        self.tensors = node.write.tensors

    def pages(self, pages: Iterator[TuplePage], todo: Sequence[TensorPath]) -> Iterator[TuplePage]:
        """Follow the first tensor of `todo`, then the tensors that continue its path, then the others."""
        if not todo:
            yield from pages
            return
        path, rest = todo[0], todo[1:]
        further = sorted(p for p in self.wanted if len(p) == len(path) + 1 and p[:-1] == path)
        for page in pages:
            yield from self.pages(self.joined(page, path), [*further, *rest])

    def joined(self, page: TuplePage, path: TensorPath) -> Iterator[TuplePage]:
        """Yield each tuple with every row that the path's last tensor leads to, in pages."""
        at = page.columns[path[:-1]]
        there = at >= 0
        places = Runs.of(at[there])
        boxes = self.node.reader(self.tensors[path[-1]], "out").lookup(places.starts, places.lengths)
        which = np.flatnonzero(there)
        one = np.ones(len(which), dtype=np.int64)
        ranges = compose(Boxes(which, one, at[there], one, one < 0), boxes)
        bare = np.ones(len(at), dtype=np.bool_)
        bare[ranges.out] = False
        none = np.flatnonzero(bare)
        if path not in self.allowed and len(none):
            one = np.ones(len(none), dtype=np.int64)
            ranges = Boxes(
                np.concatenate([ranges.out, none]),
                np.concatenate([ranges.n_out, one]),
                np.concatenate([ranges.src, -one]),
                np.concatenate([ranges.n_src, one]),
                np.concatenate([ranges.diagonal, one < 0]),
            )
        ranges = sort(ranges)
        last = np.cumsum(ranges.n_src)
        for low in range(0, int(last[-1]) if len(last) else 0, self.size):
            place = np.arange(low, min(low + self.size, int(last[-1])))
            box = last.searchsorted(place, "right")
            source = ranges.src[box] + place - (last - ranges.n_src)[box]
            out = page.take(ranges.out[box])
            out = TuplePage(out.labels, {**out.columns, path: source})
            allowed = self.allowed.get(path)
            yield out if allowed is None else out.take(_among(source, allowed))


def _among(rows: Int64, runs: Runs) -> npt.NDArray[np.bool_]:
    at = runs.starts.searchsorted(rows, "right") - 1
    if not runs:
        return np.zeros(len(rows), dtype=np.bool_)
    held: npt.NDArray[np.bool_] = (at >= 0) & (rows < runs.ends[at])
    return held


def _distinct(pages: Iterable[TuplePage]) -> Iterator[TuplePage]:
    """Yield each distinct tuple once for each label. Tuples of a page's last label are remembered."""
    seen = np.zeros((0, 0), dtype=np.int64)
    for page in pages:
        if not len(page.labels):
            continue
        lines = np.stack([page.labels, *page.columns.values()], axis=1)
        lines = np.unique(lines, axis=0)
        if seen.size:
            old = np.concatenate([seen, lines[lines[:, 0] == seen[0, 0]]])
            _, first = np.unique(old, axis=0, return_index=True)
            fresh = np.sort(first[first >= len(seen)]) - len(seen)
            lines = np.concatenate([lines[lines[:, 0] == seen[0, 0]][fresh], lines[lines[:, 0] != seen[0, 0]]])
        if len(lines):
            last = lines[lines[:, 0] == lines[-1, 0]]
            same = bool(seen.size) and seen[0, 0] == lines[-1, 0]
            seen = np.concatenate([seen, last]) if same else last
            yield TuplePage(lines[:, 0], dict(zip(page.columns, lines[:, 1:].T, strict=True)))
