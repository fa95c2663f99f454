"""Boxes: rectangles and diagonals of the relation between two axes, and operations on lists of them.

Classes here are frozen; do not write to the arrays in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Int64

_CHUNK = 1 << 16


@dataclass(frozen=True)
class Boxes:
    """Non-zeros of a tensor: box i relates rows out … out+n_out-1 to src … src+n_src-1.

    If `diagonal` is set (then n_out = n_src), row out+k came from row src+k; otherwise all came from all.
    The five arrays have one length.
    """

    out: Int64
    n_out: Int64
    src: Int64
    n_src: Int64
    diagonal: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.out)

    @property
    def edges(self) -> int:
        """Number of (out, src) pairs, counted with multiplicity where boxes overlap."""
        total = 0
        for start in range(0, len(self), _CHUNK):
            part = slice(start, start + _CHUNK)
            total += int(np.dot(self.n_out[part], np.where(self.diagonal[part], 1, self.n_src[part])))
        return total

    def parts(self) -> Iterator[Boxes]:
        """Yield all boxes at once; more than fit in memory come in several parts (`provspark.model.boxes.spool`)."""
        yield self

    @classmethod
    def empty(cls) -> Boxes:
        """Return an empty list of boxes."""
        z = np.zeros(0, dtype=np.int64)
        return cls(z, z, z, z, np.zeros(0, dtype=np.bool_))
