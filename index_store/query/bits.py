"""Boolean matrices between columns, with a bit for each dependence and kind of edge, and their sums and products.

A matrix is stored as its non-zero entries. An entry has 18 bits: nine dependences for paths of data edges, and nine for
paths with a context edge. Position 0 on either side represents the rows themselves, so what decides which rows exist
(filters, joins, groups) is a row of the matrix like that of a column.
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
"""Position that represents the rows themselves."""
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
"""The stronger dependence of each pair from two masks of direct dependences x and y, at index 8 * x + y."""
_ALL = (1 << _N) - 1

Objects = npt.NDArray[Any]
BitEntry = tuple[int, int, int, int, int, int]
"""out, src, may, sure, via, doubt: see `Bits`."""


@dataclass(frozen=True, slots=True, eq=False)
class Bits:
    """Sparse matrix, sorted by out, then src; each pair occurs once.

    Parameters
    ----------
    out, src : int64 arrays
        Positions on either side.
    may, sure : int64 arrays
        The bits of all paths, and of the paths that hold for every row. A source that only some rows use, depending on
        their values (CASE, coalesce, pivot, …), has its bit in `may` only.
    via, doubt : arrays of int
        A bit for each operation on the paths, and for each of these that chooses sources by row. An entry without a bit
        in `may` only lists operations: those that made a column from no other column.
    """

    out: Int64
    src: Int64
    may: Int64
    sure: Int64
    via: Objects
    doubt: Objects

    @classmethod
    def of(cls, entries: Iterable[BitEntry]) -> Bits:
        """Build a matrix from entries in any order; the bits of equal pairs are combined."""
        columns = list(zip(*entries, strict=True)) or [()] * 6
        ints = [np.array(c, dtype=np.int64) for c in columns[:4]]
        return collected(ints[0], ints[1], ints[2], ints[3], _objects(columns[4]), _objects(columns[5]))

    def __len__(self) -> int:
        return len(self.out)

    def __iter__(self) -> Iterator[BitEntry]:
        columns = (self.out, self.src, self.may, self.sure, self.via, self.doubt)
        return zip(*(c.tolist() for c in columns), strict=True)

    def take(self, which: npt.NDArray[Any]) -> Bits:
        """Return the entries that indexes or a boolean mask select, in their order."""
        columns = (self.out, self.src, self.may, self.sure, self.via, self.doubt)
        return Bits(*(c[which] for c in columns))

    def of_kind(self, kind: Kind) -> Bits:
        """Return the paths of one kind of edge, with their bits at the places of data edges."""
        shift = 0 if kind == "data" else _N
        may, sure = self.may >> shift & _ALL, self.sure >> shift & _ALL
        return Bits(self.out, self.src, may, sure, self.via, self.doubt).take((may != 0) | (self.may == 0))

    def shifted(self, places: int) -> Bits:
        """Return the matrix with the bits of operations shifted left by `places`."""
        return Bits(self.out, self.src, self.may, self.sure, self.via << places, self.doubt << places)

    def doubted(self, doubt: int) -> Bits:
        """Return the matrix with nothing sure, and `doubt` added to the operations that choose by row."""
        return Bits(self.out, self.src, self.may, np.zeros_like(self.sure), self.via, self.doubt | doubt)

    def emptied(self, via: int) -> Bits:
        """Return the entries without any path; they only say that the operations `via` made the columns."""
        zero = np.zeros_like(self.may)
        return Bits(self.out, self.src, zero, zero, _objects([via] * len(self)), _objects([0] * len(self)))

    def moved(self, out: Int64 | None = None, src: Int64 | None = None) -> Bits:
        """Return the matrix with other positions."""
        ends = self.out if out is None else out, self.src if src is None else src
        return collected(*ends, self.may, self.sure, self.via, self.doubt)

    def key(self) -> tuple[object, ...]:
        """Return a hashable key that is equal for equal matrices."""
        ints = (self.out, self.src, self.may, self.sure)
        return (*(a.tobytes() for a in ints), tuple(self.via), tuple(self.doubt))


def identity(positions: Iterable[int]) -> Bits:
    """Relate each position to itself."""
    at = np.unique(np.fromiter(positions, dtype=np.int64))
    one = np.ones(len(at), dtype=np.int64)
    zero = _objects([0] * len(at))
    return Bits(at, at, one, one, zero, zero)


def bit(kind: Dependence, context: bool = False) -> int:
    """Return the bit of a dependence."""
    return 1 << (DEPENDENCES.index(kind) + (_N if context else 0))


def named(mask: int) -> Iterator[tuple[Kind, Dependence, int]]:
    """Yield the kind of edge, the dependence and the bit for each bit of a mask."""
    for number, dependence in enumerate(DEPENDENCES):
        if mask >> number & 1:
            yield "data", dependence, 1 << number
        if mask >> (number + _N) & 1:
            yield "context", dependence, 1 << (number + _N)


def union(parts: list[Bits]) -> Bits:
    """Combine the paths of several matrices between the same sides."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Bits.of(())
    columns = ([getattr(p, name) for p in parts] for name in Bits.__slots__)
    return collected(*(np.concatenate(c) for c in columns))


def compose(first: Bits, second: Bits) -> Bits:
    """Multiply two matrices: relate the out side of the first to the src side of the second.

    The dependence of a combined path is the indirect one (join, filter, group by, sort, window, conditional) nearest to
    the out side, or else the stronger of identity, transformation and aggregation. A path is a context path if either
    part is. For a column that was made from no other column, operations of the second matrix are left out.
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
    """Combine masks with the dependences of both kinds of edge."""
    xd, xc, yd, yc = x & _ALL, x >> _N, y & _ALL, y >> _N
    masks = _path(xd, yd)
    if xc.any() or yc.any():
        masks |= (_path(xc, yd | yc) | _path(xd, yc)) << _N
    return masks


def _path(x: Int64, y: Int64) -> Int64:
    """Combine masks with nine dependences each."""
    some_x, some_y = -((x & _DIRECT) != 0).astype(np.int64), -(y != 0).astype(np.int64)
    masks: Int64 = (x & ~_DIRECT & some_y) | (y & ~_DIRECT & some_x)
    masks |= _STRONGER[(x & _DIRECT) << 3 | (y & _DIRECT)]
    return masks


def collected(out: Int64, src: Int64, may: Int64, sure: Int64, via: Objects, doubt: Objects) -> Bits:
    """Sort entries, and combine the bits of equal pairs."""
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
