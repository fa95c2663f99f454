"""Boolean matrices between columns, a bit for each sort of dependence and kind of edge; their sums and products.

A matrix is kept as its non-zero entries. An entry holds 18 bits: nine dependences for paths of data edges, and nine for
paths with a context edge. Position 0 of either side stands for the rows themselves, so that what decides which rows
there are (filters, joins, groups) is a row of the matrix like any column's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Int64
from provspark.model.boxes.lists import matched, order_of, rising
from provspark.model.operations import Dependence
from provspark.model.writes import Kind

__all__ = ["ROWS", "BitEntry", "Bits", "bit", "collected", "compose", "identity", "named", "union"]

ROWS = 0
"""The position that stands for the rows themselves."""
DEPENDENCES: tuple[Dependence, ...] = get_args(Dependence)
_N = len(DEPENDENCES)
_DIRECT = 0b111
_STRONGER = np.array(
    [
        sum({1 << max(a, b) for a in range(3) for b in range(3) if x >> a & 1 and y >> b & 1})
        for x in range(8)
        for y in range(8)
    ],
    dtype=np.int64,
)
"""By masks of what goes in on both parts of a path, eight times the first and the second: of each two the stronger."""
_ALL = (1 << _N) - 1

Objects = npt.NDArray[Any]
BitEntry = tuple[int, int, int, int, int, int]
"""out, src, may, sure, via, doubt: see `Bits`."""


@dataclass(frozen=True, slots=True, eq=False)
class Bits:
    """A matrix; sorted by out, then src, each pair once.

    Parameters
    ----------
    out, src : int64 arrays
        Positions on either side.
    may, sure : int64 arrays
        The bits of all paths, and of those that hold for every row: a source that some rows choose by their values
        (CASE, coalesce, pivot …) has its bit in `may` alone.
    via, doubt : arrays of int
        The operations on the paths, and those among them that choose by row; a bit each. An entry without a bit in
        `may` tells of operations alone: those that made a column of nothing.
    """

    out: Int64
    src: Int64
    may: Int64
    sure: Int64
    via: Objects
    doubt: Objects

    @classmethod
    def of(cls, entries: Iterable[BitEntry]) -> Bits:
        """Build from entries in any order; the bits of equal pairs are united."""
        columns = list(zip(*entries, strict=True)) or [()] * 6
        ints = [np.array(c, dtype=np.int64) for c in columns[:4]]
        return collected(ints[0], ints[1], ints[2], ints[3], _objects(columns[4]), _objects(columns[5]))

    def __len__(self) -> int:
        return len(self.out)

    def __iter__(self) -> Iterator[BitEntry]:
        columns = (self.out, self.src, self.may, self.sure, self.via, self.doubt)
        return zip(*(c.tolist() for c in columns), strict=True)

    def take(self, which: npt.NDArray[Any]) -> Bits:
        """The entries at these places, or that are marked; they stay in order."""
        columns = (self.out, self.src, self.may, self.sure, self.via, self.doubt)
        return Bits(*(c[which] for c in columns))

    def of_kind(self, kind: Kind) -> Bits:
        """The paths of one kind of edge, told as if they were of data edges."""
        shift = 0 if kind == "data" else _N
        may, sure = self.may >> shift & _ALL, self.sure >> shift & _ALL
        return Bits(self.out, self.src, may, sure, self.via, self.doubt).take((may != 0) | (self.may == 0))

    def shifted(self, places: int) -> Bits:
        """The same with the operations' bits so many places further up."""
        return Bits(self.out, self.src, self.may, self.sure, self.via << places, self.doubt << places)

    def doubted(self, doubt: int) -> Bits:
        """The same, none of it sure, for one more reason."""
        return Bits(self.out, self.src, self.may, np.zeros_like(self.sure), self.via, self.doubt | doubt)

    def emptied(self, via: int) -> Bits:
        """No path, but that some operations made the columns."""
        zero = np.zeros_like(self.may)
        return Bits(self.out, self.src, zero, zero, _objects([via] * len(self)), _objects([0] * len(self)))

    def moved(self, out: Int64 | None = None, src: Int64 | None = None) -> Bits:
        """The same with other positions."""
        ends = self.out if out is None else out, self.src if src is None else src
        return collected(*ends, self.may, self.sure, self.via, self.doubt)

    def key(self) -> tuple[object, ...]:
        """Equal for equal matrices."""
        ints = (self.out, self.src, self.may, self.sure)
        return (*(a.tobytes() for a in ints), tuple(self.via), tuple(self.doubt))


