"""Pages of a long answer, computed one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np
import pyarrow as pa

from provspark.index_store.query.relation import restrict
from provspark.model.boxes import Boxes
from provspark.model.boxes.pairs import transpose
from provspark.model.runs import Runs

__all__ = ["PAGE", "first_of", "paged"]

PAGE = 10_000
"""Default number of pairs on a page."""


def first_of(pages: Iterable[pa.Table], most: int) -> pa.Table:
    """Return the first `most` lines of an answer. Later pages are not computed."""
    tables: list[pa.Table] = []
    for page in pages:
        tables.append(page.slice(0, most))
        most -= tables[-1].num_rows
        if most <= 0:
            break
    return pa.concat_tables(tables)


def paged(parts: Sequence[tuple[int, Boxes]], size: int) -> Iterator[list[Boxes]]:
    """Split relations into pages of at most `size` pairs.

    Parameters
    ----------
    parts : sequence of (int, Boxes)
        Relations from the same labels, each with its place in the order of pages; sorted by place.

    Yields
    ------
    list of Boxes
        The part of each relation that is on the page. Pages are ordered by label; if one label fills several pages, by
        place, then by row.
    """
    every = [boxes for _, boxes in parts]
    if sum(b.edges for b in every) <= size:
        yield every
        return
    low, high = _span(every)
    if high - low > 1:
        middle = (low + high) // 2
        for start, end in ((low, middle), (middle, high)):
            yield from paged([(p, _labels(b, start, end)) for p, b in parts], size)
        return
    for place, _ in groupby(parts, key=lambda part: part[0]):
        yield from _of_rows([b if p == place else Boxes.empty() for p, b in parts], size)


def _of_rows(every: list[Boxes], size: int) -> Iterator[list[Boxes]]:
    """Split the pairs of one label by row."""
    low, high = _span([transpose(b) for b in every])
    if sum(b.edges for b in every) <= size or high - low <= 1:
        if any(len(b) for b in every):
            yield every
        return
    middle = (low + high) // 2
    for start, end in ((low, middle), (middle, high)):
        yield from _of_rows([restrict(b, _run(start, end)) for b in every], size)


def _labels(boxes: Boxes, start: int, end: int) -> Boxes:
    return transpose(restrict(transpose(boxes), _run(start, end)))


def _run(start: int, end: int) -> Runs:
    return Runs.united(np.array([start], dtype=np.int64), np.array([end - start], dtype=np.int64))


def _span(every: Sequence[Boxes]) -> tuple[int, int]:
    there = [b for b in every if len(b)]
    if not there:
        return 0, 0
    return min(int(b.out.min()) for b in there), max(int((b.out + b.n_out).max()) for b in there)
