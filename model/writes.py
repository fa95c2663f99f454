"""Writes of a step: their axes, the tensors between them, and what was not captured.

Classes here are frozen; do not write to the arrays in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from provspark.model.datasets import Version

Kind = Literal["data", "context", "possible"]
AxisRole = Literal["input", "output", "inner", "reads"]
Coverage = Literal["exact", "coarse", "untracked"]


@dataclass(frozen=True, slots=True)
class Axis:
    """A numbered set of things in a write: rows of an input or output version, or derivations below an operator.

    An axis with the role ``reads`` numbers the rows of the step's reads on the driver, one read after the other in the
    order of `Manifest.reads`. Its size is the number of rows read before, so that "all rows read before" is one box.
    """

    role: AxisRole
    size: int
    version: str = ""
    """Version id for an input or output; empty for an inner axis."""
    occurrence: int = -1
    """Which reading of an input this is (0, 1 … in plan order); -1 if it is not an input."""
    label: str = ""
    """Label for people: the operator of an inner axis, otherwise the name of the dataset."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a step: path relative to the step's folder, bytes, SHA-256 of the whole and of a Parquet footer."""

    path: str
    size: int
    sha256: str
    footer_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Tensor:
    """The relation between two axes of a write, stored as boxes.

    `out` and `src` are indexes of the write's axes. `by_out` is the file in output order; `by_src` the one in source
    order, empty if one file serves both. `edges` counts (out, src) pairs, `boxes` the boxes.
    """

    out: int
    src: int
    kind: Kind
    edges: int
    boxes: int
    by_out: str
    by_src: str = ""


@dataclass(frozen=True, slots=True)
class Untracked:
    """Why something was not captured: the plan node, the reason, and the script's ``file:line`` if known."""

    node: str
    why: str
    site: str = ""

    def __str__(self) -> str:
        return f"{self.node}: {self.why}" + (f" ({self.site})" if self.site else "")


@dataclass(frozen=True, slots=True)
class Write:
    """One output of a step. If `coverage` is ``untracked``, there are no tensors, and `reason` says why."""

    index: int
    output: Version
    coverage: Coverage
    inputs: tuple[Version, ...] = ()
    """Distinct versions that it read; axes refer to them by id. Of an untracked write, those that are known."""
    axes: tuple[Axis, ...] = ()
    """Axis 0 is the output."""
    tensors: tuple[Tensor, ...] = ()
    reason: Untracked | None = None
    site: str = ""
    """``file:line`` of the write in the user's script."""
    operations: str = ""
    """The file with the write's operations, relative to the step's folder; empty if none are known."""
    profiles: str = ""
    """The file with the profiles of its output and inputs; empty if none were requested."""
    action: str = ""
    """For a read on the driver, the method that was called, such as ``collect``; empty for a write."""
    single: bool = False
    """For a read on the driver: whether it returned one number computed from all rows."""
    complete: bool = False
    """For an untracked write or read: whether `inputs` are all that it read."""

    @property
    def named(self) -> frozenset[str]:
        """Paths of the step's files that belong to the write."""
        versions = {v.files for v in (self.output, *self.inputs)}
        tensors = {path for t in self.tensors for path in (t.by_out, t.by_src)}
        return frozenset((versions | tensors | {self.operations, self.profiles}) - {""})
