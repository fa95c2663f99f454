"""Conversion of the engine's objects to the API's models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from provspark.index_store.query.current_versions import VersionUsed
from provspark.index_store.query.endings import Ending
from provspark.index_store.query.gone_rows import Gone
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.sideways import SidewaysDatasets
from provspark.index_store.query.trace import Trace, TraceEdge
from provspark.model.datasets import Dataset, Version
from provspark.model.release import __version__
from provspark.model.runs import Runs
from provspark.model.steps import Manifest
from provspark.model.stops import Stop
from provspark.model.written_rows import written_rows
from provspark.web import models
from provspark.web.scope import UserScope, dataset_id
from provspark.web.visible import Visible

__all__ = [
    "about",
    "columns",
    "dataset",
    "dataset_detail",
    "dataset_summary",
    "gone",
    "located",
    "named",
    "related",
    "step",
    "step_detail",
    "stops",
    "trace",
    "traced",
    "version_used",
    "with_written",
]

_WORST = ("untracked", "coarse", "exact")


def about(scope: UserScope, airflow: bool) -> models.AboutJson:
    """Describe the installation."""
    return models.AboutJson(
        values=scope.visible.values,
        airflow=airflow,
        steps=len(scope.manifests),
        version=__version__,
        broken=scope.broken,
    )


def dataset(data: Dataset, visible: Visible) -> models.DatasetJson:
    """Return a dataset's names."""
    return models.DatasetJson(**_names(data, visible))


def named(name: str, visible: Visible) -> models.DatasetJson:
    """Return the names of the dataset that an answer calls `name`."""
    return dataset(Dataset.parse(name), visible)


def columns(at: VersionReference, visible: Visible) -> list[models.ColumnJson]:
    """List the columns of a version."""
    told = enumerate(zip(visible.names(at), visible.masked(at), strict=True), 1)
    return [models.ColumnJson(name=name, type=visible.type(at, i), masked=hidden) for i, (name, hidden) in told]


def dataset_summary(scope: UserScope, data: Dataset) -> models.DatasetSummaryJson:
    """Summarize a dataset for the list of datasets."""
    graph = scope.prov.graph
    known = graph.references(data)
    best = scope.prov.currents.of(data, ask=False).at
    derived = best is best.node.output
    return models.DatasetSummaryJson(
        **_names(data, scope.visible),
        version=best.version.id,
        rows=best.version.rows,
        versions=len({s.version.id for s in known}),
        columns=len(best.version.fields),
        role="derived" if data in graph.written.by_name else "source",
        coverage=best.node.write.coverage if derived else None,
        step=best.node.step if derived else None,
    )


def dataset_detail(scope: UserScope, at: VersionReference) -> models.DatasetDetailJson:
    """Describe a dataset, its versions, and the columns of one version."""
    data = at.version.dataset
    current = scope.prov.currents.of(data)
    by_version: dict[str, VersionReference] = {current.at.version.id: current.at}
    for s in reversed(scope.prov.graph.references(data)):
        known = by_version.get(s.version.id)
        if known is None or (_written(s) and not _written(known)):
            by_version[s.version.id] = s
    readers = {s.node.step: s.node.manifest for s in scope.prov.graph.read.by_name.get(data, ())}
    return models.DatasetDetailJson(
        **_names(data, scope.visible),
        version=at.version.id,
        rows=at.version.rows,
        current=version_used(current.used, scope.visible),
        columns=columns(at, scope.visible),
        versions=[_version(s) for s in by_version.values()],
        read_by=[step(m) for m in readers.values()],
    )


def step(m: Manifest) -> models.StepJson:
    """Summarize a step for lists of steps."""
    return models.StepJson(**_step(m))


