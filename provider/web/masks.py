"""Which columns are masked: by their names, and by what stands behind their values, across all steps.

A column is derived from a masked one where a masked value goes into its values (OpenLineage's IDENTITY, TRANSFORMATION
and AGGREGATION) or decides one (CONDITIONAL, WINDOW, and the key by which a join brings an equal one). What decides
only which rows there are (FILTER, GROUP_BY, SORT, a join's key) derives nothing.

Where the sources of a column aren't known, it counts as derived from all columns that its row was made from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from provspark.errors import CorruptIndexError
from provspark.index_store.model import Dataset, Field, Version
from provspark.index_store.operations import Column, Dependence, Operation, Term
from provspark.index_store.query.bits import ROWS
from provspark.index_store.query.column_maps import carried, names_of, output_places, source_places
from provspark.index_store.query.graph import Node, Sighting
from provspark.index_store.query.links import Linker
from provspark.index_store.watch import check, tell
from provspark.web.policy import Policy

__all__ = ["Masks"]

Positions = frozenset[int]
"""Columns of a version; 1 is the first, as in `provspark.index_store.query.column_maps`. `ROWS` stands for some column
of a version whose columns are not known."""

_VALUES: frozenset[Dependence] = frozenset(
    ("identity", "transformation", "aggregation", "conditional", "window", "join")
)
_OF_FILES = frozenset(("InputFileName", "FileSourceMetadataAttribute"))
_NONE: Positions = frozenset()
_Written = dict[Node, Positions | None]
"""The masked columns of the rows that writes wrote; None for all where their names are not known."""


class Masks:
    """The masked columns of all versions; worked out when they are asked for, and kept. Threads may share one.

    Parameters
    ----------
    policy : Policy
    linker : Linker
        Over all steps, whoever asks: what stands behind a column may be hidden from them.
    """

    def __init__(self, policy: Policy, linker: Linker) -> None:
        self._policy, self._linker = policy, linker
        self._written: _Written = {}
        self._within: dict[Node, frozenset[int]] = {}
        self.names: set[str] = set()
        """Names of columns that are masked values, as a pivot makes them; of the writes that were looked at."""

    def columns(self, at: Sighting) -> Positions:
        """The masked columns of a version."""
        if not self._policy.masks:
            return _NONE
        return self._version(at, self._settled(self._behind(at)))

    def within(self, node: Node) -> frozenset[int]:
        """The ids of the masked columns between the operations of a write."""
        if not self._policy.masks:
            return _NONE
        if node not in self._within:
            self._within[node] = self._hidden(node, self._before(node))
        return self._within[node]

    def handed(self, node: Node) -> bool:
        """Whether the script's driver had read masked columns, so that what it wrote down may be of their values."""
        return bool(self._policy.masks) and self._handed(node, self._before(node))

    def _before(self, node: Node) -> _Written:
        return self._settled(m for at in node.inputs.values() for m in self._behind(at))

    def _settled(self, nodes: Iterable[Node]) -> _Written:
        """Work out what these writes wrote, and those behind them."""
        order, circular = self._order(nodes)
        # In a circle a result may grow: nobody else sees it before it is whole.
        written = dict(self._written) if circular else self._written
        changed = True
        while changed:
            changed = False
            for number, node in enumerate(order):
                tell("columns behind columns", number, len(order))
                found = self._output(node, written)
                changed |= circular and found != written.get(node, _NONE)
                written[node] = found
        self._written.update(written if circular else {})
        return self._written

    def _order(self, nodes: Iterable[Node]) -> tuple[list[Node], bool]:
        """These writes and all behind them that are not known yet, those behind first; whether some are in a circle."""
        order: list[Node] = []
        begun: set[Node] = set()
        ended: set[Node] = set()
        circular = False
        waiting: list[tuple[Node, Iterator[Node]]] = []

        def begin(node: Node) -> None:
            check()
            begun.add(node)
            waiting.append((node, iter({m: None for at in node.inputs.values() for m in self._behind(at)})))

        for first in nodes:
            if first in begun or first in self._written:
                continue
            begin(first)
            while waiting:
                node, behind = waiting[-1]
                for other in behind:
                    if other in begun:
                        circular |= other not in ended
                    elif other not in self._written:
                        begin(other)
                        break
                else:
                    waiting.pop()
                    ended.add(node)
                    order.append(node)
        return order, circular

    def _behind(self, at: Sighting) -> dict[Node, bool]:
        """The writes that made rows of a version; where no known write made some, also those that made others of the
        same data set, marked False."""
        others = {s.node: False for s in self._linker.graph.written.by_name.get(at.version.dataset, ())}
        try:
            links = self._linker.links(at, "backward")
        except CorruptIndexError:  # which of them is not known, then
            return {s.node: True for s in self._linker.graph.written.related(at.version.dataset)}
        made = {link.target.node: True for link in links.links} | {r.target.node: True for r in links.refused}
        return {**others, **made} if links.loose else made

    @cached_property
    def _read(self) -> dict[tuple[Dataset, str], list[Sighting]]:
        """What was read, by version: a reader may name the columns of a CSV file otherwise than its writer did."""
        found: dict[tuple[Dataset, str], list[Sighting]] = {}
        for dataset, sightings in self._linker.graph.read.by_name.items():
            for s in sightings:
                found.setdefault((dataset, s.version.id), []).append(s)
        return found

    @cached_property
    def _lost(self) -> set[tuple[str, int, int]]:
        """Name, size and time of the files that steps wrote whose manifest can't be read."""
        graph = self._linker.graph
        steps = {b.step for b in graph.broken if b.step}
        return {file for store in graph.stores for step in steps for file in store.written_files(step)}

    def _is_lost(self, at: Sighting) -> bool:
        """Whether a step whose manifest can't be read wrote a file of a version."""
        return bool(self._lost) and any(
            (path.rsplit("/", 1)[-1], size, time) in self._lost for (_, path, size, time), _ in at.places()
        )

    def _version(self, at: Sighting, written: _Written) -> Positions:
        """The masked columns of a version; the writes behind it are known."""
        named = self._named(at)
        found = set(named)
        for s in self._read.get((at.version.dataset, at.version.id), ()):
            if s.version.fields != at.version.fields:
                found |= {mine for mine, theirs in _pairs(at, s) if theirs in self._named(s)}
        every = set(range(1, 1 + len(names_of(at)))) or {ROWS}
        if self._is_lost(at) or (_is_local(at) and self._handed(at.node, written)):
            found |= every
        for node, made in self._behind(at).items():
            masked = written.get(node, _NONE)
            if (masked and every == {ROWS}) or (masked is None and made):
                found |= every
            elif masked:
                found |= {mine for mine, theirs in _pairs(at, node.output) if theirs in masked}
        return frozenset(found - self._opened(at, found - named))

    def _named(self, at: Sighting) -> Positions:
        """Columns that are masked by their own names."""
        fields = at.version.fields or tuple(Field(name, "") for name in names_of(at))
        return frozenset(i for i, field in enumerate(fields, 1) if self._policy.masked_by_name(field))

    def _opened(self, at: Sighting, derived: Iterable[int]) -> Positions:
        names, dataset = names_of(at), at.version.dataset.uri
        return frozenset(i for i in derived if i and self._policy.opens(dataset, names[i - 1]))

    def _output(self, node: Node, written: _Written) -> Positions | None:
        """The masked columns of what a write wrote. What it read is known."""
        at, named = node.output, self._named(node.output)
        derived = self._derived(node, written)
        if derived is None:
            derived = set(range(1, 1 + len(names_of(at))))
            if not derived:
                return None
        return frozenset(named | (derived - self._opened(at, derived - named)))

    def _derived(self, node: Node, written: _Written) -> set[int] | None:
        """Columns of a write's output that were made from masked ones; None for all."""
        if node.write.coverage == "untracked":
            return None
        masked = {version for version, at in node.inputs.items() if self._version(at, written)}
        operations = _operations(node)
        if masked and not operations:
            return None
        if any(node.write.axes[i].version in masked for i in _untold(node) if not _handed_over(node, i)):
            return None
        hidden = self._hidden(node, written)
        if not hidden:
            return set()
        places = output_places(node)
        made = {place for c, place in zip(operations[-1].columns, places, strict=True) if c.id in hidden}
        unknown = set(range(1, 1 + len(names_of(node.output)))) - set(places)
        return (made | unknown) - {-1}

    def _handed(self, node: Node, written: _Written) -> bool:
        read = {node.write.axes[i].version for i in _untold(node)}
        return any(self._version(node.inputs[v], written) for v in read if not _is_local(node.inputs[v]))

    def _hidden(self, node: Node, written: _Written) -> frozenset[int]:
        """The ids of columns between the operations that are masked; what the write read is known."""
        operations = _operations(node)
        inputs = {version: self._version(at, written) for version, at in node.inputs.items()}
        handed = self._handed(node, written)
        files = any(_in_names(at.version, inputs[version]) for version, at in node.inputs.items())
        found: set[int] = set()
        for op in operations:
            found |= {c.id for c in op.columns if self._policy.masked_by_name(Field(c.name, c.type))}
            for at, places in source_places(node, op) if op.axes else ():
                masked = inputs[at.version.id]
                made = handed and _is_local(at)
                found |= {
                    c.id
                    for c, place in zip(op.columns, places, strict=True)
                    if place in masked or made or (place < 0 and _of_row(c, at.version, masked))
                }
            for e in op.expressions if handed or files else ():
                if e.column >= 0 and _takes_more(op, [t.node for t in e.terms], handed, files):
                    found.add(e.column)
        links = [k for op in operations for k in op.links if k.out >= 0 and k.kind in _VALUES]
        known = -1
        while known != len(found):  # a subquery stands before the columns that it takes from around it
            known = len(found)
            found |= {k.out for k in links if k.source in found}
        if found and self._policy.opened:
            at, named = node.output, self._named(node.output)
            ends = [(c.id, p) for c, p in zip(operations[-1].columns, output_places(node), strict=True) if p > 0]
            opened = self._opened(at, {place for _, place in ends} - named)
            found -= {column for column, place in ends if place in opened}
        self.names.update(_named_after_values(operations, found))
        return frozenset(found)


