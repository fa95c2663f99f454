"""Walks within one write: from axis to axis along its tensors."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping

import numpy as np

from provspark.index_store.query.growing_set import GrowingSet
from provspark.index_store.query.nodes import Direction, StoredTensor, WriteNode
from provspark.index_store.query.relation import compose, image, shrink, united
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import concat, constant, is_constant, take, transpose
from provspark.model.progress import check
from provspark.model.runs import Runs
from provspark.model.writes import Kind

ROWS_AT_ONCE = 1 << 18
"""Maximum number of rows of an axis in one lookup, so that memory depends on the answer, not on the tensor."""

_STRENGTH: tuple[Kind, ...] = ("data", "context", "possible")
WalkLimit = Callable[[int, Kind, Boxes], Boxes]
"""Called with an axis, a kind and the relation that arrived there. Returns the part of the relation that goes on."""
Hop = Callable[[int, Kind, Boxes], None]
"""Called with the number of a tensor, the kind of the path through it, and the relation that comes out of it."""


def walk_axes(
    node: WriteNode,
    start: Mapping[tuple[int, Kind], Boxes],
    direction: Direction,
    *,
    context: bool,
    keep: Container[int],
    limit: WalkLimit | None = None,
    hop: Hop | None = None,
) -> dict[tuple[int, Kind], Boxes]:
    """Carry relations from some axes of a write to all axes that its tensors lead to.

    Parameters
    ----------
    start : mapping of (axis, kind) to Boxes
        From labels to rows of that axis. The kind is ``possible`` if any edge of the path is possible, ``context`` if
        any is context.
    direction : {"backward", "forward"}
        From output to inputs, or the reverse.
    context : bool
        Whether to follow context edges.
    keep : container of int
        The axes to return. Relations at other axes are dropped after use.
    limit, hop : callable, optional
        Cut what arrives at an axis; watch what comes out of each tensor.

    Returns
    -------
    dict
        Relations from labels to rows of the kept axes, by (axis, kind); none is empty.
    """
    backward = direction == "backward"
    arrived: dict[tuple[int, Kind], list[Boxes]] = {at: [boxes] for at, boxes in start.items()}
    kept: dict[tuple[int, Kind], Boxes] = {}
    kinds: tuple[Kind, ...] = ("data", "context", "possible") if context else ("data", "possible")
    for axis in node.axes(direction):
        for kind in kinds:
            parts = arrived.pop((axis, kind), None)
            if parts is None:
                continue
            here = united(parts)
            if limit is not None:
                here = limit(axis, kind, here)
                if not len(here):
                    continue
            if axis in keep:
                kept[axis, kind] = here
            for number, tensor in enumerate(node.write.tensors):
                leading, other = (tensor.out, tensor.src) if backward else (tensor.src, tensor.out)
                if leading != axis or (tensor.kind == "context" and not context):
                    continue
                there = through(here, node.reader(tensor, "out" if backward else "src"), direction)
                if len(there):
                    after = weaker(kind, tensor.kind)
                    if hop is not None:
                        hop(number, after, there)
                    arrived.setdefault((other, after), []).append(there)
    return kept


def weaker(a: Kind, b: Kind) -> Kind:
    """Return the kind of a path of two parts: the weaker one. Data is the strongest kind, possible the weakest.

    >>> weaker("data", "context"), weaker("possible", "context")
    ('context', 'possible')
    """
    return max(a, b, key=_STRENGTH.index)


def through(here: Boxes, reader: StoredTensor, direction: Direction) -> Boxes:
    """Carry a relation along one tensor."""
    backward = direction == "backward"
    parts: list[Boxes] = []
    if len(here) and _one_label(here):
        return _all_of(here, reader)
    plain = len(here) == 1 and bool(here.diagonal[0])  # the result is returned as it is stored
    settled = waiting = 0
    ends = here.src + here.n_src
    rising = bool((here.src[1:] >= here.src[:-1]).all() and (ends[1:] >= ends[:-1]).all())
    # If `here` is unordered, each piece scans all of it; if the tensor's boxes are unordered, each scans all of them.
    most = ROWS_AT_ONCE if rising and not reader.scattered else max(ROWS_AT_ONCE, 2 * len(here))
    for starts, lengths in pieces(image(here), most):
        check()
        boxes = reader.lookup(starts, lengths)
        near = here
        if rising and len(here) > 1:
            first, stop = ends.searchsorted(starts[0], "right"), here.src.searchsorted(starts[-1] + lengths[-1])
            near = take(here, slice(int(first), int(stop)))
        further = compose(near, boxes if backward else transpose(boxes))
        parts.append(further if plain else shrink(further))
        waiting += len(parts[-1])
        if not plain and waiting > 2 * settled + ROWS_AT_ONCE:
            parts = [united(parts)]
            settled, waiting = len(parts[0]), 0
    return concat(parts) if plain else united(parts)


def _one_label(boxes: Boxes) -> bool:
    """Return whether all boxes have the same labels, and each relates all of them to all its rows."""
    if len(boxes) == 1:
        return int(boxes.n_out[0]) == 1 or not boxes.diagonal[0]
    if all(is_constant(a) for a in (boxes.out, boxes.n_out, boxes.diagonal)):
        return not boxes.diagonal[0]
    if boxes.diagonal.any():
        return False
    return bool((boxes.out == boxes.out[0]).all() and (boxes.n_out == boxes.n_out[0]).all())


def _all_of(here: Boxes, reader: StoredTensor) -> Boxes:
    """Do the same as `through` for labels with one set of rows, keeping only the set that is reached."""
    marks = GrowingSet()
    rows = image(here)
    for starts, lengths in [(rows.starts, rows.lengths)] if reader.scattered else pieces(rows):
        for piece in reader.across(starts, lengths):
            marks.add(*piece)
    runs = marks.runs()
    n = len(runs.starts)
    return Boxes(
        constant(here.out[0], n), constant(here.n_out[0], n), runs.starts, runs.lengths, constant(np.False_, n)
    )


def pieces(runs: Runs, most: int | None = None) -> Iterator[tuple[Int64, Int64]]:
    """Split a set of rows into sets of at most `most` rows (default: `ROWS_AT_ONCE`), splitting runs, too."""
    most = most or ROWS_AT_ONCE
    if runs.count <= most:
        if runs:
            yield runs.starts, runs.lengths
        return
    last = np.cumsum(runs.lengths)
    for low in range(0, int(last[-1]), most):
        first, stop = last.searchsorted([low, low + most - 1], "right")
        starts, lengths = runs.starts[first : stop + 1].copy(), runs.lengths[first : stop + 1].copy()
        lengths[-1:] -= max(0, int(last[min(stop, len(last) - 1)]) - low - most)
        skip = low - int(last[first] - runs.lengths[first])
        starts[0] += skip
        lengths[0] -= skip
        yield starts, lengths
