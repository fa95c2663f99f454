"""Reading through a scan and, as the slow obvious way, file after file; shared by the tests of sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from provspark.model.pending import PendingVersion
from provspark.tracker.sources import Scan, Segments, scan_relation

ADDRESS = "__provspark_address"


@dataclass(frozen=True, slots=True)
class Tagged:
    """A scan, the DataFrame over its leaf, and what is to be had after a run."""

    scan: Scan
    frame: Any

    def numbered(self, frame: Any) -> tuple[list[tuple[Any, ...]], PendingVersion, Segments]:
        """Run `frame` (made from this one, address still in it) and return its rows as (row id, values)."""
        rows = [r.asDict(recursive=True) for r in frame.collect()]
        version, segments = self.scan.finish()
        ids = segments.rows_of(np.array([r.pop(ADDRESS) for r in rows], dtype=np.int64))
        return [(i, *r.values()) for i, r in zip(ids.tolist(), rows, strict=True)], version, segments


def tagged(jvm: Any, frame: Any, where: str = "") -> Tagged:
    """Number the rows of a DataFrame that is a plain read; `where` stands straight above it."""
    from pyspark.sql import DataFrame

    relation = frame._jdf.queryExecution().analyzed()
    predicates = []
    if where:
        condition = frame.where(where)._jdf.queryExecution().analyzed().condition()
        predicates = conjuncts(condition)
    scan = scan_relation(jvm, relation, predicates)
    dataset = jvm.jvm.org.apache.spark.sql.classic.Dataset
    out = DataFrame(dataset.ofRows(jvm.session, scan.plan), frame.sparkSession)
    return Tagged(scan, out.where(where) if where else out)


def conjuncts(condition: Any) -> list[Any]:
    if condition.getClass().getSimpleName() == "And":
        return conjuncts(condition.left()) + conjuncts(condition.right())
    return [condition]


Row = tuple[Any, ...]


def one_by_one(root: Path, pattern: str, read: Callable[[Path], Sequence[Row]]) -> list[Row]:
    """Return (row id, values) by reading each file alone, in path order."""
    out: list[Row] = []
    for path in sorted(root.rglob(pattern), key=lambda p: p.relative_to(root).as_posix()):
        for row in read(path):
            out.append((len(out), *row))
    return out


@contextmanager
def conf(spark: Any, **values: Any) -> Iterator[None]:
    """Set SQL configuration for a while; ``__`` in a name stands for a dot."""
    names = {k.replace("__", "."): v for k, v in values.items()}
    before = {k: spark.conf.get(k, None) for k in names}
    for k, v in names.items():
        spark.conf.set(k, str(v))
    try:
        yield
    finally:
        for k, v in before.items():
            if v is None:
                spark.conf.unset(k)
            else:
                spark.conf.set(k, v)
