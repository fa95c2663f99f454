"""The part of a store that one user may see: the steps of some DAGs, as if there were no others."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from fastapi import HTTPException

from provspark.api import Broken, Provenance, Trace
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import Direction, VersionReference
from provspark.index_store.query.single_derivation import one_derivation
from provspark.index_store.query.trace import TraceNode
from provspark.index_store.values.selection import parse_condition, select_there
from provspark.model.arrays import Int64
from provspark.model.bounded_cache import Cache
from provspark.model.datasets import Dataset
from provspark.model.runs import Runs
from provspark.model.steps import Manifest
from provspark.web import models
from provspark.web.visible import Visible

__all__ = ["UserScope", "dataset_id"]

_BROKEN = 100
_CACHED_RUNS = 4_000_000
_ENTRY = 1000
_ASK = "Ask an administrator: the server's log names the step and its file."


def dataset_id(dataset: Dataset) -> str:
    """Return a short id for URLs. Names contain slashes, and a path in a request must never open a file."""
    return hashlib.sha256(dataset.uri.encode()).hexdigest()[:16]


def _why(broken: Broken) -> str:
    return broken.why if broken.step else f"The store {broken.store} can't be read: {broken.why}"


class UserScope:
    """Datasets, versions and rows that one user may see. Selections and traces are cached.

    Parameters
    ----------
    whole : Linker
        Linker of all steps; used only to find out whether a hidden step made or read some rows.
    prov : Provenance
        Provenance of all steps.
    dags : frozenset of str or None
        DAGs whose steps the user may see; None for all steps. A set also hides steps that belong to no DAG.
    visible : Visible
        Masking rules of all steps.
    """

    def __init__(self, whole: Linker, prov: Provenance, dags: frozenset[str] | None, visible: Visible) -> None:
        self.visible = visible
        self._whole, self.dags = whole, dags
        self.prov = prov.restricted(self._sees, self._sees_broken)
        self._unknown = any(b.key is None for b in prov.broken)
        self._selected: Cache[Runs] = Cache(_CACHED_RUNS)
        self._traces: Cache[Trace] = Cache(_CACHED_RUNS)

    def _sees(self, manifest: Manifest) -> bool:
        return self.dags is None or manifest.key.dag_id in self.dags

    def _sees_broken(self, broken: Broken) -> bool:
        return self.dags is None or (broken.key is not None and broken.key.dag_id in self.dags)

    def sees(self, step: str) -> bool:
        """Return whether the user may see a step, including one that can't be read."""
        return step in self.manifests or any(b.step == step for b in self.prov.broken)

    @cached_property
    def broken(self) -> list[models.BrokenJson]:
        """Up to 100 steps that can't be read. Users of some DAGs see all steps of unknown DAGs as one entry without
        details."""
        broken = [
            models.BrokenJson(step=b.step or None, file=b.file or None, fault=b.fault, why=_why(b), advice=b.advice)
            for b in self.prov.broken[:_BROKEN]
        ]
        if self.dags is not None and self._unknown:
            why = "A step can't be read, and its DAG is unknown: it may be one that you have no access to"
            broken.append(models.BrokenJson(step=None, file=None, fault=None, why=why, advice=_ASK))
        return broken

    @cached_property
    def linker(self) -> Linker:
        """Linker of the versions that the user may see."""
        return Linker(self.prov.graph)

    @cached_property
    def datasets(self) -> dict[str, Dataset]:
        """Datasets by id, in order of their names."""
        return {dataset_id(d): d for d in self.prov.graph.datasets()}

    @cached_property
    def _on_drivers(self) -> dict[str, Dataset]:
        """Datasets on drivers, by id. They appear in traces but not in lists."""
        return {dataset_id(d): d for d in self.prov.graph.on_driver.by_name}

    @cached_property
    def manifests(self) -> dict[str, Manifest]:
        """Steps by id, oldest first."""
        return {m.step: m for m in self.prov.graph.manifests}

    def dataset(self, name: str) -> Dataset:
        """Return a dataset by its id; a hidden dataset raises the same error as one that does not exist."""
        dataset = self.datasets.get(name) or self._on_drivers.get(name)
        if dataset is None:
            raise HTTPException(
                404, f"Dataset {name} does not exist, or you have no access to it. GET /datasets lists the datasets."
            )
        return dataset

    def named(self, name: str) -> Dataset:
        """Return a dataset by its id or its visible name; a name is never used as a path."""
        if name in self.datasets or name in self._on_drivers:
            return self.dataset(name)
        same = self._by_name.get(name, ())
        if len(same) > 1:
            raise HTTPException(422, "Several datasets have this name. Use the id, which GET /datasets lists.")
        if not same:
            raise HTTPException(
                404, "This dataset does not exist, or you have no access to it. GET /datasets lists the datasets."
            )
        return same[0]

    @cached_property
    def _by_name(self) -> dict[str, list[Dataset]]:
        """Datasets by their visible names, in which masked values in folder names are replaced."""
        by_name: dict[str, list[Dataset]] = {}
        for dataset in (*self.datasets.values(), *self._on_drivers.values()):
            by_name.setdefault(self.visible.dataset(dataset), []).append(dataset)
        return by_name

    def step(self, name: str) -> Manifest:
        """Return a step by its id; a hidden step raises the same error as one that does not exist."""
        manifest = self.manifests.get(name)
        if manifest is None:
            raise HTTPException(
                404, "This step does not exist, or you have no access to it. GET /steps lists the steps."
            )
        return manifest

    def find(self, dataset: str, version: str | None) -> VersionReference:
        """Return a version of a dataset by their ids; the current version if `version` is None."""
        named = self.dataset(dataset)
        return self.prov.currents.of(named).at if version is None else self.prov.graph.find(named, version)

    def at(self, node: TraceNode) -> VersionReference:
        """Return the version of a trace's node."""
        known = self.prov.graph.references(Dataset.parse(node.dataset))
        same = [s for s in known if s.version.id == node.version and s.version.rows == node.total]
        return next((s for s in same if s is s.node.output), same[-1])

    def select(self, at: VersionReference, where: list[str] | None) -> Runs:
        """Return the rows that satisfy all conditions; for the current version, only rows of files that exist.

        Conditions on masked columns are rejected, since the selected rows would reveal their values.
        """
        current = self.prov.currents.of(at.version.dataset)
        here = at.key == current.at.key and current.lost.count < at.version.rows  # if all are lost, reading fails
        if not where:
            return Runs.span(at.version.rows) - (current.lost if here else Runs.span(0))
        missing = current.missing if here else frozenset[int]()
        key = (at.version.dataset, at.key, missing, tuple(where))
        rows = self._selected.get(key)
        if rows is None:
            conditions = [parse_condition(text) for text in where]
            for condition in conditions:
                self.visible.ask(at, condition.column)
            rows = Runs.of(select_there(at.version, at.files, conditions, missing))
            self._selected.put(key, rows, _ENTRY + len(rows.starts))
        return rows

    def asked(self, query: models.Selection) -> tuple[VersionReference, Int64]:
        """Return the version and the row ids that a request selects."""
        if query.rows is not None and query.where is not None:
            raise HTTPException(422, "Both `rows` and `where` are set. Select rows by one of them.")
        at = self.find(query.dataset, query.version)
        if query.rows is not None:
            return at, np.array(query.rows, dtype=np.int64)
        return at, self.select(at, query.where).rows()

    def trace(self, query: models.TraceQuery) -> Trace:
        """Return the trace that a request asks for, from a cache while its versions are current."""
        asked = query.model_dump_json(include=set(models.TraceQuery.model_fields))
        trace = self._traces.get(asked)
        if trace is None or not self._stands(trace, query):
            at, rows = self.asked(query)
            named = str(at.version.dataset)
            conditions = [parse_condition(text) for text in query.where] if query.where else None
            given = query.rows if query.version is None else rows
            trace = self.prov.trace(
                named,
                given,
                query.direction,
                where=conditions if given is None else None,
                version=query.version,
                to=None if query.to is None else str(self.dataset(query.to)),
                kinds=("data", "context") if query.context else ("data",),
                versions=query.versions,
            )
            weight = sum(len(r.starts) for n in trace.nodes for r in (n.data, n.context, n.possible))
            self._traces.put(asked, trace, _ENTRY + weight)
        return trace

    def _stands(self, trace: Trace, query: models.TraceQuery) -> bool:
        """Return whether the versions in a cached trace are still current."""
        if query.version is None and self.find(query.dataset, None).version.id != trace.nodes[0].version:
            return False
        return all(self.prov.currents.stands(current) for current in trace.currents)

    def example(self, query: models.ExampleQuery) -> int | None:
        """Return the example row of a backward trace: the requested one, or else the first selected row."""
        trace = self.trace(query)
        asked = trace.nodes[0].data
        if trace.direction == "forward" or not asked:
            return None
        if query.example is None:
            return int(asked.starts[0])
        if not asked & Runs.of([query.example]):
            raise HTTPException(
                422,
                f"Row {query.example} is not among the selected rows. Set `example` to one of them, or leave it out.",
            )
        return query.example

    def one(self, query: models.ExampleQuery) -> Mapping[int, Runs]:
        """Return the rows in one derivation of a backward trace's example row, by node."""
        trace, example = self.trace(query), self.example(query)
        if example is None:
            return {}
        within = {n.at.key for n in trace.nodes}
        rows = one_derivation(self.linker, trace.nodes[0].at, example, within)
        return {n.id: rows[n.at.key] & n.data for n in trace.nodes if n.at.key in rows}

    def hides(self, node: TraceNode, direction: Direction) -> bool:
        """Return whether a hidden step made (backward) or read (forward) some of a node's rows."""
        if self.dags is None:
            return False
        rows = node.met
        for at in self._whole.graph.references(Dataset.parse(node.dataset)):
            if at.version.id != node.version or at.version.rows != node.total:
                continue
            links = self._whole.links(at, direction)
            hidden = [
                Runs.united(k.boxes.out, k.boxes.n_out) for k in links.links if not self._sees(k.target.node.manifest)
            ]
            hidden += [r.rows for r in links.refused if not self._sees(r.target.node.manifest)]
            if any(rows & h for h in hidden):
                return True
        return False
