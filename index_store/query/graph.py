"""Graph of the writes of one or more stores: their datasets, and the writes that made or read each version."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from provspark.index_store.query.declared_links import declared_nodes
from provspark.index_store.query.foreign_jobs import foreign_nodes
from provspark.index_store.query.nodes import StoreLike, VersionReference, WriteNode, family
from provspark.index_store.store.broken_steps import Broken
from provspark.index_store.store.survey import Survey
from provspark.index_store.store.tasks import shaped
from provspark.model.datasets import Dataset
from provspark.model.declarations import Declaration
from provspark.model.driver_datasets import is_driver
from provspark.model.errors import AmbiguousStepError, UnknownDatasetError, UnknownVersionError
from provspark.model.steps import Manifest, StepKey


@dataclass
class _Index:
    """References to versions by dataset, with a lookup of the folders above and inside a dataset."""

    by_name: dict[Dataset, list[VersionReference]] = field(default_factory=dict)

    def add(self, reference: VersionReference) -> None:
        self.by_name.setdefault(reference.version.dataset, []).append(reference)

    @cached_property
    def _sorted(self) -> list[Dataset]:
        return sorted(self.by_name)

    def related(self, dataset: Dataset) -> Iterator[VersionReference]:
        """Yield the references that may share a file with a dataset: its own, of folders above it, of folders in it."""
        parts = dataset.name.split("/")
        above = {"/".join(parts[:n]) or "/" * dataset.name.startswith("/") for n in range(len(parts))}
        for name in sorted(above - {dataset.name}):
            yield from self.by_name.get(Dataset(dataset.namespace, name), ())
        yield from self.by_name.get(dataset, ())
        prefix = dataset.name.rstrip("/") + "/" if dataset.name else ""
        for at in range(bisect_left(self._sorted, Dataset(dataset.namespace, prefix)), len(self._sorted)):
            other = self._sorted[at]
            if other.namespace != dataset.namespace or not other.name.startswith(prefix):
                return
            if other != dataset:
                yield from self.by_name[other]


class Graph:
    """A snapshot of all published writes of some stores.

    Parameters
    ----------
    stores : iterable of stores
        A step that several stores contain identically counts once.
    declarations : iterable of Declaration
        Inputs and outputs that uncaptured jobs declare in OpenLineage events.
    relative : bool
        Whether to resolve relative paths; see `named`.

    Attributes
    ----------
    broken : tuple of Broken
        Steps that can't be read, so answers may be incomplete.
    nodes, reads : tuple of WriteNode
        The writes, and the reads on drivers.
    written, read, on_driver, read_on_driver
        Versions by dataset: those that writes wrote and read, and those that reads on drivers made and read.
    whole : Graph
        The snapshot from which this one was restricted, or itself.
    lost
        Versions by dataset that untracked writes and reads are known to have read, and whose rows were not counted.
    """

    def __init__(
        self, stores: Iterable[StoreLike], declarations: Iterable[Declaration] = (), *, relative: bool = True
    ) -> None:
        self.stores, self._declarations, self.relative = tuple(stores), tuple(declarations), relative
        self.whole: Graph = self
        self._fill([store.survey() for store in self.stores])

    def renewed(
        self,
        stores: Iterable[StoreLike],
        broken: Iterable[Broken] = (),
        declarations: Iterable[Declaration] = (),
    ) -> Graph:
        """Return a new snapshot, or this one if stores, their steps and declarations are the same.

        `broken` are stores that can't be read.
        """
        now, said = tuple(stores), tuple(declarations)
        published = [*(store.survey() for store in now), Survey([], list(broken))]
        if (now, said) == (self.stores, self._declarations) and published == self._published:
            return self
        out = object.__new__(Graph)
        out.stores, out._declarations, out.whole, out.relative = now, said, out, self.relative
        out._fill(published)
        return out

    def _fill(self, surveys: list[Survey]) -> None:
        self._published = surveys
        self.broken = tuple(b for survey in surveys for b in survey.broken)
        known: dict[str, list[Manifest]] = {}
        pairs = []
        for store, survey in zip(self.stores, surveys, strict=False):
            for manifest in survey.manifests:
                twins = known.setdefault(manifest.step, [])
                if manifest not in twins:
                    twins.append(manifest)
                    pairs.append((store, manifest))
        pairs.sort(key=lambda p: (p[1].ended, p[1].step))
        manifests = shaped([m for _, m in pairs])
        families = [family(store, manifest) for (store, _), manifest in zip(pairs, manifests, strict=True)]
        nodes, reads = ([node for some in families for node in some[i]] for i in (0, 1))
        declared = declared_nodes(nodes)
        declared += foreign_nodes([*nodes, *reads], self._declarations, declared)
        if declared:
            nodes = sorted([*nodes, *declared], key=lambda node: (node.manifest.ended, node.manifest.step))
        self._take(manifests, nodes, reads)

    def restricted(self, keep: Callable[[Manifest], bool], broken: Callable[[Broken], bool] = lambda _: True) -> Graph:
        """Return this snapshot as if only the steps for which `keep` is true had been published, with the same nodes.

        Of the steps that can't be read, those for which `broken` is true stay. A declared write stays if `keep` is true
        for it and remaining steps know each version that its event names.
        """
        out = object.__new__(Graph)
        out.stores, out._declarations, out.whole = self.stores, self._declarations, self.whole
        out.relative = self.relative
        out.broken = tuple(b for b in self.broken if broken(b))
        nodes, reads = ([n for n in some if keep(n.manifest)] for some in (self.nodes, self.reads))
        if any(n.named for n in nodes):
            stay = {*nodes, *reads}
            nodes = [n for n in nodes if all(not stay.isdisjoint(known) for known in n.named)]
        out._take([m for m in self.manifests if keep(m)], nodes, reads)
        return out

    def _take(self, manifests: Iterable[Manifest], nodes: Iterable[WriteNode], reads: Iterable[WriteNode]) -> None:
        self.manifests, self.nodes, self.reads = tuple(manifests), tuple(nodes), tuple(reads)
        self.written, self.read = _Index(), _Index()
        self.on_driver, self.read_on_driver, self.lost = _Index(), _Index(), _Index()
        for some, written, read in (
            (self.nodes, self.written, self.read),
            (self.reads, self.on_driver, self.read_on_driver),
        ):
            for node in some:
                written.add(node.output)
                for reference in node.inputs.values():
                    uncounted = node.write.coverage == "untracked" and reference.version.unit == "file"
                    (self.lost if uncounted else read).add(reference)
        self._tries: dict[tuple[str, str, str, int, str], tuple[int, int]] = {}
        for m in self.manifests:
            if m.status == "succeeded":
                key = _instance(m.key)
                self._tries[key] = max(self._tries.get(key, (0, 0)), (m.key.try_number, m.key.attempt))

    def datasets(self) -> list[Dataset]:
        """Return all datasets, sorted, without those on drivers."""
        some = (self.written, self.read, self.read_on_driver, self.lost)
        named = {name for index in some for name in index.by_name}
        return sorted(name for name in named if not is_driver(name))

    def step(self, name: str) -> str | None:
        """Return the step id that equals `name`, or else the only one that begins with it; None if there is none.

        Raises
        ------
        AmbiguousStepError
            Several step ids begin with it.
        """
        steps = dict.fromkeys([*(m.step for m in self.manifests), *(n.step for n in self.nodes)])
        matches = [s for s in steps if s == name] or sorted(s for s in steps if name and s.startswith(name))
        if len(matches) > 1:
            raise AmbiguousStepError(name, matches)
        return matches[0] if matches else None

    def superseded(self, node: WriteNode) -> bool:
        """Whether a later try or attempt of the same step succeeded."""
        k = node.manifest.key
        last = self._tries.get(_instance(k), (0, 0))
        return last > (k.try_number, k.attempt)

    def references(self, dataset: Dataset) -> list[VersionReference]:
        """Return all references to a dataset's versions, the best one last; those on drivers if there are no others.

        The best is the last that a successful step wrote, or else the last that was read, or else the last that a
        failed step wrote.

        Raises
        ------
        UnknownDatasetError
            No step read or wrote the dataset. The error suggests similar names.
        """
        wrote, read = self.written.by_name.get(dataset, []), self.read.by_name.get(dataset, [])
        if not wrote and not read:
            wrote = self.on_driver.by_name.get(dataset, [])
            read = self.read_on_driver.by_name.get(dataset, []) or self.lost.by_name.get(dataset, [])
        if not wrote and not read:
            raise UnknownDatasetError(str(dataset), map(str, self.datasets()), len(self.broken))
        good = [s for s in wrote if s.node.manifest.status == "succeeded"]
        return [s for s in wrote if s.node.manifest.status != "succeeded"] + read + good

    def named(self, name: str | os.PathLike[str]) -> Dataset:
        """Return the dataset with a name that a user gives, whether a step read or wrote it or not.

        If none did, a path is resolved: a relative path against the working directory, and ``..`` in any path. Paths
        are not resolved if `relative` is false, because the user's working directory is elsewhere.

        Raises
        ------
        ArgumentError
        """
        dataset = Dataset.parse(name)
        return dataset.resolved() if self.relative and not self._met(dataset) else dataset

    def _met(self, dataset: Dataset) -> bool:
        indexes = (self.written, self.read, self.on_driver, self.read_on_driver, self.lost)
        return any(dataset in index.by_name for index in indexes)

    def known(self, dataset: Dataset) -> Dataset:
        """Return a dataset that some step read or wrote.

        Raises
        ------
        UnknownDatasetError
        """
        return self.references(dataset)[-1].version.dataset

    def latest(self, dataset: Dataset) -> VersionReference:
        """Return the best version of a dataset by the steps alone; see `references`.

        Among steps that ran at the same time, it is the version with the newest file.

        Raises
        ------
        UnknownDatasetError
        """
        references = self.references(dataset)
        best = references[-1]
        if best is not best.node.output or best.node.manifest.status != "succeeded":
            return best
        began = best.node.manifest.started
        beside: dict[str, VersionReference] = {}
        for s in reversed(references):
            manifest = s.node.manifest
            if s is not s.node.output or manifest.status != "succeeded" or manifest.ended < began:
                break
            beside.setdefault(s.node.step, s)
        if len(beside) == 1:
            return best
        return max(beside.values(), key=lambda s: (max(s.files.mtimes.tolist(), default=0), s.version.n_files))

    def own(self, reference: VersionReference) -> VersionReference:
        """Return this graph's reference to the same version, or the given one if there is none.

        A set of rows may be from another graph, or unpickled.
        """
        same = [s for s in self.references(reference.version.dataset) if s.key == reference.key]
        if any(s is reference for s in same):
            return reference
        wrote = [s for s in same if s is s.node.output]
        return (wrote or same or [reference])[-1]

    def find(self, dataset: Dataset, version: str) -> VersionReference:
        """Return the version with an id, as its writer refers to it if there is one.

        Raises
        ------
        UnknownDatasetError, UnknownVersionError
        """
        references = self.references(dataset)
        same = [s for s in references if s.version.id == version]
        if not same:
            raise UnknownVersionError(str(dataset), version, dict.fromkeys(s.version.id for s in references))
        wrote = [s for s in same if s is s.node.output]
        return (wrote or same)[-1]


def _instance(key: StepKey) -> tuple[str, str, str, int, str]:
    """Return what the tries of one step share. Each `provspark run` of a task is a separate step."""
    return key.dag_id, key.run_id, key.task_id, key.map_index, key.call
