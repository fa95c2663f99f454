"""Links that uncaptured tasks declare, by their inlets (what they read) and outlets (what they write)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from provspark.index_store.profiles.profile import Profiles
from provspark.index_store.query.nodes import StoredTensor, StoreLike, VersionReference, WriteNode
from provspark.index_store.store.survey import Survey
from provspark.index_store.store.tasks import below, datasets, is_captured, joined
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.datasets import Files, Version
from provspark.model.operations import Operations
from provspark.model.steps import Manifest, StepKey, Task
from provspark.model.writes import Axis, Tensor, Untracked, Write

__all__ = ["declared_node", "declared_nodes"]

_Run = tuple[str, str]


def declared_nodes(nodes: Sequence[WriteNode]) -> list[WriteNode]:
    """Return a declared write for each version of an uncaptured task's outlets that no captured step wrote.

    Each row of it counts as derived from all rows of the task's inlets. Inlets are versions that tasks of the same run
    which don't depend on this task wrote, or else read. Outlets are versions that tasks after it read.

    Parameters
    ----------
    nodes : sequence of WriteNode
        All captured writes.
    """
    runs: dict[_Run, list[WriteNode]] = {}
    for node in nodes:
        if node.manifest.dag:
            runs.setdefault((node.manifest.key.dag_id, node.manifest.key.run_id), []).append(node)
    return [made for some in runs.values() for made in _of_run(some)]


def _of_run(nodes: Sequence[WriteNode]) -> Iterator[WriteNode]:
    tasks = joined(task for node in nodes for task in node.manifest.dag)
    for task in tasks.values():
        if is_captured(task) or not task.inlets or not task.outlets:
            continue
        after = below(tasks, task.task_id)
        earlier = [n for n in nodes if n.manifest.key.task_id not in after]
        later = [n for n in nodes if n.manifest.key.task_id in after]
        taken = _named([n.output for n in earlier], task.inlets) or _named(_read(earlier), task.inlets)
        made = {n.write.output.id for n in nodes}
        for at in _named(_read(later), task.outlets):
            if taken and at.version.id not in made:
                yield _declared(task, at, taken)


def _read(nodes: Iterable[WriteNode]) -> list[VersionReference]:
    return [at for node in nodes for at in node.inputs.values()]


def _named(references: Iterable[VersionReference], uris: Iterable[str]) -> list[VersionReference]:
    """Return the distinct versions whose datasets are among the named ones."""
    named = datasets(uris)
    versions = {at.key: at for at in references if any(name.meets(at.version.dataset) for name in named)}
    return list(versions.values())


def _declared(task: Task, made: VersionReference, taken: Sequence[VersionReference]) -> WriteNode:
    of = made.node.manifest
    why = f"task {task.task_id} ({task.operator}) declares the outlet {made.version.dataset}, and the inlets "
    why += ", ".join(str(at.version.dataset) for at in taken)
    return declared_node(
        StepKey(task.task_id, of.key.run_id, of.key.dag_id),
        made,
        taken,
        np.ones(len(made.files.paths), dtype=np.bool_),
        f"{why}. Without capture, each row of the outlet counts as derived from all rows of the inlets",
        ended=max(at.node.manifest.ended for at in taken),
        dag=of.dag,
    )


def declared_node(
    key: StepKey,
    made: VersionReference,
    taken: Sequence[VersionReference],
    written: npt.NDArray[np.bool_],
    why: str,
    *,
    ended: str,
    number: int = 0,
    dag: tuple[Task, ...] = (),
    named: tuple[tuple[WriteNode, ...], ...] = (),
) -> WriteNode:
    """Return a declared write of a version that a captured step read. For `named`, see `WriteNode`.

    Each row of the files that `written` marks counts as derived from all rows of the `taken` versions.
    """
    versions = (made.version, *(at.version for at in taken))
    roles = ("output", *("input" for _ in taken))
    axes = tuple(
        Axis(role, v.rows, v.id, 0 if role == "input" else -1, v.dataset.uri)  # type: ignore[arg-type]
        for role, v in zip(roles, versions, strict=True)
    )
    tensors = tuple(Tensor(0, i, "data", made.version.rows * v.rows, 1, "") for i, v in enumerate(versions) if i)
    reason = Untracked("declared", why)
    write = Write(number, made.version, "coarse", tuple(dict.fromkeys(versions[1:])), axes, tensors, reason)
    manifest = Manifest(f"{key.id} (declared)", key, "succeeded", ended, ended, (write,), (), dag=dag)
    files = {at.version.id: at.files for at in taken}
    files[made.version.id] = replace(made.files, written=written)
    return WriteNode(_Declared(made.node.store, files, axes), manifest, write, declared=True, named=named)


@dataclass(frozen=True, eq=False)
class _Declared:
    """Stand-in for the store of a declared write, which is in no store."""

    of: StoreLike
    known: dict[str, Files]
    axes: tuple[Axis, ...]

    @property
    def url(self) -> str:
        return self.of.url

    def survey(self) -> Survey:
        return Survey([], [])

    def check(self) -> None:
        pass

    def files(self, step: str, version: Version) -> Files:
        return self.known[version.id]

    def written_files(self, step: str) -> set[tuple[str, int, int]]:
        return set()

    def profiles(self, step: str, write: Write) -> Profiles | None:
        return None

    def operations(self, step: str, write: Write) -> Operations | None:
        return None

    def tensor(self, step: str, tensor: Tensor, order: str) -> StoredTensor:
        sizes = self.axes[tensor.out].size, self.axes[tensor.src].size
        return _AllOfAll(order == "out", *sizes)


@dataclass(frozen=True, slots=True)
class _AllOfAll:
    """A tensor that relates all rows to all rows."""

    by_out: bool
    out: int
    src: int

    def lookup(self, starts: Int64, lengths: Int64) -> Boxes:
        """Return a rectangle to the whole other axis for each run."""
        none = np.zeros(len(starts), dtype=np.int64)
        other = np.full(len(starts), self.src if self.by_out else self.out, dtype=np.int64)
        flat = np.zeros(len(starts), dtype=np.bool_)
        if self.by_out:
            return Boxes(starts, lengths, none, other, flat)
        return Boxes(none, other, starts, lengths, flat)

    def across(self, starts: Int64, lengths: Int64) -> Iterator[tuple[Int64, Int64]]:
        """Yield the whole other axis as one run."""
        if len(starts):
            one = np.zeros(1, dtype=np.int64)
            yield one, one + (self.src if self.by_out else self.out)

    @property
    def scattered(self) -> bool:
        return False
