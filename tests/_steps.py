"""Small steps by hand, for tests of single cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count

import numpy as np

from provspark.index_store.store.store import Store
from provspark.model.boxes.pairs import from_pairs
from provspark.model.datasets import Dataset, Files
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import Manifest, StepKey, StepStatus
from provspark.model.writes import Axis, Coverage, Kind, Untracked

Pairs = Iterable[tuple[int, int]]
_SECONDS = count()


def version(
    name: str,
    files: Mapping[str, int],
    written: Iterable[str] = (),
    *,
    format: str = "parquet",
    mtime: int = 1000,
    **options: str,
) -> PendingVersion:
    """A data set of files with so many rows each, all of one size and time; `written` are this write's own."""
    entries = [(path, 10, mtime, rows, path in set(written)) for path, rows in files.items()]
    return PendingVersion(Dataset.parse(name), Files.of(entries), format, tuple(sorted(options.items())))


def write(
    output: PendingVersion,
    readings: Iterable[tuple[PendingVersion, Pairs] | tuple[PendingVersion, Pairs, Kind]] = (),
    *,
    coverage: Coverage = "exact",
) -> PendingWrite:
    """A write that relates its output to each reading by pairs, without inner axes."""
    readings = list(readings)
    inputs = {identity(v): v for v, *_ in readings}
    reason = None if coverage == "exact" else Untracked("MapInPandas", "opaque function", "job.py:7")
    if coverage == "untracked":
        return PendingWrite(output, coverage, tuple(inputs.values()), reason=reason)
    axes = [Axis("output", output.files.total, identity(output))]
    tensors = []
    seen: list[str] = []
    for number, (v, pairs, *kind) in enumerate(readings, 1):
        axes.append(Axis("input", v.files.total, identity(v), seen.count(identity(v))))
        seen.append(identity(v))
        array = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
        tensors.append(PendingTensor(0, number, from_pairs(*array.T), kind[0] if kind else "data"))
    return PendingWrite(output, coverage, tuple(inputs.values()), tuple(axes), tensors, reason)


def publish(
    store: Store,
    task: str,
    *writes: PendingWrite,
    status: StepStatus = "succeeded",
    run: str = "run",
    try_number: int = 1,
    untracked: Iterable[Untracked] = (),
) -> Manifest:
    """Publish a step, later than all before it."""
    writer = store.writer(StepKey(task, run, "dag", try_number=try_number))
    for w in writes:
        writer.add(w)
    second = next(_SECONDS)
    clock = f"2024-01-01T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    return writer.publish(status=status, started=f"{clock}.000000", ended=f"{clock}.500000", untracked=tuple(untracked))


def identity(v: PendingVersion) -> str:
    return v.files.identity(v.dataset)


def read(v: PendingVersion) -> PendingVersion:
    """The same version as a reader sees it."""
    f = v.files
    files = Files(f.paths, f.sizes, f.mtimes, f.rows, np.zeros(len(f.paths), dtype=np.bool_))
    return PendingVersion(v.dataset, files, v.format, v.options)
