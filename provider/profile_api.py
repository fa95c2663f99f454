"""Profiles of data sets, and what steps did to them: stored ones where there are, else made from the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from provspark.index_store.profiles.comparison import Impact
from provspark.index_store.profiles.computation import profile_of
from provspark.index_store.profiles.profile import Correlations, Profile
from provspark.index_store.query.current_versions import Currents
from provspark.index_store.query.graph import Graph
from provspark.index_store.query.nodes import VersionReference, WriteNode
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.values.row_reader import find_column
from provspark.model.datasets import Dataset
from provspark.model.errors import ConditionError, UnknownDatasetError
from provspark.model.runs import Runs
from provspark.question_parameters import Rows, Which

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from provspark.questions import Questions

__all__ = ["ProfileApi", "profile_of_version", "written"]


class ProfileApi:
    """The questions of `Provenance` about how values are distributed."""

    if TYPE_CHECKING:
        ask: Questions

        @property
        def graph(self) -> Graph: ...

        @property
        def currents(self) -> Currents: ...

    def profile(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        columns: Sequence[str] | None = None,
        **which: Unpack[Which],
    ) -> Profile:
        """Tell how the values of a data set, or of some rows of it, are distributed.

        For each column count, nulls, distinct, mean, deviation, quantiles, histogram and top values; correlations of
        each two numeric ones. The profile that a step stored (``prov_profile``) is taken where there is one of all
        rows; else the files are read.

        Parameters are those of `backward`; `columns` picks some.

        Raises
        ------
        UnknownColumnError, VersionChangedError
        ValuesUnavailableError
            The values can't be read by position, or are too many.
        """
        asked = self.ask.asked("profile", dataset, rows, which)
        # Of a version of which no file is left, what a step stored is all that can be told.
        chosen = asked.labels if asked.labels or asked.selects != "all" else None
        return profile_of_version(self.graph, asked.at, chosen, columns)

    def impact(
        self,
        step: str,
        column: str | None = None,
        *,
        source: str | None = None,
        output: str | None = None,
        was: Mapping[str, str] | None = None,
    ) -> Impact:
        """Tell what a step did to the distribution of a column, or of all columns.

        Parameters
        ----------
        step : str
            A step's id, or the data set that it wrote.
        column : str, optional
            Of the output, or one that went.
        source, output : str, optional
            Which data set that it read, and which that it wrote, where there are several.
        was : mapping, optional
            Names before of columns that had another one: ``{"age": "0"}``.

        Returns
        -------
        Impact
            ``before`` and ``after``; ``table()``, measure by measure; ``shares()``, value by value.

        Notes
        -----
        PQ12 and PQ13 of Chapman et al. Errors as for `profile`.
        """
        return _impact(self.currents, step, column, source=source, output=output, was=was or {})


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


def _impact(
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
    before = _read(after.node, source)
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
        return _one(mine, output, f"step {step} wrote", "output")
    try:
        reference = currents.of(Dataset.parse(step)).at
    except UnknownDatasetError:
        known = [*map(str, graph.datasets()), *(m.step for m in graph.manifests)]
        raise UnknownDatasetError(step, known, len(graph.broken)) from None
    if reference is not reference.node.output:
        raise ConditionError(f"no step of this store wrote {reference.version.dataset}; ask profile() about it")
    return reference


def _read(node: WriteNode, source: str | None) -> VersionReference:
    if not node.inputs:
        raise ConditionError(f"step {node.step} read no data set to compare {node.write.output.dataset} with")
    return _one(node.inputs.values(), source, f"step {node.step} read", "source")


def _one(references: Iterable[VersionReference], name: str | None, what: str, parameter: str) -> VersionReference:
    choices = {s.version.dataset: s for s in references}
    if name is not None:
        dataset = Dataset.parse(name)
        if dataset not in choices:
            raise UnknownDatasetError(str(dataset), map(str, choices))
        return choices[dataset]
    if len(choices) > 1:
        raise ConditionError(f"{what} {' and '.join(map(str, choices))}; say which with {parameter}=")
    return next(iter(choices.values()))
