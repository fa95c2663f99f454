"""Links that uncaptured jobs declare in OpenLineage events, by their inputs and outputs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from operator import itemgetter

import numpy as np

from provspark.index_store.query.declared_links import declared_node
from provspark.index_store.query.nodes import FileIdentity, VersionReference, WriteNode
from provspark.model.datasets import Dataset
from provspark.model.declarations import Declaration, same_bucket
from provspark.model.driver_datasets import is_driver
from provspark.model.errors import CorruptIndexError
from provspark.model.steps import StepKey
from provspark.model.times import milliseconds

__all__ = ["foreign_nodes"]

_NAMED = 5
"""Number of datasets and jobs that a reason names; it counts the others."""


def foreign_nodes(
    captured: Sequence[WriteNode], declarations: Iterable[Declaration], others: Iterable[WriteNode] = ()
) -> list[WriteNode]:
    """Return the writes that uncaptured jobs declare in OpenLineage events.

    A file of an output counts as made by a job if no captured write made it, if it is not newer than the job's last
    event, and if no captured step had seen it before that event. If several runs may have made it, all of them count.
    Each row of the file counts as derived from all rows of their inputs, in the versions that captured steps had
    written or read by then.

    Parameters
    ----------
    captured : sequence of WriteNode
        All captured writes, and reads on drivers.
    declarations : iterable of Declaration
    others : iterable of WriteNode
        Declared writes whose files already have a maker.
    """
    said = list(declarations)
    return list(_Foreign(captured, said, others).nodes()) if said else []


class _Foreign:
    """Resolves the inputs and outputs of declarations to dataset versions."""

    def __init__(self, captured: Sequence[WriteNode], said: Sequence[Declaration], others: Iterable[WriteNode]) -> None:
        self._said = sorted((milliseconds(d.last), d) for d in said)
        self._ended = cache(lambda node: milliseconds(node.manifest.ended))
        self._wrote: dict[Dataset, list[VersionReference]] = {}
        self._good: dict[Dataset, list[VersionReference]] = {}
        self._read: dict[Dataset, list[VersionReference]] = {}
        self._knowing: dict[object, dict[WriteNode, None]] = {}
        for node in sorted(captured, key=lambda n: (self._ended(n), n.step)):
            if not node.is_read:
                self._note(self._wrote, node.output)
                if node.manifest.status == "succeeded":
                    self._note(self._good, node.output)
            for at in node.inputs.values():
                if not is_driver(at.version.dataset):
                    self._note(self._read, at)
        self._places: Callable[[VersionReference], list[tuple[FileIdentity, int]]] = cache(_places)
        self._spoken_for = {place for node in others for place, _ in self._places(node.output)}
        self._met: Callable[[Dataset], list[Dataset]] = cache(self._meeting)
        self._taken: Callable[[Declaration], list[VersionReference]] = cache(self._inputs)

    def _note(self, some: dict[Dataset, list[VersionReference]], at: VersionReference) -> None:
        some.setdefault(at.version.dataset, []).append(at)
        self._knowing.setdefault(at.key, {})[at.node] = None

    def nodes(self) -> Iterator[WriteNode]:
        """Yield a write for each version and set of runs that made files of it."""
        makers: dict[Dataset, list[tuple[int, Dataset, Declaration]]] = {}
        for last, said in self._said:
            for name in said.outputs:
                for dataset in self._met(name):
                    makers.setdefault(dataset, []).append((last, same_bucket(name), said))
        seen = self._first_seen(makers)
        taken_files = {place for d in makers for at in self._wrote.get(d, ()) for place in self._written(at)}
        taken_files |= self._spoken_for
        numbers: dict[str, int] = {}
        for at in sorted(
            (at for dataset in makers for at in self._read.get(dataset, ())),
            key=lambda at: (self._ended(at.node), at.node.step),
        ):
            for jobs, files in self._claims(at, makers[at.version.dataset], seen, taken_files).items():
                key = _key(jobs)
                number = numbers[key.id] = numbers.get(key.id, -1) + 1
                made = self._node(at, jobs, files, key, number)
                if made is not None:
                    yield made

    def _claims(
        self,
        at: VersionReference,
        makers: Sequence[tuple[int, Dataset, Declaration]],
        seen: dict[FileIdentity, int],
        taken: set[FileIdentity],
    ) -> dict[tuple[Declaration, ...], list[int]]:
        """Return the numbers of a version's files by the runs that may have made them; a file goes to one version."""
        claims: dict[tuple[Declaration, ...], list[int]] = {}
        for place, number in self._places(at):
            if place in taken:
                continue
            since = bisect_left(makers, place[3], key=itemgetter(0))
            until = bisect_right(makers, seen[place], key=itemgetter(0))
            jobs = dict.fromkeys(d for _, name, d in makers[since:until] if _lies_in(place, name) and self._taken(d))
            if jobs:
                claims.setdefault(tuple(jobs), []).append(number)
                taken.add(place)
        return claims

    def _node(
        self, at: VersionReference, jobs: tuple[Declaration, ...], files: list[int], key: StepKey, number: int
    ) -> WriteNode | None:
        taken = {s.version.id: s for job in jobs for s in self._taken(job) if s.version.id != at.version.id}
        if not taken:
            return None
        written = np.zeros(len(at.files.paths), dtype=np.bool_)
        written[files] = True
        who = _several(dict.fromkeys(f"{job.namespace}/{job.name}" for job in jobs))
        one = len({(job.namespace, job.name) for job in jobs}) == 1
        says = f"job {who} declares" if one else f"jobs {who} declare"
        inputs = _several(dict.fromkeys(str(s.version.dataset) for s in taken.values()))
        return declared_node(
            key,
            at,
            list(taken.values()),
            written,
            f"{says} in OpenLineage events: output {at.version.dataset}, from {inputs}. "
            "Without capture, each row of the output counts as derived from all rows of the inputs",
            ended=max(job.last for job in jobs),
            number=number,
            named=tuple(tuple(self._knowing[s.key]) for s in (at, *taken.values())),
        )

    def _first_seen(self, datasets: Iterable[Dataset]) -> dict[FileIdentity, int]:
        """Return for each file when the first captured step that knows it ended, in milliseconds."""
        seen: dict[FileIdentity, int] = {}
        for dataset in datasets:
            for at in (*self._wrote.get(dataset, ()), *self._read.get(dataset, ())):
                ended = self._ended(at.node)
                for place, _ in self._places(at):
                    seen[place] = min(seen.get(place, ended), ended)
        return seen

    def _meeting(self, name: Dataset) -> list[Dataset]:
        named = same_bucket(name)
        return sorted(d for d in {*self._wrote, *self._read} if named.meets(same_bucket(d)))

    def _inputs(self, said: Declaration) -> list[VersionReference]:
        """Return the versions a run may have read: the last of each dataset before it, and those made during it."""
        first, last = milliseconds(said.first), milliseconds(said.last)
        versions = [
            at for name in said.inputs for dataset in self._met(name) for at in self._before(dataset, first, last)
        ]
        return list({at.version.id: at for at in versions if self._places(at)}.values())

    def _before(self, dataset: Dataset, first: int, last: int) -> list[VersionReference]:
        good, read, wrote = (some.get(dataset, []) for some in (self._good, self._read, self._wrote))
        known, seen = self._until(good, last), self._until(read, last)
        versions = good[max(self._until(good, first) - 1, 0) : known]
        if not versions:
            return read[max(seen - 1, 0) : seen] or wrote[: self._until(wrote, last)][-1:]
        newest = [at for at in read[max(seen - 1, 0) : seen] if self._ended(at.node) > self._ended(versions[-1].node)]
        return [*versions, *(at for at in newest if not self._part(at, versions[-1]))]

    def _until(self, some: Sequence[VersionReference], when: int) -> int:
        """Return how many references, sorted by the end of their step, are of steps that ended by a time."""
        return bisect_right(some, when, key=lambda at: self._ended(at.node))

    def _written(self, at: VersionReference) -> Iterator[FileIdentity]:
        return (place for place, number in self._places(at) if at.files.written[number])

    def _part(self, at: VersionReference, of: VersionReference) -> bool:
        """Whether all files of a version are also files of another."""
        return at.version.id == of.version.id or {p for p, _ in self._places(at)} <= {p for p, _ in self._places(of)}


def _places(at: VersionReference) -> list[tuple[FileIdentity, int]]:
    """Return the files of a version; none if their list can't be read, which the walk that needs it reports."""
    try:
        return list(at.places())
    except CorruptIndexError:
        return []


def _lies_in(place: FileIdentity, name: Dataset) -> bool:
    namespace, path, *_ = place
    file = same_bucket(Dataset(namespace, path))
    return file.namespace == name.namespace and f"{file.name.strip('/')}/".startswith(f"{name.name.strip('/')}/")


def _key(jobs: Sequence[Declaration]) -> StepKey:
    """Return the step key of what jobs made together.

    It has a DAG only if all jobs are of the same task; otherwise, only users who may see all DAGs see the write.
    """
    last = jobs[-1]
    if last.dag_id and all((job.dag_id, job.task_id) == (last.dag_id, last.task_id) for job in jobs):
        return StepKey(last.task_id, last.dag_run, last.dag_id)
    return StepKey(", ".join(dict.fromkeys(job.name for job in jobs)), last.run)


def _several(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    return ", ".join(known[:_NAMED]) + more
