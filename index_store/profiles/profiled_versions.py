"""Profiles of versions, and what steps did to them: stored ones where there are, else made from the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from provspark.index_store.profiles.comparison import Impact
from provspark.index_store.profiles.computation import profile_of
from provspark.index_store.profiles.profile import Correlations, Profile
from provspark.index_store.query.current_versions import Currents
from provspark.index_store.query.graph import Graph
from provspark.index_store.query.nodes import VersionReference, WriteNode
from provspark.index_store.values.row_reader import find_column
from provspark.model.errors import ConditionError, UnknownDatasetError
from provspark.model.runs import Runs

__all__ = ["compare_step", "profile_of_version", "written"]


def profile_of_version(
    graph: Graph, at: VersionReference, rows: Runs | None = None, columns: Sequence[str] | None = None
) -> Profile:
    """See `Provenance.profile`; without `rows`, of all."""
    names = None if columns is None else [find_column(at.version, name).name for name in columns]
    if rows is None or rows.count == at.version.rows:
        stored = _stored(graph, at)
        if stored is not None:
            return stored if names is None else _cut(stored, names)
    return profile_of(at.version, at.files, names, rows)


def compare_step(
    currents: Currents,
    step: str,
    column: str | None,
    *,
    source: str | None,
    output: str | None,
    was: Mapping[str, str],
) -> Impact:
    """See `Provenance.impact`."""
    graph, after = currents.graph, written(currents, step, output)
    before = _read(graph, after.node, source)
    named = {find_column(after.version, a).name: find_column(before.version, b).name for a, b in was.items()}
    if column is None:
        return Impact(
            after.node.step,
            profile_of_version(graph, before),
            profile_of_version(graph, after),
            named,
        )
    new, old = _has(after, column), _has(before, column)
    if new:
        name = find_column(after.version, column).name
        old = [find_column(before.version, o).name for o in _has(before, named.get(name, name))]
        new, named = [name], dict(zip([name], old, strict=False))
    elif not old:
        find_column(after.version, column)
    return Impact(
        after.node.step,
        profile_of_version(graph, before, None, old),
        profile_of_version(graph, after, None, new),
        named,
    )


def _has(at: VersionReference, column: str) -> list[str]:
    return [column] if column.lower() in {f.name.lower() for f in at.version.fields} else []


def _stored(graph: Graph, at: VersionReference) -> Profile | None:
    """The profile that some step stored of a version."""
    for node in reversed(graph.nodes):
        known = (node.output, *node.inputs.values())
        if node.write.profiles and any(s.key == at.key for s in known):
            stored = node.store.profiles(node.step, node.write)
            profiles = [p for p in (stored.profiles if stored else ()) if p.version == at.version.id]
            if profiles:
                return profiles[0]
    return None


def _cut(whole: Profile, names: Sequence[str]) -> Profile:
    """Some columns of a profile."""
    kept = [n for n in whole.correlations.columns if n in names]
    pairs = [(a, b) for i, a in enumerate(kept) for b in kept[i + 1 :]]
    return replace(
        whole,
        columns=tuple(whole.column(n) for n in dict.fromkeys(names)),
        correlations=Correlations(tuple(kept), tuple(whole.correlations.of(a, b) for a, b in pairs)),
        left_out=(),
    )


def written(currents: Currents, step: str, output: str | None) -> VersionReference:
    """What a step wrote: by the step's id, or by the name of a dataset whose current version it wrote."""
    graph = currents.graph
    mine = [n.output for n in graph.nodes if n.step == step]
    if mine:
        return _one(graph, mine, output, f"step {step} wrote", "output")
    try:
        reference = currents.of(graph.named(step)).at
    except UnknownDatasetError:
        known = [*map(str, graph.datasets()), *(m.step for m in graph.manifests)]
        raise UnknownDatasetError(step, known, len(graph.broken)) from None
    if reference is not reference.node.output:
        raise ConditionError(f"no step of this store wrote {reference.version.dataset}; ask profile() about it")
    return reference


def _read(graph: Graph, node: WriteNode, source: str | None) -> VersionReference:
    if not node.inputs:
        raise ConditionError(f"step {node.step} read no data set to compare {node.write.output.dataset} with")
    return _one(graph, node.inputs.values(), source, f"step {node.step} read", "source")


def _one(
    graph: Graph, references: Iterable[VersionReference], name: str | None, what: str, parameter: str
) -> VersionReference:
    choices = {s.version.dataset: s for s in references}
    if name is not None:
        dataset = graph.named(name)
        if dataset not in choices:
            raise UnknownDatasetError(str(dataset), map(str, choices))
        return choices[dataset]
    if len(choices) > 1:
        raise ConditionError(f"{what} {' and '.join(map(str, choices))}; say which with {parameter}=")
    return next(iter(choices.values()))
