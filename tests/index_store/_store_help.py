"""Small steps for the store's tests, and the slow, obvious answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from provspark.index_store.model import (
    Axis,
    Boxes,
    Dataset,
    Files,
    Int64,
    Manifest,
    PendingTensor,
    PendingVersion,
    PendingWrite,
    StepKey,
)
from provspark.index_store.store import Store
from provspark.index_store.writer import StepWriter

Pairs = set[tuple[int, int]]


def version(name: str, rows: int, path: str = "part 0%20é.parquet") -> PendingVersion:
    """A version of one file."""
    files = Files.of([(path, 100, 7, rows, name == "/out")])
    return PendingVersion(Dataset("file", name), files, "parquet")


def write_of(boxes: Boxes, n_out: int, n_src: int) -> PendingWrite:
    """A write with one tensor between its output and its input."""
    out, src = version("/out", n_out), version("/in", n_src)
    axes = (
        Axis("output", n_out, out.files.identity(out.dataset)),
        Axis("input", n_src, src.files.identity(src.dataset), 0),
    )
    return PendingWrite(out, "exact", (src,), axes, (PendingTensor(0, 1, boxes),))


def publish(writer: StepWriter) -> Manifest:
    """Publish with fixed times."""
    return writer.publish(
        status="succeeded", started="2024-01-01T00:00:00.000000Z", ended="2024-01-01T00:00:01.000000Z"
    )


def stored(store: Store, task: str, boxes: Boxes, n_out: int, n_src: int) -> Manifest:
    """A published step with one tensor."""
    writer = store.writer(StepKey(task, "run"))
    writer.add(write_of(boxes, n_out, n_src))
    return publish(writer)


def cells(boxes: Boxes) -> list[tuple[int, int]]:
    """All pairs of all boxes, box by box, as the definition has it."""
    found = []
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
            found += [(out + k, src + k) for k in range(n_out)]
        else:
            found += [(out + i, src + k) for i in range(n_out) for k in range(n_src)]
    return found


def within(pairs: Pairs, starts: Int64, lengths: Int64, axis: str) -> Pairs:
    """The pairs whose row on an axis lies in one of the runs."""
    rows = {r for s, n in zip(starts.tolist(), lengths.tolist(), strict=True) for r in range(s, s + n)}
    return {p for p in pairs if p[axis == "src"] in rows}


def runs_of(rows: list[int]) -> tuple[Int64, Int64]:
    """Sorted disjoint runs that hold exactly these rows."""
    rows = sorted(set(rows))
    starts = [r for r in rows if r - 1 not in rows]
    lengths = [next(n for n in range(1, len(rows) + 2) if s + n not in rows) for s in starts]
    return np.array(starts, dtype=np.int64), np.array(lengths, dtype=np.int64)


def tree(folder: Path) -> set[str]:
    """All files and folders below one."""
    return {str(p.relative_to(folder)) for p in folder.rglob("*")}