def _operations(node: Node) -> tuple[Operation, ...]:
    try:
        return node.operations
    except CorruptIndexError:  # nothing is known, then; who asks for them is told why
        return ()


def _is_local(at: Sighting) -> bool:
    """Whether the script itself made the rows."""
    return at.version.format == "memory"


def _untold(node: Node) -> list[int]:
    """The readings of a write that are in none of its operations."""
    told = {axis for op in _operations(node) for axis in op.axes}
    return [i for i, a in enumerate(node.write.axes) if a.role == "input" and i not in told]


def _handed_over(node: Node, axis: int) -> bool:
    """Whether a reading is what the script's driver read: see `provspark.tracker.driver_reads`."""
    return all(t.kind == "context" and t.out == 0 for t in node.write.tensors if t.src == axis)


def _named_after_values(operations: Iterable[Operation], masked: set[int]) -> Iterator[str]:
    """The names of masked columns that are, or begin with, what other masked columns are compared with."""
    values: set[str] = set()
    for op in operations if masked else ():
        for e in op.expressions:
            values.update(_compared(e.terms, masked))
        if op.node == "Transpose":
            values.update(c.name for c in op.columns[1:])
        for c in op.columns:
            if c.id in masked and (c.name in values or any(c.name.startswith(f"{v}_") for v in values)):
                yield c.name


