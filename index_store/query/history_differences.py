"""Comparison of two rows' histories: finds the first step at which they differ, in the order of data flow."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from provspark.index_store.query.nodes import WriteNode
from provspark.index_store.query.operation_list import operation_lines
from provspark.index_store.query.trace import Trace, TraceEdge, TraceNode
from provspark.index_store.values import read_rows
from provspark.model.errors import ValuesUnavailableError, VersionChangedError
from provspark.model.runs import Runs

__all__ = ["Difference", "Distinction", "first_difference_of"]

Distinction = Literal["none", "source", "path", "task", "operations", "rows", "constants", "values", "unknown"]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference between two histories.

    Parameters
    ----------
    difference : str
        ``source``: rows that no captured step wrote. ``path``: only one of the histories has the dataset. ``task``:
        another task wrote it. ``operations``: the step did other operations. ``rows``: it wrote another number of
        rows. ``constants``: it wrote other values from equal rows, by operations that differ only in a constant.
        ``values``: it wrote other values from equal rows, by the same operations. ``none``: the histories are equal.
        ``unknown``: no difference was found, but some values can't be read any longer.
    dataset : str or None
        The dataset whose rows are the first that differ.
    version, related_version : str or None
        Its version in the first history, and in the other.
    step, related_step : str or None
        The step that wrote it; for ``source``, the step that read it.
    exact : bool
        Whether all upstream values could be compared. If some can't be read any longer, only the number of rows and the
        operations are compared.
    why : str
        What differs, or what could not be compared.
    """

    difference: Distinction
    dataset: str | None
    version: str | None
    related_version: str | None
    step: str | None
    related_step: str | None
    exact: bool
    why: str


def first_difference_of(
    one: Trace, other: Trace, writes: Mapping[tuple[str, int], WriteNode], ignoring: Collection[str] = ()
) -> Difference:
    """Compare two backward traces of one row each, from the sources to these rows.

    Parameters
    ----------
    writes : mapping
        All writes by step and number.
    ignoring : collection of str
        Names of columns whose values are not compared.
    """
    here, there = _History(one, writes), _History(other, writes)
    unread = ""
    for place in sorted(
        here.places.keys() | there.places.keys(), key=lambda p: (-max(here.depth(p), there.depth(p)), p)
    ):
        a, b = here.places.get(place), there.places.get(place)
        if a is None or b is None:
            return _told("path", "only one of the histories has this dataset", here, there, a, b, unread)
        if any(rows in there.rows(b) for rows in here.rows(a)):
            continue
        different = _apart(here, there, a, b)
        if different:
            kind, why = different
            return _told(kind, why, here, there, a, b, unread)
        try:
            if _values(a, ignoring) != _values(b, ignoring):
                return _told(*_otherwise(here.writers(a), there.writers(b)), here, there, a, b, unread)
        except (VersionChangedError, ValuesUnavailableError) as error:
            unread = unread or f"not compared: {error}"
    return Difference("unknown" if unread else "none", None, None, None, None, None, not unread, unread)


class _History:
    """A trace by dataset; one that the row came through several times has a place for each, numbered from the row back.

    Versions of a dataset that share the files of the rows met, such as before and after an append, count as one.
    """

    def __init__(self, trace: Trace, writes: Mapping[tuple[str, int], WriteNode]) -> None:
        self._writes = writes
        self._into: dict[int, list[TraceEdge]] = {}
        self._from: dict[int, list[TraceEdge]] = {}
        for edge in trace.edges:
            self._into.setdefault(edge.source, []).append(edge)
            self._from.setdefault(edge.target, []).append(edge)
        self._depths = _depths(trace)
        self.places: dict[tuple[str, int], TraceNode] = {}
        self._nodes = {node.id: node for node in trace.nodes}
        for node in sorted(trace.nodes, key=lambda n: self._depths[n.id]):
            if any(self._is_shared(edge) for edge in self._into.get(node.id, ())):
                continue
            number = sum(dataset == node.dataset for dataset, _ in self.places)
            self.places[node.dataset, number] = node

    def depth(self, place: tuple[str, int]) -> int:
        """Return the maximum number of steps from a dataset to the row."""
        node = self.places.get(place)
        return -1 if node is None else self._depths[node.id]

    def writers(self, node: TraceNode) -> list[WriteNode]:
        """Return the writes that made a node's rows; none for a source."""
        edges = (e for one in self._shared(node) for e in self._from.get(one.id, ()))
        places = dict.fromkeys((e.step, e.write) for e in edges if e.step and not e.read)
        return [self._writes[place] for place in places if place in self._writes]

    def step(self, node: TraceNode | None) -> str | None:
        """Return the step that wrote a node's rows, or else read them."""
        if node is None:
            return None
        made = [edge for one in self._shared(node) for edge in self._from.get(one.id, ())]
        return next((edge.step for edge in (*made, *self._into.get(node.id, ())) if edge.step), None)

    def rows(self, node: TraceNode) -> list[tuple[str, Runs]]:
        """Return the rows met, in each version that has all of them."""
        return [(one.version, one.met) for one in self._shared(node) if one.met.count == node.met.count]

    def _shared(self, node: TraceNode) -> list[TraceNode]:
        """Return a node, and the nodes of versions of the same dataset from which it has files."""
        nodes = [node]
        for one in nodes:
            edges = (e for e in self._from.get(one.id, ()) if self._is_shared(e))
            nodes += [self._nodes[e.source] for e in edges if self._nodes[e.source] not in nodes]
        return nodes

    def _is_shared(self, edge: TraceEdge) -> bool:
        return not edge.step and self._nodes[edge.source].dataset == self._nodes[edge.target].dataset


