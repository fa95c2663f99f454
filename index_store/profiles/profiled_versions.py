"""Profiles of versions, and of what steps did to them: stored ones if they exist, else computed from the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from provspark.index_store.profiles.comparison import Impact
from provspark.index_store.profiles.computation import profile_of
from provspark.index_store.profiles.former_columns import former_columns, one_to_one, upstream
from provspark.index_store.profiles.profile import Correlations, Profile
from provspark.index_store.query.current_versions import Currents
from provspark.index_store.query.graph import Graph
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import VersionReference, WriteNode
from provspark.index_store.values.row_reader import find_column
from provspark.model.errors import ConditionError, UnknownDatasetError
from provspark.model.runs import Runs

__all__ = ["compare_step", "profile_of_version", "written"]


def profile_of_version(
    graph: Graph, at: VersionReference, rows: Runs | None = None, columns: Sequence[str] | None = None
) -> Profile:
    """Profile a version, or some of its rows and columns; a stored profile is used for all rows if there is one."""
    names = None if columns is None else [find_column(at.version, name).name for name in columns]
    if rows is None or rows.count == at.version.rows:
        stored = _stored(graph, at)
        if stored is not None:
            return stored if names is None else _cut(stored, names)
    return profile_of(at.version, at.files, names, rows)


def compare_step(
    graph: Graph,
    back: Linker,
    after: VersionReference,
    column: str | None,
    *,
    source: str | None,
    was: Mapping[str, str],
) -> Impact:
    """Compare the profiles of what a step wrote and of what it read.

    Parameters
    ----------
    back : Linker
        Finds the links back from `after`, the output of the step.
    """
    before = _before(graph, back, after, source)
    named = {find_column(after.version, a).name: find_column(before.version, b).name for a, b in was.items()}
    former = _former(back, after, before, column)
    if column is None:
        single = {new: old for new, old in one_to_one(former).items() if old not in named.values()}
        profiles = profile_of_version(graph, before), profile_of_version(graph, after)
        return Impact(after.node.step, *profiles, single | named)
    news, olds = _sides(after, before, column, former | named)
    return Impact(
        after.node.step,
        profile_of_version(graph, before, None, olds),
        profile_of_version(graph, after, None, news),
        dict(zip(news, olds, strict=False)),
    )


def _before(graph: Graph, back: Linker, after: VersionReference, source: str | None) -> VersionReference:
    """Return the version to compare with: an input of the step, or one that an input was made from."""
    node = after.node
    if source is not None and node.inputs:
        dataset = graph.named(source)
        if all(at.version.dataset != dataset for at in node.inputs.values()):
            return upstream(back, after, dataset)
    return _read(graph, node, source)


def _former(back: Linker, after: VersionReference, before: VersionReference, column: str | None) -> dict[str, str]:
    """Return the former names of columns that had another name.

    A column that a step read and wrote under one name is one column, whatever the step did to it.
    """
    if all(at.key != before.key for at in after.node.inputs.values()):
        return former_columns(back, after, before)
    names, olds = ({f.name.lower() for f in at.version.fields} for at in (after, before))
    came, went = names - olds, olds - names
    if not came or not went or (column is not None and column.lower() not in came | went):
        return {}
    former = former_columns(back, after, before)
    return {new: old for new, old in former.items() if new.lower() in came and old.lower() in went}


def _sides(
    after: VersionReference, before: VersionReference, column: str, former: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Return the names of a column after and before; a dropped one has the names of the columns made from it."""
    if _has(after, column):
        name = find_column(after.version, column).name
        return [name], [find_column(before.version, o).name for o in _has(before, former.get(name, name))]
    if not _has(before, column):
        find_column(after.version, column)
    old = find_column(before.version, column).name
    return [new for new, was in one_to_one(former).items() if was == old], [old]


def _has(at: VersionReference, column: str) -> list[str]:
    return [column] if column.lower() in {f.name.lower() for f in at.version.fields} else []


def _stored(graph: Graph, at: VersionReference) -> Profile | None:
    """Return a profile of the version that some step stored; None if there is none."""
    for node in reversed(graph.nodes):
        known = (node.output, *node.inputs.values())
        if node.write.profiles and any(s.key == at.key for s in known):
            stored = node.store.profiles(node.step, node.write)
            profiles = [p for p in (stored.profiles if stored else ()) if p.version == at.version.id]
            if profiles:
                return profiles[0]
    return None


def _cut(whole: Profile, names: Sequence[str]) -> Profile:
    """Return some columns of a profile."""
    kept = [n for n in whole.correlations.columns if n in names]
    pairs = [(a, b) for i, a in enumerate(kept) for b in kept[i + 1 :]]
    return replace(
        whole,
        columns=tuple(whole.column(n) for n in dict.fromkeys(names)),
        correlations=Correlations(tuple(kept), tuple(whole.correlations.of(a, b) for a, b in pairs)),
        left_out=(),
    )


def written(currents: Currents, step: str, output: str | None) -> VersionReference:
    """Return what a step wrote; `step` is its id, or a dataset whose current version it wrote."""
    graph = currents.graph
    mine = [n.output for n in graph.nodes if n.step == step]
    if mine:
        return _one(graph, mine, output, f"Step {step} wrote", "output")
    try:
        reference = currents.of(graph.named(step)).at
    except UnknownDatasetError:
        known = [*map(str, graph.datasets()), *(m.step for m in graph.manifests)]
        raise UnknownDatasetError(step, known, len(graph.broken)) from None
    if reference is not reference.node.output:
        raise ConditionError(f"No step of this store wrote {reference.version.dataset}. Use profile() for it.")
    return reference


def _read(graph: Graph, node: WriteNode, source: str | None) -> VersionReference:
    if not node.inputs:
        raise ConditionError(
            f"Step {node.step} read no dataset to compare {node.write.output.dataset} with. Use profile() for it."
        )
    return _one(graph, node.inputs.values(), source, f"Step {node.step} read", "source")


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
        raise ConditionError(f"{what} {' and '.join(map(str, choices))}. Choose one with {parameter}=.")
    return next(iter(choices.values()))