def _compared(terms: Sequence[Term], masked: set[int]) -> Iterator[str]:
    """The literals that masked columns are compared with for equality."""
    for start, term in enumerate(terms):
        if term.node in _EQUAL:
            end, open_ends = start + 1, term.children
            while open_ends and end < len(terms):
                open_ends += terms[end].children - 1
                end += 1
            part = terms[start:end]
            if any(t.column in masked for t in part):
                yield from (t.value for t in part if t.node == "Literal")


_EQUAL = frozenset(("EqualTo", "EqualNullSafe", "In", "InSet"))


def _takes_more(op: Operation, terms: list[str], handed: bool, files: bool) -> bool:
    """Whether an expression may hold what the driver read, or the name of a file."""
    if files and not _OF_FILES.isdisjoint(terms):
        return True
    return handed and (bool(op.opaque) or any(t == "Literal" or t.endswith("UDF") for t in terms))


def _of_row(column: Column, version: Version, masked: Positions) -> bool:
    """Whether what is no column of a version, and was made of its rows, may hold masked values."""
    return _in_names(version, masked) if column.name == "_metadata" else bool(masked)


def _in_names(version: Version, masked: Positions) -> bool:
    """Whether the names of a version's files tell values of a masked column."""
    return any(field.name in version.partitions for i, field in enumerate(version.fields, 1) if i in masked)


def _pairs(one: Sighting, other: Sighting) -> Iterator[tuple[int, int]]:
    return ((e[0], e[1]) for e in carried(one, other) if e[0] > 0 and e[1] > 0)
