"""Small steps for the store's tests."""

from __future__ import annotations

from pathlib import Path

from provspark.index_store.store.store import Store
from provspark.index_store.store.writer import StepWriter
from provspark.model.boxes import Boxes
from provspark.model.boxes.spool import Parts, Spool
from provspark.model.datasets import Dataset, Files
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import Manifest, StepKey
from provspark.model.writes import Axis


def version(name: str, rows: int, path: str = "part 0%20é.parquet") -> PendingVersion:
    """A version of one file."""
    files = Files.of([(path, 100, 7, rows, name == "/out")])
    return PendingVersion(Dataset("file", name), files, "parquet")


def write_of(boxes: Boxes | Parts | Spool, n_out: int, n_src: int) -> PendingWrite:
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


def stored(store: Store, task: str, boxes: Boxes | Parts | Spool, n_out: int, n_src: int) -> Manifest:
    """A published step with one tensor."""
    writer = store.writer(StepKey(task, "run"))
    writer.add(write_of(boxes, n_out, n_src))
    return publish(writer)


def tree(folder: Path) -> set[str]:
    """All files and folders below one."""
    return {str(p.relative_to(folder)) for p in folder.rglob("*")}
