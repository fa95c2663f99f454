"""Masked columns: columns whose names match a mask, and columns derived from them in any step.

A column is derived from a masked one if its values contain masked values (OpenLineage's IDENTITY, TRANSFORMATION and
AGGREGATION) or depend on them (CONDITIONAL, WINDOW, and a join key that determines an equal value). Dependencies that
only select or order rows (FILTER, GROUP_BY, SORT, other join keys) don't count.

A column with unknown sources counts as derived from all columns of the rows that its row was made from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from provspark.index_store.query.bits import ROWS
from provspark.index_store.query.choices import end_of
from provspark.index_store.query.column_maps import carried, names_of, output_places, source_places
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import VersionReference, WriteNode
from provspark.index_store.values.partitions import unescape
from provspark.model.datasets import Dataset, Field, Version
from provspark.model.errors import CorruptIndexError
from provspark.model.operations import Dependence, Operation, Term
from provspark.model.progress import check, tell
from provspark.web.policy import Policy

__all__ = ["Masks"]

Positions = frozenset[int]
"""Columns of a version, numbered from 1 as in `provspark.index_store.query.column_maps`. `ROWS` represents the columns
of a version whose columns are unknown."""

_VALUES: frozenset[Dependence] = frozenset(
    ("identity", "transformation", "aggregation", "conditional", "window", "join")
)
_OF_FILES = frozenset(("InputFileName", "FileSourceMetadataAttribute"))
_NONE: Positions = frozenset()
_Written = dict[WriteNode, Positions | None]
"""Masked columns of the rows that each write wrote; None if all are masked and their names are unknown."""


class Masks:
    """Masked columns of all versions, computed on demand and cached. Thread-safe.

    Parameters
    ----------
    policy : Policy
    linker : Linker
        Linker of all steps, including those that the user may not see, since a column's sources can be among them.
    """

    def __init__(self, policy: Policy, linker: Linker) -> None:
        self._policy, self._linker = policy, linker
        self._written: _Written = {}
        self._within: dict[WriteNode, frozenset[int]] = {}
        self._driven: set[WriteNode] = set()
        self._values: dict[WriteNode, frozenset[str]] = {}
        """Masked values that columns of a write, or of the writes behind it, may be named after."""

    def columns(self, at: VersionReference) -> Positions:
        """Return the masked columns of a version."""
        if not self._policy.masks:
            return _NONE
        return self._version(at, self._settled(self._behind(at)))

    def within(self, node: WriteNode) -> frozenset[int]:
        """Return the ids of the masked columns between the operations of a write."""
        if not self._policy.masks:
            return _NONE
        if node not in self._within:
            written = self._settled(m for at in _sources(node) for m in self._behind(at))
            self._within[node] = self._hidden(node, self._inputs(node, written), written)
        return self._within[node]

    def named_after(self, at: VersionReference) -> frozenset[str]:
        """Return the masked values that columns of a version may be named after, for example by a pivot."""
        if not self._policy.masks:
            return frozenset()
        self._settled(self._behind(at))
        return self._inherited([at])

    def named_within(self, node: WriteNode) -> frozenset[str]:
        """Return the masked values that columns between the operations of a write may be named after."""
        self.within(node)
        return self._values.get(node, frozenset())

    def _inherited(self, versions: Iterable[VersionReference]) -> frozenset[str]:
        behind = {node for at in versions for node in self._behind(at)}
        return frozenset[str]().union(*(self._values.get(node, frozenset()) for node in behind))

    def handed(self, node: WriteNode) -> bool:
        """Return whether the driver had read masked columns before this write, so that its literals may be masked."""
        self.within(node)
        return node in self._driven

    def _settled(self, nodes: Iterable[WriteNode]) -> _Written:
        """Compute and return the masked columns of these writes and of all writes behind them."""
        order, circular = self._order(nodes)
        # In a cycle, a result can still grow: other threads must not see it before it is complete.
        written = dict(self._written) if circular else self._written
        changed = True
        while changed:
            changed = False
            for number, node in enumerate(order):
                tell("finding masked columns", number, len(order))
                masked = self._output(node, written)
                changed |= circular and masked != written.get(node, _NONE)
                written[node] = masked
        self._written.update(written if circular else {})
        return self._written

    def _order(self, nodes: Iterable[WriteNode]) -> tuple[list[WriteNode], bool]:
        """Return these writes and all unknown writes behind them, sources first, and whether they contain a cycle."""
        order: list[WriteNode] = []
        begun: set[WriteNode] = set()
        ended: set[WriteNode] = set()
        circular = False
        waiting: list[tuple[WriteNode, Iterator[WriteNode]]] = []

        def begin(node: WriteNode) -> None:
            check()
            begun.add(node)
            waiting.append((node, iter({m: None for at in _sources(node) for m in self._behind(at)})))

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

    def _behind(self, at: VersionReference) -> dict[WriteNode, bool]:
        """Return the writes that made rows of a version, marked True. If no known write made some of its rows, also
        return those that made other rows of the dataset, marked False."""
        others = {s.node: False for s in self._linker.graph.written.by_name.get(at.version.dataset, ())}
        try:
            links = self._linker.links(at, "backward")
        except CorruptIndexError:  # any of them may have made the rows
            return {s.node: True for s in self._linker.graph.written.related(at.version.dataset)}
        made = {link.target.node: True for link in links.links} | {r.target.node: True for r in links.refused}
        return {**others, **made} if links.loose else made

    @cached_property
    def _read(self) -> dict[tuple[Dataset, str], list[VersionReference]]:
        """Reads by version: a reader may use other column names for a CSV file than its writer."""
        by_version: dict[tuple[Dataset, str], list[VersionReference]] = {}
        for dataset, references in self._linker.graph.read.by_name.items():
            for s in references:
                by_version.setdefault((dataset, s.version.id), []).append(s)
        return by_version

    @cached_property
    def _lost(self) -> set[tuple[str, int, int]]:
        """Name, size and time of files written by steps whose manifests can't be read."""
        graph = self._linker.graph
        steps = {b.step for b in graph.broken if b.step}
        return {file for store in graph.stores for step in steps for file in store.written_files(step)}

    def _is_lost(self, at: VersionReference) -> bool:
        """Return whether a step whose manifest can't be read wrote a file of this version."""
        return bool(self._lost) and any(
            (path.rsplit("/", 1)[-1], size, time) in self._lost for (_, path, size, time), _ in at.places()
        )

    def _version(self, at: VersionReference, written: _Written) -> Positions:
        """Return the masked columns of a version; `written` contains the writes behind it."""
        named = self._named(at)
        columns = set(named)
        every = set(range(1, 1 + len(names_of(at)))) or {ROWS}
        for s in self._read.get((at.version.dataset, at.version.id), ()):
            if s.version.fields != at.version.fields:
                columns |= _masked_in(at, s, self._named(s), every)
        if self._is_lost(at) or (_is_local(at) and self._driver_had(at.node, written)):
            columns |= every
        for node, made in self._behind(at).items():
            masked = written.get(node, _NONE)
            if (masked and every == {ROWS}) or (masked is None and made):
                columns |= every
            elif masked:
                columns |= _masked_in(at, node.output, masked, every if made else _NONE)
        return frozenset(columns - self._opened(at, columns - named))

    def _named(self, at: VersionReference) -> Positions:
        """Return the columns that `mask_columns` names."""
        fields = at.version.fields or tuple(Field(name, "") for name in names_of(at))
        return frozenset(i for i, field in enumerate(fields, 1) if self._policy.masked_by_name(field))

    def _opened(self, at: VersionReference, derived: Iterable[int]) -> Positions:
        names, dataset = names_of(at), at.version.dataset.uri
        return frozenset(i for i in derived if i and self._policy.opens(dataset, names[i - 1]))

    def _output(self, node: WriteNode, written: _Written) -> Positions | None:
        """Return the masked columns of a write's output; `written` contains the writes behind its inputs."""
        at, named = node.output, self._named(node.output)
        self._values[node] = self._inherited(node.inputs.values())
        derived = self._derived(node, written)
        if derived is None:
            derived = set(range(1, 1 + len(names_of(at))))
            if not derived:
                return None
        return frozenset(named | (derived - self._opened(at, derived - named)))

    def _derived(self, node: WriteNode, written: _Written) -> set[int] | None:
        """Return the columns of a write's output that derive from masked ones; None for all."""
        if node.write.coverage == "untracked":
            return None
        inputs = self._inputs(node, written)
        masked = {version for version, columns in inputs.items() if columns}
        operations = _operations(node)
        if not operations and (masked or self._read_before(node, written)):
            return None
        if any(node.write.axes[i].version in masked for i in _untold(node) if not _handed_over(node, i)):
            return None
        hidden = self._hidden(node, inputs, written)
        if not hidden:
            return set()
        places = output_places(node)
        made = {place for c, place in zip(operations[-1].columns, places, strict=True) if c.id in hidden}
        unknown = set(range(1, 1 + len(names_of(node.output)))) - set(places)
        return (made | unknown) - {-1}

    def _driver_had(self, node: WriteNode, written: _Written) -> bool:
        before = any(self._version(node.inputs[v], written) for v in _read_by_driver(node))
        return before or self._read_before(node, written)

    def _read_before(self, node: WriteNode, written: _Written) -> bool:
        """Return whether the driver had read masked or unknown columns whose values the write may contain."""
        sources = [at for read in node.reads for at in read.inputs.values() if not _is_local(at)]
        untold = any(read.write.coverage == "untracked" and not read.write.complete for read in node.reads)
        return untold or any(self._version(at, written) or not self._names(at) for at in sources)

    def _names(self, at: VersionReference) -> bool:
        """Return whether any step knows the columns of a version."""
        if names_of(at):
            return True
        return any(
            names_of(s) for s in self._linker.graph.references(at.version.dataset) if s.version.id == at.version.id
        )

    def _inputs(self, node: WriteNode, written: _Written) -> dict[str, Positions]:
        """Return the masked columns of a write's inputs, by version; `written` contains the writes behind them."""
        return {version: self._version(at, written) for version, at in node.inputs.items()}

    def _hidden(self, node: WriteNode, inputs: Mapping[str, Positions], written: _Written) -> frozenset[int]:
        """Return the ids of the masked columns between a write's operations, given those of its inputs."""
        operations = _operations(node)
        handed = any(inputs[version] for version in _read_by_driver(node)) or self._read_before(node, written)
        if handed:
            self._driven.add(node)
        values = set(self._inherited(node.inputs.values()))
        hidden: set[int] = set()
        for op in operations:
            hidden |= {c.id for c in op.columns if self._policy.masked_by_name(Field(c.name, c.type))}
            for at, places in source_places(node, op) if op.axes else ():
                masked = inputs[at.version.id]
                made = handed and _is_local(at)
                for c, place in zip(op.columns, places, strict=True):
                    of_files = place < 0 and c.name == "_metadata"
                    beside = self._in_names(at, masked) if of_files else place < 0 and bool(masked)
                    if place in masked or made or beside:
                        hidden.add(c.id)
            for e in op.expressions:
                terms = {t.node for t in e.terms}
                taken = handed and (bool(op.opaque) or "Literal" in terms or any(t.endswith("UDF") for t in terms))
                taken |= not values.isdisjoint(t.value for t in e.terms if t.node == "Literal")
                if not _OF_FILES.isdisjoint(terms):
                    taken |= any(self._in_names(at, inputs[version]) for version, at in node.inputs.items())
                if taken and e.column >= 0:
                    hidden.add(e.column)
                elif taken and e.role in ("output", "generator"):
                    hidden |= _made(op, operations)
        flows = [(k.out, k.source) for op in operations for k in op.links if k.out >= 0 and k.kind in _VALUES]
        flows += [flow for op in operations for flow in (*_equated(op), *_looked_up(op, operations))]
        unknown = [(out, below) for op in operations for out, below in _of_unknown_sources(op, operations)]
        known = -1
        while known != len(hidden):  # a subquery precedes the outer columns that it uses
            known = len(hidden)
            hidden |= {out for out, source in flows if source in hidden}
            hidden |= {out for out, below in unknown if not hidden.isdisjoint(below)}
        if hidden and self._policy.opened:
            at, named = node.output, self._named(node.output)
            ends = [(c.id, p) for c, p in zip(operations[-1].columns, output_places(node), strict=True) if p > 0]
            opened = self._opened(at, {place for _, place in ends} - named)
            hidden -= {column for column, place in ends if place in opened}
        self._values[node] = frozenset(values.union(*(_compared(op, hidden) for op in operations if hidden)))
        return frozenset(hidden)

    def _in_names(self, at: VersionReference, masked: Positions) -> bool:
        """Return whether the paths of a version's files contain values of a masked column."""
        fields = enumerate(at.version.fields, 1)
        if any(field.name in at.version.partitions for i, field in fields if i in masked):
            return True
        try:
            folders = {path.rsplit("/", 1)[0] for (_, path, *_), _ in at.places()}
        except CorruptIndexError:
            return True
        parts = {part.split("=", 1)[0] for folder in folders for part in folder.split("/") if "=" in part}
        return any(self._policy.covers(unescape(part)) for part in parts)


