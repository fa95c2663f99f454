"""Why no row of an output satisfies a condition: the input rows that satisfy it, and where they ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from provspark.index_store.query.asking import Which
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import VersionReference, WriteNode
from provspark.index_store.query.notebook import listed, table_html
from provspark.index_store.values.paths import find_path
from provspark.index_store.values.selection import Condition, condition_of, select_rows
from provspark.model.errors import ReplayError
from provspark.model.operations import Operation
from provspark.model.runs import Runs
from provspark.model.wording import counted
from provspark.replay.crossings import crossed
from provspark.replay.records import Replayed, ReplayEnding, ended_table, ending_dict
from provspark.replay.replayer import Replayer
from provspark.replay.replaying import Replaying
from provspark.replay.rules import replay_rule

__all__ = ["Looked", "Missed", "WhyNot", "look", "look_for"]


@dataclass(frozen=True, slots=True)
class Missed:
    """The rows of one input that satisfy the conditions on its columns, and where they ended."""

    step: str
    dataset: str
    """The input."""
    conditions: tuple[Condition, ...]
    """The conditions on columns of the input."""
    rows: Runs
    replayed: Replayed | None
    """None if no row satisfies them."""
    rest: int = 0
    """Number of rows that are replayed on later pages."""
    why: str = ""
    """Why the conditions could not be traced through this step."""

    @property
    def endings(self) -> tuple[ReplayEnding, ...]:
        """Endings of these rows."""
        return self.replayed.endings if self.replayed else ()


@dataclass(frozen=True, slots=True, repr=False)
class WhyNot:
    """Answer to why no row of a dataset satisfies a condition."""

    dataset: str
    conditions: tuple[Condition, ...]
    found: Runs
    """Rows that do satisfy it. If there are any, `missed` is empty."""
    missed: tuple[Missed, ...]
    untraced: tuple[Condition, ...]
    """Conditions on columns that were not copied from an input column. The search ignores them."""

    @property
    def endings(self) -> tuple[tuple[Missed, ReplayEnding], ...]:
        """Endings of the input rows that satisfy the condition."""
        return tuple((m, e) for m in self.missed for e in m.endings)

    def __repr__(self) -> str:
        rows = f"{counted(self.found.count, 'row')} satisfy the condition" if self.found else "no row"
        missed = sum(m.rows.count for m in self.missed)
        return f"<why not in {listed([self.dataset])}: {rows}, {counted(missed, 'input row')} searched>"

    def _repr_html_(self) -> str:
        said = [
            f"{m.step} read {m.dataset}, {counted(m.rows.count, 'row')}: {m.why or 'replayed'}" for m in self.missed
        ]
        left = [f"left out: {' '.join(map(str, condition))}" for condition in self.untraced]
        return table_html(self.ended(), [repr(self), *said, *left])

    def ended(self) -> pa.Table:
        """Return one line for each input row that ended; see `History.ended`."""
        return ended_table((m.step, e) for m, e in self.endings if e.whole)

    def as_dict(self) -> dict[str, Any]:
        """Return the answer in JSON form, except for row values, which stay Python objects."""
        return {
            "dataset": self.dataset,
            "conditions": [list(c) for c in self.conditions],
            "found": self.found.rows().tolist(),
            "untraced": [list(c) for c in self.untraced],
            "missed": [
                {
                    "step": m.step,
                    "dataset": m.dataset,
                    "conditions": [list(c) for c in m.conditions],
                    "rows": m.rows.rows()[:1000].tolist(),
                    "count": m.rows.count,
                    "rest": m.rest,
                    "results": list(m.replayed.results) if m.replayed else [],
                    "verified": m.replayed.verified if m.replayed else None,
                    "why": m.replayed.why if m.replayed else m.why or "no row of it satisfies them",
                    "endings": [ending_dict(e) for e in m.endings],
                }
                for m in self.missed
            ],
        }


@dataclass(frozen=True, slots=True)
class Looked:
    """Input rows that satisfy conditions on an output, before they are replayed."""

    answer: WhyNot
    read: tuple[tuple[WriteNode, str], ...]
    """For each of `answer.missed`: the write, and the id of the version that it read."""

    def page(self, replayer: Replayer, first: int = 0) -> WhyNot:
        """Replay the rows of each input from number `first` on, as many as one replay follows."""
        missed = [_replayed(replayer, m, *read, first) for m, read in zip(self.answer.missed, self.read, strict=True)]
        return replace(self.answer, missed=tuple(missed))


def look_for(prov: Replaying, dataset: str, where: Sequence[Condition | tuple[str, str, Any]], which: Which) -> Looked:
    """Find the input rows that satisfy conditions on an output, going back step by step; see `look`."""
    asked = prov.asked("why_not", dataset, (), which)
    conditions = [condition_of(c) for c in where]
    conditions = [c._replace(value=tuple(c.value)) if isinstance(c.value, list) else c for c in conditions]
    return look(asked.view.back, asked.at, conditions)


def look(linker: Linker, at: VersionReference, conditions: Sequence[Condition]) -> Looked:
    """Find the input rows that satisfy conditions on an output, going back step by step.

    Raises
    ------
    ConditionError
        A condition does not fit the output.
    ReplayError
        No captured step made the output.
    """
    rows = Runs.of(select_rows(at.version, at.files, conditions))
    if rows:
        return Looked(WhyNot(str(at.version.dataset), tuple(conditions), rows, (), ()), ())
    everything = Runs.span(at.version.rows)
    makers = {node for _, node, _ in crossed(linker.links(at, "backward"), everything)} or _makers(linker, at)
    if not makers:
        raise ReplayError(
            f"no captured step made {at.version.dataset}, so it is not known why rows are missing; choose a version or "
            f"dataset that a captured step wrote"
        )
    met: list[tuple[Missed, tuple[WriteNode, str]]] = []
    traced: set[Condition] = set()
    for node in makers:
        traced |= _look(linker, node, conditions, met)
    untraced = tuple(c for c in conditions if c not in traced)
    missed = tuple(m for m, _ in met)
    return Looked(
        WhyNot(str(at.version.dataset), tuple(conditions), rows, missed, untraced), tuple(read for _, read in met)
    )


def _replayed(replayer: Replayer, missed: Missed, node: WriteNode, version: str, first: int) -> Missed:
    rows = missed.rows
    if not rows:
        return missed
    page = Runs.of(rows.at(np.arange(min(first, rows.count), min(first + replayer.most, rows.count))))
    replayed = replayer.inputs(node, {version: page}) if page else None
    return replace(missed, replayed=replayed, rest=max(0, rows.count - first - replayer.most))


def _makers(linker: Linker, at: VersionReference) -> set[WriteNode]:
    """Return the writes of a version without rows, to which no links of rows lead."""
    return {s.node for s in linker.graph.references(at.version.dataset) if s is s.node.output and s.key == at.key}


def _look(
    linker: Linker, node: WriteNode, conditions: Sequence[Condition], met: list[tuple[Missed, tuple[WriteNode, str]]]
) -> set[Condition]:
    """Trace conditions through one write, and return those that are on a column of an input."""
    operations = node.operations
    untracked = node.write.coverage == "untracked"
    if untracked or not operations:
        why = f"not tracked: {node.write.reason}" if untracked else "it kept no operations"
        missed = Missed(node.step, str(node.write.output.dataset), tuple(conditions), Runs.span(0), None, why=why)
        met.append((missed, (node, "")))
        return set()
    by_source: dict[int, list[tuple[Condition, Condition]]] = {}
    for condition in conditions:
        path = find_path(node.write.output, condition.column)
        for source, column in origins(operations, path.column.name):
            renamed = condition._replace(column=".".join([column, *path.steps]))
            by_source.setdefault(source, []).append((condition, renamed))
    for source, pairs in by_source.items():
        versions = {node.write.axes[a].version for a in operations[source].axes}
        mine = tuple(dict.fromkeys(c for _, c in pairs))
        for version in versions:
            read = node.inputs[version]
            rows = Runs.of(select_rows(read.version, read.files, mine))
            met.append((Missed(node.step, str(read.version.dataset), mine, rows, None), (node, version)))
            if rows:
                continue
            for before in {n for _, n, _ in crossed(linker.links(read, "backward"), Runs.span(read.version.rows))}:
                _look(linker, before, mine, met)
    return {c for pairs in by_source.values() for c, _ in pairs}


def origins(operations: Sequence[Operation], name: str) -> set[tuple[int, str]]:
    """Return the source columns whose values the output column of that name contains unchanged."""
    last = operations[-1]
    at = [(last.index, c.id) for c in last.columns if c.name == name]
    columns: set[tuple[int, str]] = set()
    seen: set[tuple[int, int]] = set()
    while at:
        place = at.pop()
        if place in seen:
            continue
        seen.add(place)
        operation = operations[place[0]]
        if not operation.children:
            columns |= {(operation.index, c.name) for c in operation.columns if c.id == place[1]}
            continue
        ids = {place[1]} | {x.source for x in operation.links if x.out == place[1] and x.kind == "identity"}
        ids |= _equal(operation, ids)
        at += [(c, i) for c in operation.children for i in ids if i in _ids(operations[c].columns)]
    return columns


def _ids(columns: Iterable[Any]) -> set[int]:
    return {c.id for c in columns}


def _equal(operation: Operation, ids: set[int]) -> set[int]:
    """Return the columns that the conditions of an operation make equal to one of these."""
    if not replay_rule(operation.node).equates(operation):
        return set()
    out: set[int] = set()
    for e in operation.expressions:
        if e.role != "condition":
            continue
        for term, one, other in zip(e.terms, e.terms[1:], e.terms[2:], strict=False):
            if term.node == "EqualTo" and one.column >= 0 and other.column >= 0 and _conjunct(e.terms, term):
                pair = {one.column, other.column}
                out |= pair if pair & ids else set()
    return out


def _conjunct(terms: Sequence[Any], wanted: Any) -> bool:
    """Whether a term is only below ANDs."""
    stack = [True]
    for term in terms:
        free = stack.pop()
        if term is wanted:
            return free
        stack += [free and term.node == "And"] * term.children
    return False
