"""Rows and files that a write itself created, of all that the dataset contains after it."""

from __future__ import annotations

from typing import Protocol

from provspark.model.datasets import Files, Version
from provspark.model.errors import ProvSparkError
from provspark.model.operations import Operations
from provspark.model.writes import Axis, Write

__all__ = ["written_files", "written_rows"]

_KEYED = "jdbc"


class _Lists(Protocol):
    """The part of a store that is needed here; the store imports the model."""

    def files(self, step: str, version: Version) -> Files: ...

    def operations(self, step: str, write: Write) -> Operations | None: ...


def written_rows(store: _Lists, step: str, write: Write) -> int | None:
    """Return the number of rows that a write created.

    Return None if it is not known: the write was not tracked, its rows were not counted, or the store can't be read.
    """
    if write.coverage == "untracked" or write.output.unit != "row":
        return None
    try:
        made = store.files(step, write.output).written_rows
        return made - _kept(store, step, write) if write.output.format == _KEYED else made
    except ProvSparkError:
        return None


def written_files(store: _Lists, step: str, write: Write) -> int | None:
    """Return the number of files that a write created; None if the store can't be read."""
    try:
        return int(store.files(step, write.output).written.sum())
    except ProvSparkError:
        return None


def _kept(store: _Lists, step: str, write: Write) -> int:
    """Return how many rows a table had before an append; its version is one file, which includes the older rows.

    These rows are the write's last input, and the only one that no source of its plan reads.
    """
    inputs = [i for i, axis in enumerate(write.axes) if axis.role == "input"]
    if not inputs or not _all_stay(write, inputs[-1]):
        return 0
    known = store.operations(step, write)
    if known is not None and any(inputs[-1] in operation.axes for operation in known.operations):
        return 0
    return write.axes[inputs[-1]].size


def _all_stay(write: Write, number: int) -> bool:
    """Return whether each row of an input of the output's dataset is a row of the output."""
    axis: Axis = write.axes[number]
    before = {v.id for v in write.inputs if v.dataset == write.output.dataset}
    edges = [t.edges for t in write.tensors if (t.out, t.src) == (0, number)]
    return axis.version in before and edges == [axis.size]
