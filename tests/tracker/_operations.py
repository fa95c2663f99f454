"""Reads a frame's operations as a write of it would, without the write."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any

from provspark.model.operations import Operation, Operations
from provspark.model.writes import Axis
from provspark.tracker.plan.operations import OperationReader
from provspark.tracker.plan.rewrite import Rewriter
from provspark.tracker.session.caches import Caches
from provspark.tracker.spark.jvm import Jvm

_JVMS: weakref.WeakKeyDictionary[Any, Jvm] = weakref.WeakKeyDictionary()


def jvm_of(spark: Any) -> Jvm:
    """Return the session's JVM, made once."""
    if spark not in _JVMS:
        _JVMS[spark] = Jvm(spark)
    return _JVMS[spark]


def operations(frame: Any) -> Operations:
    """Return a frame's operations."""
    jvm = jvm_of(frame.sparkSession)
    reader = OperationReader(jvm)
    draft = reader.read(jvm, reader.numbered(frame._jdf.queryExecution().analyzed()))
    assert draft is not None
    return draft.build()


def axes(frame: Any, caches: Caches | None = None) -> tuple[Operations, list[str]]:
    """Return a frame's operations with their axes, and which data set each axis numbers (0 is the output)."""
    jvm = jvm_of(frame.sparkSession)
    caches = caches or Caches(jvm, "file:///tmp/none", lambda *_: "")
    plan = caches.operations.numbered(caches.current(jvm, frame._jdf.queryExecution().analyzed()))
    draft = caches.operations.read(jvm, plan)
    assert draft is not None
    rewriter = Rewriter(jvm, "file:///tmp/none", caches)
    rewriter.run(plan)
    names = ["output", *(scan.dataset.name.rsplit("/", 1)[-1] for scan in rewriter.scans)]
    found = draft.build([Axis("input", 0, "", label=name) for name in names], rewriter.paths)
    return found, names


@dataclass(frozen=True)
class Named:
    """Operations with links by column names."""

    operations: Operations

    def one(self, node: str) -> Operation:
        """Return the only operation of a class."""
        (found,) = (o for o in self.operations.operations if o.node == node)
        return found

    def name(self, column: int) -> str:
        """Return a column's name; ``*`` for whole rows."""
        every = {c.id: c.name for o in self.operations.operations for c in o.columns}
        return "*" if column < 0 else every[column]

    def links(self, node: str) -> set[tuple[str, str, str, bool]]:
        """Return an operation's links as (out, source, kind, context)."""
        return {(self.name(k.out), self.name(k.source), k.kind, k.context) for k in self.one(node).links}
