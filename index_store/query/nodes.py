"""Writes as nodes of a graph, and the versions that they wrote and read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from provspark.index_store.profiles.profile import Profiles
from provspark.index_store.query.helper_columns import readable
from provspark.index_store.store.survey import Survey
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.datasets import Files, Version
from provspark.model.driver_datasets import MODELS
from provspark.model.errors import CorruptIndexError
from provspark.model.operations import Operation, Operations
from provspark.model.steps import Manifest
from provspark.model.writes import Kind, Tensor, Write

Direction = Literal["backward", "forward"]
FileIdentity = tuple[str, str, int, int]
"""Identity of a file: namespace, absolute path, size, modification time."""


class StoredTensor(Protocol):
    """A stored tensor, as far as questions read it."""

    def lookup(self, starts: Int64, lengths: Int64) -> Boxes:
        """Return the boxes that overlap these sorted, disjoint runs of the leading axis, clipped to them."""

    def across(self, starts: Int64, lengths: Int64) -> Iterator[tuple[Int64, Int64]]:
        """Yield starts and lengths of the related runs on the other axis, in pieces; unordered, rows may repeat."""

    @property
    def scattered(self) -> bool:
        """Whether a lookup of many rows costs as much as one of few rows."""


class StoreLike(Protocol):
    """A store, as far as questions read it."""

    @property
    def url(self) -> str: ...

    def survey(self) -> Survey: ...

    def check(self) -> None: ...

    def files(self, step: str, version: Version) -> Files: ...

    def written_files(self, step: str) -> set[tuple[str, int, int]]: ...

    def profiles(self, step: str, write: Write) -> Profiles | None: ...

    def tensor(self, step: str, tensor: Tensor, order: Literal["out", "src"]) -> StoredTensor: ...

    def operations(self, step: str, write: Write) -> Operations | None: ...


@dataclass(eq=False, slots=True)
class Driver:
    """The reads on a step's driver, in order, and the writes that these reads may have gone into."""

    reads: list[WriteNode] = field(default_factory=list)
    followers: list[WriteNode] = field(default_factory=list)
    """Writes and reads that have an axis for the reads before them, in order."""


