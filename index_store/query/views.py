"""The steps that a question uses: all, those up to a time, or those of one run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from provspark.index_store.query.current_versions import Current, Currents, VersionRule
from provspark.index_store.query.graph import Graph
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import Direction, VersionReference
from provspark.model.datasets import Dataset
from provspark.model.errors import ConditionError, UnknownDatasetError, UnknownRunError
from provspark.model.times import utc

__all__ = ["View", "Views"]

LATEST = "latest"
_NAMED = 5


class View:
    """A version, the rule that selected it, the linkers backward and forward, and the current versions of datasets."""

    def __init__(self, chosen: Current, back: Linker, ahead: Linker, currents: Currents) -> None:
        self.at, self.chosen, self.back, self.ahead, self.currents = chosen.at, chosen, back, ahead, currents

    def linker(self, direction: Direction) -> Linker:
        """Return the linker for a direction."""
        return self.back if direction == "backward" else self.ahead

    def dataset(self, name: str | None) -> Dataset | None:
        """Return the dataset with this name, which a step read or wrote; None for None.

        Raises
        ------
        UnknownDatasetError
        """
        return None if name is None else self.known(name)

    def known(self, name: str) -> Dataset:
        """Return the dataset with this name; raise `UnknownDatasetError` if no step read or wrote it."""
        return self.back.graph.known(self.back.graph.named(name))


class Views:
    """Views of a graph. Linkers and current versions are created once for each time and run."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._linkers: dict[object, Linker] = {None: Linker(graph)}
        self._partial = graph.whole is not graph
        self.currents = Currents(graph, partial=self._partial)
        self._currents: dict[Graph, Currents] = {graph: self.currents}

    def of(
        self, dataset: str | VersionReference, version: str | None, run: str | None, as_of: datetime | str | None
    ) -> View:
        """Select a version of a dataset.

        Parameters
        ----------
        run : str, optional
            A run's id, ``DAG/RUN`` if several DAGs have a run with this id, or ``latest``: the run whose step last
            wrote the dataset, or else read it. Selects the version that the run last wrote, or else read; walks
            forward follow only its steps. Without `version`, `run` and `as_of`, the existing files decide; see
            `Currents`.
        as_of : datetime or str, optional
            Ignore steps that ended later.

        Raises
        ------
        UnknownDatasetError, UnknownVersionError, UnknownRunError, ConditionError
        """
        when = None if as_of is None else _instant(as_of)
        back = self._linker(when, lambda: self.graph.restricted(lambda m: utc(m.ended) <= str(when)))
        named = dataset.version.dataset if isinstance(dataset, VersionReference) else self.graph.named(dataset)
        if when is not None:
            self._known_by(back.graph, named, str(as_of))
        if isinstance(dataset, VersionReference):
            back.graph.find(
                dataset.version.dataset, dataset.version.id
            )  # raises if it is of another store or a later time
            dataset = back.graph.own(dataset)
        ahead = back
        rule: VersionRule = "disk" if when is None else "as_of"
        if run is not None:
            if run == LATEST:
                last = back.graph.latest(named) if version is None else back.graph.find(named, version)
                run = f"{last.node.manifest.key.dag_id}/{last.node.manifest.key.run_id}"
            ids = _run(back.graph, run)
            key = (when, *ids)
            ahead = self._linker(key, lambda: back.graph.restricted(lambda m: (m.key.dag_id, m.key.run_id) == ids))
            rule = "run"
        currents = self._currents.get(ahead.graph) or self._currents.setdefault(
            ahead.graph, Currents(ahead.graph, rule, partial=self._partial)
        )
        if isinstance(dataset, VersionReference):
            chosen = Current(dataset, "version")
        elif version is not None:
            chosen = Current(ahead.graph.find(named, version), "version")
        else:
            chosen = currents.of(named)
        return View(chosen, back, ahead, currents)

    def _known_by(self, graph: Graph, dataset: Dataset, until: str) -> None:
        """Raise `UnknownDatasetError` for a dataset that only later steps read or wrote."""
        try:
            graph.known(dataset)
        except UnknownDatasetError:
            self.graph.known(dataset)
            raise UnknownDatasetError(str(dataset), (), until=until) from None

    def _linker(self, key: object, make: Callable[[], Graph]) -> Linker:
        if key not in self._linkers:
            self._linkers[key] = Linker(make())
        return self._linkers[key]


def _run(graph: Graph, run: str) -> tuple[str, str]:
    runs = dict.fromkeys((m.key.dag_id, m.key.run_id) for m in graph.manifests)
    run = str(run)
    matches = [r for r in runs if r[1] == run or f"{r[0]}/{r[1]}" == run]
    if len(matches) > 1:
        named = [f"{d}/{r}" for d, r in matches]
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        raise ConditionError(
            f"Run ID {run!r} exists in {len(named)} DAGs: {', '.join(named[:_NAMED])}{more}. Pass the full ID, for "
            f"example {named[0]!r}."
        )
    if not matches:
        raise UnknownRunError(run, [r for _, r in runs], len(graph.broken))
    return matches[0]


def _instant(when: datetime | str) -> str:
    """Return a time in UTC as text that sorts; a day means its end."""
    if isinstance(when, datetime):
        return utc(when.isoformat())
    text = str(when).strip()
    try:
        return utc(f"{text}T23:59:59.999999" if len(text) == len("2024-05-31") else text)
    except ValueError:
        raise ConditionError(f"{when!r} is not a time. Write it as 2024-05-31 or 2024-05-31T12:00:00Z.") from None
