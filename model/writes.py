"""Writes of a step: their axes, the tensors between them, and what was not captured.

Every class here is frozen; arrays inside are not to be written to.
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

    An axis of the role ``reads`` numbers the rows of the step's reads on the driver, one read after the other in the
    order of `Manifest.reads`. Its size is what had been read before, so that "all before" is one box.
    """

    role: AxisRole
    size: int
    version: str = ""
    """Version id for an input or output; empty for an inner axis."""
    occurrence: int = -1
    """Which reading of an input this is (0, 1 … in plan order); -1 where it is no input."""
    label: str = ""
    """For people: the operator of an inner axis, the data set's name otherwise."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a step: path relative to the step's folder, bytes, sha256 of the whole and of a Parquet's footer."""

    path: str
    size: int
    sha256: str
    footer_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Tensor:
    """The relation between two axes of a write, stored as boxes.

    `out` and `src` index the write's axes. `by_out` is the file in output order; `by_src` the one in source order,
    empty where both orders agree. `edges` counts (out, src) pairs, `boxes` the rows of `by_out`.
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
    """Why something was not captured: the plan's node, the reason, the script's ``file:line`` where known."""

    node: str
    why: str
    site: str = ""

    def __str__(self) -> str:
        return f"{self.node}: {self.why}" + (f" ({self.site})" if self.site else "")


@dataclass(frozen=True, slots=True)
class Write:
    """One output of a step. Where `coverage` is ``untracked`` there are no tensors and `reason` says why."""

    index: int
    output: Version
    coverage: Coverage
    inputs: tuple[Version, ...] = ()
    """Distinct versions read; axes refer to them by id. Of an untracked write, those that are known."""
    axes: tuple[Axis, ...] = ()
    """Axis 0 is the output."""
    tensors: tuple[Tensor, ...] = ()
    reason: Untracked | None = None
    site: str = ""
    """``file:line`` of the write in the user's script."""
    operations: str = ""
    """The file with the write's operations, relative to the step's folder; empty where none are known."""
    profiles: str = ""
    """The file with profiles of its output and inputs; empty where none were asked for."""
    action: str = ""
    """For a read on the driver, the method that was called, such as ``collect``; empty for a write."""
    single: bool = False
    """For a read on the driver: it returned one number computed from all rows."""
    complete: bool = False
    """For an untracked write or read: `inputs` are all that it read."""

    @property
    def named(self) -> frozenset[str]:
        """Paths of the step's files that belong to it."""
        versions = {v.files for v in (self.output, *self.inputs)}
        tensors = {path for t in self.tensors for path in (t.by_out, t.by_src)}
        return frozenset((versions | tensors | {self.operations, self.profiles}) - {""})