def _masked_in(at: VersionReference, other: VersionReference, masked: Positions, rest: Iterable[int]) -> set[int]:
    """Return the columns of a version that correspond to masked columns of the same version in another step.

    If a masked column has no counterpart, the version was read in another way: then all of `rest` without a counterpart
    may contain its values.
    """
    pairs = list(_pairs(at, other)) if _reads_alike(at.version, other.version) else []
    columns = {mine for mine, theirs in pairs if theirs in masked}
    if not masked <= {theirs for _, theirs in pairs}:
        columns |= set(rest) - {mine for mine, _ in pairs}
    return columns


def _reads_alike(one: Version, other: Version) -> bool:
    """Return whether two readers split the lines of a CSV file into the same values."""
    if not one.format == other.format == "csv":
        return True
    options = [dict(version.options) for version in (one, other)]
    separators = [x.get("sep", x.get("delimiter", ",")) for x in options]
    return separators[0] == separators[1]


def _operations(node: WriteNode) -> tuple[Operation, ...]:
    try:
        return node.operations
    except CorruptIndexError:  # treat it as a write without operations; other routes report the file
        return ()


def _sources(node: WriteNode) -> Iterator[VersionReference]:
    """Yield the versions that a write read, and those that its driver had read before."""
    yield from node.inputs.values()
    for read in node.reads:
        yield from read.inputs.values()