def step_detail(m: Manifest, visible: Visible) -> models.StepDetailJson:
    """Describe a step with its writes."""
    return models.StepDetailJson(
        **_step(m),
        writes=[
            models.WriteJson(
                index=w.index,
                output=_usage(w.output, visible),
                inputs=[_usage(v, visible) for v in w.inputs],
                coverage=w.coverage,
                reason=visible.text(str(w.reason)) if w.reason else None,
                site=visible.path(w.site),
                edges=sum(t.edges for t in w.tensors),
            )
            for w in m.writes
        ],
        untracked=[visible.text(str(u)) for u in m.untracked],
        engine=dict(m.engine),
        error=visible.failure(m.error) or None,
        stored_bytes=sum(f.size for f in m.files),
    )


def with_written(detail: models.StepDetailJson, m: Manifest, visible: Visible) -> models.StepDetailJson:
    """Add to each write of a step the number of rows that it wrote, from its lists of files."""
    writes = [w.model_copy(update={"written": _written_rows(m, w.index, visible)}) for w in detail.writes]
    return detail.model_copy(update={"writes": writes})


def _written_rows(m: Manifest, index: int, visible: Visible) -> int | None:
    nodes = (n for n in visible.nodes(m.step, index) if n.write in m.writes)
    return next((written_rows(n.store, n.step, n.write) for n in nodes), None)


def trace(scope: UserScope, query: models.ExampleQuery) -> models.TraceJson:
    """Return a trace with one derivation of the requested example row."""
    return traced(scope, scope.trace(query), scope.example(query), scope.one(query))


def traced(
    scope: UserScope, answer: Trace, example: int | None = None, one: Mapping[int, Runs] | None = None
) -> models.TraceJson:
    """Describe a trace: row counts of its nodes, and the nodes where it ends because a step is hidden."""
    one = one or {}
    nodes = []
    for n in answer.nodes:
        sure = n.data | n.context
        met = n.met
        hidden = scope.hides(n, answer.direction)
        nodes.append(
            models.NodeJson(
                id=n.id,
                dataset=dataset(Dataset.parse(n.dataset), scope.visible),
                version=n.version,
                role=n.role,
                total=n.total,
                rows=met.count,
                context_only=sure.count - n.data.count,
                possible_only=met.count - sure.count,
                columns=len(n.at.version.fields),
                one=one[n.id].rows().tolist() if n.id in one else [],
                gone=n.gone,
                hidden=("before" if answer.direction == "backward" else "after") if hidden else None,
            )
        )
    alike: dict[tuple[object, ...], list[TraceEdge]] = {}
    for e in answer.edges:
        alike.setdefault((e.source, e.target, e.step, e.write, e.read, e.kind), []).append(e)
    told = (answer.edges, answer.stops, answer.endings, answer.gone)
    steps = {x.step for some in told for x in some}
    return models.TraceJson(
        direction=answer.direction,
        example=example,
        nodes=nodes,
        edges=[_edge(same, [answer.through[e] for e in same]) for same in alike.values()],
        stops=stops(answer.stops, scope.visible),
        endings=[_ending(e, rows, scope.visible) for e, rows in answer.ended.items()],
        steps=[step(m) for name, m in scope.manifests.items() if name in steps],
        gone=gone(answer.gone, scope.visible),
        versions=[version_used(u, scope.visible) for u in answer.used],
        broken=scope.broken,
    )


def located(scope: UserScope, query: models.LocateQuery) -> models.LocatedJson:
    """Return the row ids that rows have in another version."""
    at = scope.find(query.dataset, query.version)
    rows = scope.prov.select(str(at.version.dataset), query.rows, version=at.version.id)
    answer = scope.prov.locate(rows, into=query.into)
    there = dict(zip(*(answer.table()[name].to_pylist() for name in ("row", "located")), strict=True))
    return models.LocatedJson(
        dataset=dataset(at.version.dataset, scope.visible),
        version=answer.version,
        rows=[there[row] for row in query.rows],
        gone=len(answer.gone),
    )