def _depths(trace: Trace) -> Mapping[int, int]:
    depths = {trace.nodes[0].id: 0}
    waiting = [trace.nodes[0].id]
    # No step reads a version derived from its own output, so each path ends; the number of nodes bounds its length.
    while waiting:
        target = waiting.pop()
        for edge in trace.edges:
            if edge.target == target and depths.get(edge.source, -1) <= depths[target] < len(trace.nodes):
                depths[edge.source] = depths[target] + 1
                waiting.append(edge.source)
    return {node.id: depths.get(node.id, 0) for node in trace.nodes}


def _apart(here: _History, there: _History, a: TraceNode, b: TraceNode) -> tuple[Distinction, str] | None:
    """Return how two nodes of a dataset differ in the writes that made them, if they do."""
    wrote, other = here.writers(a), there.writers(b)
    if {_task(w) for w in wrote} != {_task(w) for w in other}:
        return ("task", "another task wrote it") if wrote and other else ("path", "only one history has the step")
    number = _unlike(_shapes(wrote), _shapes(other))
    if number is not None:
        return "operations", f"the first operation that differs is number {number}"
    if a.met.count != b.met.count:
        return "rows" if wrote else "source", f"{a.met.count:,} rows, and {b.met.count:,} in the other history"
    return None


def _task(node: WriteNode) -> tuple[str, str]:
    return node.manifest.key.dag_id, node.manifest.key.task_id


def _otherwise(wrote: Sequence[WriteNode], other: Sequence[WriteNode]) -> tuple[Distinction, str]:
    """Return the kind of difference, and a text, for equally many rows with other values."""
    if not wrote:
        return "source", "equally many rows with other values"
    number = _unlike(_texts(wrote), _texts(other))
    if number is None:
        return "values", "equally many rows with other values, by the same operations"
    return "constants", f"the first operation with another constant is number {number}"


def _unlike(mine: Sequence[str], theirs: Sequence[str]) -> int | None:
    """Return the index of the first text that differs, if any."""
    if mine == theirs:
        return None
    pairs = enumerate(zip(mine, theirs, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(mine), len(theirs)))


def _texts(writes: Iterable[WriteNode]) -> list[str]:
    texts = [[line.text for line in operation_lines(node, parts=True)] for node in writes]
    return [text for some in sorted(texts) for text in some]


def _shapes(writes: Iterable[WriteNode]) -> list[str]:
    """Return the texts of the operations without constants, as those of a daily run contain the day."""
    return [_CONSTANT.sub("?", text) for text in _texts(writes)]


_CONSTANT = re.compile(r"'(?:[^'\\]|\\.)*'|\b\d[\w.]*")


def _values(node: TraceNode, ignoring: Collection[str]) -> Counter[str]:
    table = read_rows(node.at.version, node.at.files, node.met.rows())
    names = sorted(n for n in table.column_names if n not in ignoring)
    return Counter(repr(tuple(line.values())) for line in table.select(names).to_pylist())


def _told(
    difference: Distinction,
    why: str,
    here: _History,
    there: _History,
    a: TraceNode | None,
    b: TraceNode | None,
    unread: str,
) -> Difference:
    node = a or b
    assert node is not None
    versions = a.version if a else None, b.version if b else None
    why = f"{why}; {unread}" if unread else why
    return Difference(difference, node.dataset, *versions, here.step(a), there.step(b), not unread, why)