def _is_local(at: VersionReference) -> bool:
    """Return whether the script itself made the rows."""
    return at.version.format == "memory"


def _untold(node: WriteNode) -> list[int]:
    """Return the input axes of a write that none of its operations mentions."""
    told = {axis for op in _operations(node) for axis in op.axes}
    return [i for i, a in enumerate(node.write.axes) if a.role == "input" and i not in told]


def _read_by_driver(node: WriteNode) -> set[str]:
    """Return the versions that the driver read, without rows that the script made; for steps before format 3."""
    versions = {node.write.axes[i].version for i in _untold(node)}
    return {v for v in versions if not _is_local(node.inputs[v])}


def _handed_over(node: WriteNode, axis: int) -> bool:
    """Return whether an axis is a driver read; for steps before format 3."""
    return all(t.kind == "context" and t.out == 0 for t in node.write.tensors if t.src == axis)


def _compared(op: Operation, masked: set[int]) -> set[str]:
    """Return the values that an operation may name columns after: literals that it compares masked columns with, and
    masked values of a transposed frame."""
    names = {c.name for c in op.columns[1:] if c.id in masked} if op.node == "Transpose" else set()
    for e in op.expressions:
        for term, part in _subtrees(e.terms):
            if term.node in _EQUAL and any(t.column in masked for t in part):
                names |= {t.value for t in part if t.node == "Literal"}
    return names


