"""Parts of a small store, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from provspark.model.boxes import Boxes
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.pending import PendingVersion


def boxes(edges: list[tuple[int, int]]) -> Boxes:
    out, src = (np.array([e[k] for e in edges], dtype=np.int64) for k in (0, 1))
    one = np.ones(len(edges), dtype=np.int64)
    return Boxes(out, one, src, one, np.zeros(len(edges), dtype=np.bool_))


def version(path: Path, rows: int, fields: list[tuple[str, str]], header: bool, written: bool) -> PendingVersion:
    stat = path.stat()
    files = Files.of([("", stat.st_size, stat.st_mtime_ns // 1_000_000, rows, written)])
    options = (("header", str(header).lower()),)
    return PendingVersion(Dataset("file", str(path)), files, "csv", options, tuple(Field(*f) for f in fields))