def version_used(used: VersionUsed, visible: Visible) -> models.VersionUsedJson:
    """Describe the version that an answer uses, and how it was chosen."""
    return models.VersionUsedJson(
        dataset=dataset(Dataset.parse(used.dataset), visible),
        version=used.version,
        rule=used.rule,
        why=visible.text(used.why),
        missing=used.missing,
        unknown=used.unknown,
        age=round(used.age, 1),
    )


def _edge(same: list[TraceEdge], rows: list[Runs]) -> models.EdgeJson:
    """Combine the edges of all readings of a version by a write into one."""
    e = same[0]
    return models.EdgeJson(
        source=e.source,
        target=e.target,
        step=e.step or None,
        write=e.write if e.step else None,
        kind=e.kind,
        occurrences=sorted(x.occurrence for x in same if x.step),
        coverage=e.coverage,
        rows=reduce(or_, rows).count,
        read=e.read,
    )


def _ending(e: Ending, rows: Runs, visible: Visible) -> models.EndingJson:
    first = rows.at(np.arange(min(rows.count, models.MAX_REPLAYED)))
    return models.EndingJson(
        step=e.step,
        write=e.write,
        dataset=dataset(Dataset.parse(e.dataset), visible),
        node=e.node,
        read=e.read,
        kept=e.kept,
        context=e.context,
        coverage=e.coverage,
        ended=first.tolist(),
    )


def stops(every: Iterable[Stop], visible: Visible) -> list[models.StopJson]:
    """Describe the stops of an answer."""
    return [
        models.StopJson(
            what=s.what,
            step=s.step,
            dataset=dataset(Dataset.parse(s.dataset), visible),
            why=visible.text(s.why),
        )
        for s in every
        if s.what != "unreadable"  # already in `broken`
    ]


def gone(every: Iterable[Gone], visible: Visible) -> list[models.GoneJson]:
    """Describe the rows that are in no current version."""
    return [models.GoneJson(dataset=named(g.dataset, visible), step=g.step or None, rows=g.rows) for g in every]


def _names(data: Dataset, visible: Visible) -> dict[str, Any]:
    uri = visible.dataset(data)
    return {"id": dataset_id(data), "name": uri, "label": uri.rstrip("/").rsplit("/", 1)[-1] or uri}


def related(datasets: SidewaysDatasets, visible: Visible) -> models.RelatedJson:
    """List the datasets that `co_contributory`, `co_dependency` and `composition` accept."""
    together, sharing = (
        [
            models.ChoiceJson(dataset=dataset(d, visible), via=[dataset(v, visible) for v in via])
            for d, via in choices.items()
        ]
        for choices in (datasets.together, datasets.siblings)
    )
    return models.RelatedJson(
        co_contributory=together,
        co_dependency=sharing,
        composition=[dataset(d, visible) for d in datasets.sources],
    )


def _written(s: VersionReference) -> bool:
    return s is s.node.output


def _version(s: VersionReference) -> models.VersionSummaryJson:
    return models.VersionSummaryJson(
        version=s.version.id,
        rows=s.version.rows,
        files=s.version.n_files,
        format=s.version.format,
        written=_written(s),
        coverage=s.node.write.coverage if _written(s) else None,
        step=step(s.node.manifest),
    )


def _usage(v: Version, visible: Visible) -> models.UsageJson:
    return models.UsageJson(**_names(v.dataset, visible), version=v.id, rows=v.rows)


def _step(m: Manifest) -> dict[str, Any]:
    coverages = {w.coverage for w in m.writes} | ({"untracked"} if m.untracked else set())
    k = m.key
    return {
        "step": m.step,
        "dag_id": k.dag_id,
        "run_id": k.run_id,
        "task_id": k.task_id,
        "map_index": k.map_index,
        "try_number": k.try_number,
        "status": m.status,
        "started": m.started,
        "ended": m.ended,
        "coverage": next((c for c in _WORST if c in coverages), None),
    }
