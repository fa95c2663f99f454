"""Counts of rows that are no longer in a current version, by the step after which their files were missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from provspark.index_store.query.graph import Graph
from provspark.index_store.query.nodes import FileIdentity, VersionReference
from provspark.index_store.query.relation import image
from provspark.index_store.query.walk import Stand
from provspark.model.datasets import Dataset
from provspark.model.runs import Runs
from provspark.model.wording import counted

__all__ = ["Gone", "GoneRows"]


@dataclass(frozen=True, slots=True, order=True)
class Gone:
    """Rows that were found, but are no longer in the current version of their dataset.

    Parameters
    ----------
    dataset : str
    step : str
        The first captured step after which their files were missing; empty if no captured step is known to have removed
        them.
    rows : int
    """

    dataset: str
    step: str
    rows: int

    def __str__(self) -> str:
        are, their = ("is", "its") if self.rows == 1 else ("are", "their")
        why = f"{their} files were missing after step {self.step}"
        if not self.step:
            why = f"no captured step is known to have removed {their} files"
        return f"{counted(self.rows, 'row')} of {self.dataset} {are} no longer in the current version: {why}"


class GoneRows:
    """Counts rows that are gone, and caches which step of a graph removed a file. Threads may share an instance."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._removers: dict[Dataset, dict[FileIdentity, str]] = {}

    def count(self, older: Iterable[Stand]) -> tuple[Gone, ...]:
        """Count rows that are in no current version, each once, by the step after which their files were missing."""
        rows: dict[object, tuple[VersionReference, Runs]] = {}
        for s in older:
            known = rows.get(s.at.key)
            rows[s.at.key] = (s.at, image(s.boxes) if known is None else known[1] | image(s.boxes))
        counts: dict[Dataset, dict[FileIdentity, int]] = {}
        for at, runs in rows.values():
            of = counts.setdefault(at.version.dataset, {})
            for place, n in _by_file(at, runs):
                of[place] = max(n, of.get(place, 0))
        out: list[tuple[str, str, int]] = []
        for dataset, of in counts.items():
            removers = self._removed(dataset, of)
            out += [(str(dataset), removers[place], n) for place, n in of.items()]
        return tuple(
            Gone(name, step, sum(n for *_, n in some))
            for (name, step), some in groupby(sorted(out), key=lambda one: one[:2])
        )

    def _removed(self, dataset: Dataset, places: Iterable[FileIdentity]) -> dict[FileIdentity, str]:
        """Return for each file the first step after which it was missing; "" if none is known."""
        known = self._removers.setdefault(dataset, {})
        after = {place: "" for place in places if place not in known}
        seen = [*self.graph.written.related(dataset), *self.graph.read.related(dataset)] if after else []
        # From the last step to the first: if a version has a file, `after` names the next step that wrote the folder
        # without it.
        for s in sorted(seen, key=lambda s: s.node.manifest.ended, reverse=True):
            if not after:
                break
            for place in after.keys() & {place for place, _ in s.places()}:
                known[place] = after.pop(place)
            if s is not s.node.output:
                continue  # a read removes nothing
            within = s.version.dataset.name.rstrip("/") + "/"
            whole = dataset.name.startswith(within) or s.version.dataset == dataset
            after.update((p, s.node.step) for p in list(after) if whole or p[1].startswith(within))
        known.update(dict.fromkeys(after, ""))
        return known


def _by_file(at: VersionReference, rows: Runs) -> Iterator[tuple[FileIdentity, int]]:
    """Yield each file that has rows of a set, with their number."""
    count = rows.counts(at.files.bases).tolist()
    for place, i in at.places():
        if count[i]:
            yield place, count[i]