def _equated(op: Operation) -> Iterator[tuple[int, int]]:
    """Yield pairs of columns in which an equality of a filter or join determines the first by the second."""
    for e in op.expressions:
        if e.role != "condition" or any(t.node in ("Or", "Not") for t in e.terms):
            continue
        for term, part in _subtrees(e.terms):
            if term.node in ("EqualTo", "EqualNullSafe"):
                sides = list(_children(part))
                for mine, other in (sides, sides[::-1]) if len(sides) == 2 else ():
                    alone = {t.column for t in mine if t.column >= 0}
                    for column in alone if len(alone) == 1 else ():
                        yield from ((column, t.column) for t in other if t.column >= 0)


def _looked_up(op: Operation, operations: Sequence[Operation]) -> Iterator[tuple[int, int]]:
    """Yield pairs of a column made by a subquery (EXISTS, or a correlated scalar) and a column of its conditions."""
    for e in op.expressions:
        for term in e.terms if e.column >= 0 else ():
            if term.node in ("ScalarSubquery", "Exists", "ListQuery"):
                within = _reached(int(term.value), operations)
                outer = any(name == "outer columns" for o in within for name, _ in o.details)
                if outer or term.node != "ScalarSubquery":
                    yield from ((e.column, k.source) for o in within for k in o.links if k.out < 0)