def identity(positions: Iterable[int]) -> Bits:
    """Relate each position to itself."""
    at = np.unique(np.fromiter(positions, dtype=np.int64))
    one = np.ones(len(at), dtype=np.int64)
    zero = _objects([0] * len(at))
    return Bits(at, at, one, one, zero, zero)


def bit(kind: Dependence, context: bool = False) -> int:
    """The bit of a dependence."""
    return 1 << (DEPENDENCES.index(kind) + (_N if context else 0))


def named(mask: int) -> Iterator[tuple[Kind, Dependence, int]]:
    """The kinds of edges, dependences and bits of a mask."""
    for number, dependence in enumerate(DEPENDENCES):
        if mask >> number & 1:
            yield "data", dependence, 1 << number
        if mask >> (number + _N) & 1:
            yield "context", dependence, 1 << (number + _N)


def union(parts: list[Bits]) -> Bits:
    """All paths of several matrices between the same sides."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Bits.of(())
    columns = ([getattr(p, name) for p in parts] for name in Bits.__slots__)
    return collected(*(np.concatenate(c) for c in columns))


def compose(first: Bits, second: Bits) -> Bits:
    """The paths through both: from the out side of the first to the src side of the second.

    The dependence of a path of two parts is that of the part nearest to the out side that decides rather than goes in
    (join, filter, group by, sort, window, conditional), or else the stronger of identity, transformation, aggregation.
    It is a path of context where either part is one. Behind a column that was made of nothing there are no operations.
    """
    i, j = matched(first.src, second.out)
    beyond = np.where(first.may[i] != 0, second.via[j], 0)
    return collected(
        first.out[i],
        second.src[j],
        _paths(first.may[i], second.may[j]),
        _paths(first.sure[i], second.sure[j]),
        first.via[i] | beyond,
        first.doubt[i] | second.doubt[j],
    )


def _paths(x: Int64, y: Int64) -> Int64:
    """Masks of both kinds of edge."""
    xd, xc, yd, yc = x & _ALL, x >> _N, y & _ALL, y >> _N
    masks = _path(xd, yd)
    if xc.any() or yc.any():
        masks |= (_path(xc, yd | yc) | _path(xd, yc)) << _N
    return masks


def _path(x: Int64, y: Int64) -> Int64:
    """Masks of nine dependences each."""
    some_x, some_y = -((x & _DIRECT) != 0).astype(np.int64), -(y != 0).astype(np.int64)
    masks: Int64 = (x & ~_DIRECT & some_y) | (y & ~_DIRECT & some_x)
    masks |= _STRONGER[(x & _DIRECT) << 3 | (y & _DIRECT)]
    return masks


def collected(out: Int64, src: Int64, may: Int64, sure: Int64, via: Objects, doubt: Objects) -> Bits:
    """Sort, and unite the bits of equal pairs."""
    order = order_of(out, src)
    if order is not None:
        out, src, may, sure, via, doubt = (c[order] for c in (out, src, may, sure, via, doubt))
    if rising(out, src, strictly=True):
        return Bits(out, src, may, sure, via, doubt)
    first = np.flatnonzero(np.concatenate([[True], (out[1:] != out[:-1]) | (src[1:] != src[:-1])]))
    masks = (np.bitwise_or.reduceat(c, first) for c in (may, sure, via, doubt))
    return Bits(out[first], src[first], *masks)


def _objects(values: Iterable[int]) -> Objects:
    values = list(values)
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out
