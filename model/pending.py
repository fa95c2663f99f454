"""Writes, versions and tensors on their way into the store.

Classes here are frozen; do not write to the arrays in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from provspark.model.boxes import Boxes
from provspark.model.boxes.spool import Parts, Spool
from provspark.model.datasets import Dataset, Field, Files, Unit
from provspark.model.operations import Operations
from provspark.model.writes import Axis, Coverage, Kind, Untracked


@dataclass(frozen=True, slots=True)
class PendingTensor:
    """A tensor on its way into the store."""

    out: int
    src: int
    boxes: Boxes | Parts | Spool
    kind: Kind = "data"


@dataclass(frozen=True, slots=True)
class PendingVersion:
    """A version on its way into the store: the content of a `Version`, with its files."""

    dataset: Dataset
    files: Files
    format: str
    options: tuple[tuple[str, str], ...] = ()
    fields: tuple[Field, ...] = ()
    partitions: tuple[str, ...] = ()
    unit: Unit = "row"


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """A write that sealing passes to the store. Axes refer to versions by `Files.identity`."""

    output: PendingVersion
    coverage: Coverage
    inputs: tuple[PendingVersion, ...] = ()
    axes: tuple[Axis, ...] = ()
    tensors: Sequence[PendingTensor] = field(default_factory=tuple)
    reason: Untracked | None = None
    site: str = ""
    operations: Operations | None = None
    action: str = ""
    single: bool = False
    complete: bool = False