def _reached(last: int, operations: Sequence[Operation]) -> list[Operation]:
    reached, waiting = {last}, [last]
    for i in waiting:
        fresh = {*operations[i].children, *operations[i].subqueries} - reached
        reached |= fresh
        waiting += fresh
    return [operations[i] for i in reached]


def _made(op: Operation, operations: Sequence[Operation]) -> set[int]:
    """Return the columns that an operation makes."""
    return {c.id for c in op.columns} - {c.id for i in op.children for c in operations[i].columns}


def _of_unknown_sources(op: Operation, operations: Sequence[Operation]) -> Iterator[tuple[int, set[int]]]:
    """Yield columns whose sources are unknown, each with all columns that it may derive from."""
    if op.axes:
        return
    below = {c.id for i in (*op.children, *op.subqueries) for c in operations[i].columns}
    told = {k.out for k in op.links} | {e.column for e in op.expressions}
    told |= {int(i) for name, ids in op.details if name == "columns" for i in ids.split()}
    yield from ((out, below) for out in _made(op, operations) - told)


def _subtrees(terms: Sequence[Term]) -> Iterator[tuple[Term, Sequence[Term]]]:
    """Yield each term of an expression with the terms below it."""
    for start, term in enumerate(terms):
        yield term, terms[start + 1 : end_of(terms, start)]


def _children(terms: Sequence[Term]) -> Iterator[Sequence[Term]]:
    """Yield the sibling subtrees of a list of terms."""
    start = 0
    while start < len(terms):
        end = end_of(terms, start)
        yield terms[start:end]
        start = end


_EQUAL = frozenset(("EqualTo", "EqualNullSafe", "In", "InSet"))


def _pairs(one: VersionReference, other: VersionReference) -> Iterator[tuple[int, int]]:
    return ((e[0], e[1]) for e in carried(one, other) if e[0] > 0 and e[1] > 0)