@dataclass(frozen=True, eq=False)
class WriteNode:
    """One write of one step of one store, or one read on its driver. Compared by identity."""

    store: StoreLike
    manifest: Manifest
    write: Write
    driver: Driver = field(default_factory=Driver)
    base: int = -1
    """For a read, the position of its first row on the step's axis of reads; -1 for a write."""
    declared: bool = False
    """Whether it was not captured, but declared by a task or by an event of a job."""
    named: tuple[tuple[WriteNode, ...], ...] = ()
    """For a write that an event declares: the captured writes and reads that know each version that the event names."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields without cached results. A store pickles as its URL."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __deepcopy__(self, memo: object) -> WriteNode:
        return self

    @property
    def is_read(self) -> bool:
        """Whether this is a read on the driver."""
        return self.base >= 0

    @property
    def is_model(self) -> bool:
        """Whether this is the read of a fitted or loaded model on the driver."""
        return self.is_read and self.write.action in MODELS

    @cached_property
    def reads_axis(self) -> int:
        """Number of the axis of the reads before it; -1 if it has none."""
        return next((i for i, axis in enumerate(self.write.axes) if axis.role == "reads"), -1)

    @cached_property
    def reads(self) -> tuple[WriteNode, ...]:
        """Reads on its axis of reads."""
        if self.reads_axis < 0:
            return ()
        size = self.write.axes[self.reads_axis].size
        return tuple(read for read in self.driver.reads if read.base < size and read.write.output.rows)

    @cached_property
    def later(self) -> tuple[WriteNode, ...]:
        """For a read, the writes and reads whose axis of reads contains its rows."""
        return tuple(n for n in self.driver.followers if n.write.axes[n.reads_axis].size > self.base)

    @property
    def step(self) -> str:
        """Id of the step."""
        return self.manifest.step

    @cached_property
    def output(self) -> VersionReference:
        """The version that it wrote."""
        return VersionReference(self, self.write.output)

    @cached_property
    def inputs(self) -> dict[str, VersionReference]:
        """The versions that it read, by id."""
        return {v.id: VersionReference(self, v) for v in self.write.inputs}

    def reader(self, tensor: Tensor, order: Literal["out", "src"]) -> StoredTensor:
        """Return a reader of a tensor of this write. Each is opened once."""
        reader = self._readers.get((tensor, order))
        if reader is None:
            reader = self._readers[tensor, order] = self.store.tensor(self.step, tensor, order)
        return reader

    @cached_property
    def _readers(self) -> dict[tuple[Tensor, str], StoredTensor]:
        return {}

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """Operations of its plan, in order, in terms of the user's columns; empty if the step stored none."""
        stored = self.store.operations(self.step, self.write)
        return readable(stored.operations) if stored else ()

    @cached_property
    def memory(self) -> dict[object, Any]:
        """Cached results; see `provspark.index_store.query.memo`."""
        return {}

    def axes(self, direction: Direction) -> tuple[int, ...]:
        """Return the numbers of the axes, ordered so that every tensor leads from an earlier to a later axis."""
        return self._backward_axes if direction == "backward" else self._backward_axes[::-1]

    @cached_property
    def _backward_axes(self) -> tuple[int, ...]:
        waiting = [0] * len(self.write.axes)
        for t in self.write.tensors:
            waiting[t.src] += 1
        ready = [a for a, n in enumerate(waiting) if not n]
        for axis in ready:
            for t in self.write.tensors:
                if t.out == axis:
                    waiting[t.src] -= 1
                    if not waiting[t.src]:
                        ready.append(t.src)
        if len(ready) < len(waiting):
            raise CorruptIndexError(
                f"{self.store.url}/steps/{self.step}/manifest.json",
                f"the tensors of write {self.write.index} form a cycle",
            )
        return tuple(ready)

    def kinds_to(self, read: WriteNode) -> set[Kind]:
        """Return the kinds of the edges that lead to a read on its axis of reads."""
        return {t.kind for t in self.write.tensors if self.leads_to(t, [read])}

    def leads_to(self, tensor: Tensor, reads: Sequence[WriteNode]) -> bool:
        """Return whether a tensor leads to any of these reads on its axis of reads."""
        if tensor.src != self.reads_axis or not reads:
            return False
        starts, rows = (np.array(x) for x in ([r.base for r in reads], [r.write.output.rows for r in reads]))
        return bool(len(self.reader(tensor, "src").lookup(starts, rows)))

    @cached_property
    def goes_on(self) -> bool:
        """Whether its rows surely went on: for a read on a driver, by an edge that is not only possible."""
        if not self.is_read:
            return True
        return any(n.from_reads for n in self.later)

    @cached_property
    def from_reads(self) -> tuple[Tensor, ...]:
        """Tensors that lead to the reads before it, except those of possible edges."""
        return tuple(t for t in self.write.tensors if t.src == self.reads_axis and t.kind != "possible")


@dataclass(frozen=True, eq=False)
class VersionReference:
    """A version as one write knows it. Other readers may split the version with this id into rows differently."""

    node: WriteNode
    version: Version

    def __reduce__(self) -> tuple[Any, ...]:
        return _reference, (self.node, self.version, self is self.node.output)

    def __deepcopy__(self, memo: object) -> VersionReference:
        return self

    @cached_property
    def files(self) -> Files:
        """Files of the version."""
        return self.node.store.files(self.node.step, self.version)

    @property
    def key(self) -> tuple[str, int, tuple[tuple[str, str], ...], str]:
        """Key that is equal for references with equal files and equal rows."""
        return self.version.id, self.version.rows, self.version.options, self.version.unit

    def places(self) -> Iterator[tuple[FileIdentity, int]]:
        """Yield each file's identity and number."""
        dataset, files = self.version.dataset, self.files
        base = dataset.name.rstrip("/")
        paths = (f"{base}/{p}" if p else dataset.name for p in files.paths)
        entries = zip(paths, files.sizes.tolist(), files.mtimes.tolist(), strict=True)
        return (((dataset.namespace, *e), i) for i, e in enumerate(entries))


def _reference(node: WriteNode, version: Version, made: bool) -> VersionReference:
    """Return the node's own reference to a version that it wrote or read."""
    known = node.output if made else node.inputs.get(version.id)
    return known if known is not None and known.version == version else VersionReference(node, version)


def family(store: StoreLike, manifest: Manifest) -> tuple[list[WriteNode], list[WriteNode]]:
    """Return the nodes of a step's writes, and of the reads on its driver."""
    driver, base = Driver(), 0
    for read in manifest.reads:
        driver.reads.append(WriteNode(store, manifest, read, driver, base))
        base += read.output.rows
    writes = [WriteNode(store, manifest, write, driver) for write in manifest.writes]
    driver.followers.extend(node for node in (*driver.reads, *writes) if node.reads_axis >= 0)
    return writes, driver.reads
