"""Check of a tensor: its boxes against the manifest's axes and counts, and its two files against each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from provspark.index_store.store.store import Store
from provspark.index_store.store.tensors.file import TensorFile
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import concat
from provspark.model.boxes.pairs import unite
from provspark.model.writes import Axis, Tensor

__all__ = ["check_tensor"]

_BATCH = 1 << 20
"""Number of boxes checked at once."""
UInt64 = npt.NDArray[np.uint64]


def check_tensor(store: Store, step: str, tensor: Tensor, axes: tuple[Axis, ...]) -> list[str]:
    """Read all of a tensor and return its problems, each as a clause.

    Raises
    ------
    CorruptIndexError, StoreFormatError
        A file can't be read.
    """
    files = [store.tensor_file(step, path) for path in (tensor.by_out, tensor.by_src) if path]
    exact = [f for f in files if f.layout.holds == "boxes"]
    guides = [f for f in files if f.layout.holds == "guide"]
    if not exact:
        return ["none of its files contains boxes"]
    said, sums = [], []
    for file in exact:
        problem, count, edges, digest = _scan(file, axes[tensor.out].size, axes[tensor.src].size)
        said += problem
        sums.append(digest)
        if (count, edges) != (tensor.boxes, tensor.edges):
            said.append(f"{count} boxes of {edges} edges; the manifest says {tensor.boxes} of {tensor.edges}")
    if len(set(sums)) > 1:
        said.append("its two files contain different boxes")
    for guide in guides:
        if not _guides(guide, exact[0]):
            said.append("its guide misses boxes of its other file")
    return said


def _scan(file: TensorFile, n_out: int, n_src: int) -> tuple[list[str], int, int, int]:
    """Return the problems, the numbers of boxes and edges, and a hash that does not depend on the boxes' order."""
    said, count, edges, digest, last = [], 0, 0, 0, -1
    for _, boxes in _batches(file):
        if len(boxes) == 0:
            continue
        low = min(int(a.min()) for a in (boxes.out, boxes.src, boxes.n_out - 1, boxes.n_src - 1))
        if low < 0 or int((boxes.out + boxes.n_out).max()) > n_out or int((boxes.src + boxes.n_src).max()) > n_src:
            said.append(f"boxes reach outside of its axes of {n_out} and {n_src} rows")
        lead = boxes.out if file.layout.lead == "out" else boxes.src
        if int(lead[0]) < last or bool((lead[1:] < lead[:-1]).any()):
            said.append("boxes are out of order")
        last = int(lead[-1])
        count += len(boxes)
        edges += boxes.edges
        digest = (digest + int(_hashes(boxes).sum(dtype=np.uint64))) % 2**64
    return list(dict.fromkeys(said)), count, edges, digest


def _guides(guide: TensorFile, exact: TensorFile) -> bool:
    """Return whether a guide leads to every box of the other file."""
    by_out = guide.layout.lead == "out"
    span = exact.layout.page_rows * guide.layout.block
    told = concat([boxes for _, boxes in _batches(guide)])
    axis, n, block = (told.out, told.n_out, told.src) if by_out else (told.src, told.n_src, told.out)
    told = unite(block, axis, n)
    width = int((told.src + told.n_src).max(initial=0)) + 1
    starts = told.out * width + told.src
    for first, boxes in _batches(exact):
        axis, n = (boxes.out, boxes.n_out) if by_out else (boxes.src, boxes.n_src)
        if int((axis + n).max(initial=0)) >= width:
            return False
        line = (first + np.arange(len(boxes))) // span * width + axis
        at = np.searchsorted(starts, line, side="right") - 1
        if bool((at < 0).any()) or bool((starts[at] + told.n_src[at] < line + n).any()):
            return False
    return True


def _batches(file: TensorFile) -> Iterator[tuple[int, Boxes]]:
    """Yield the boxes of a file, some pages at a time, and the number of the first box."""
    pages = np.arange(file.layout.pages)
    per = max(1, _BATCH // file.layout.page_rows)
    for i in range(0, len(pages), per):
        yield i * file.layout.page_rows, file.decode(pages[i : i + per])


def _hashes(boxes: Boxes) -> UInt64:
    """Return a 64-bit hash of each box; a box of one pair counts as not diagonal."""
    diagonal = boxes.diagonal & (boxes.n_out > 1)
    hashes = np.zeros(len(boxes), dtype=np.uint64)
    for values in (boxes.out, boxes.n_out, boxes.src, boxes.n_src, diagonal):
        hashes = _mixed(hashes ^ _unsigned(values))
    return hashes


def _unsigned(values: Int64 | npt.NDArray[np.bool_]) -> UInt64:
    return values.astype(np.uint64)


def _mixed(h: UInt64) -> UInt64:
    """The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)."""
    h = h + np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: UInt64 = h ^ (h >> np.uint64(31))
    return mixed
