"""Which columns are masked: those with a masked name, and those derived from them in any step.

A column is derived from a masked one where a masked value goes into its values (OpenLineage's IDENTITY, TRANSFORMATION
and AGGREGATION) or decides one (CONDITIONAL, WINDOW, and the key by which a join brings an equal one). What decides
only which rows there are (FILTER, GROUP_BY, SORT, a join's key) derives nothing.

Where the sources of a column aren't known, it counts as derived from all columns that its row was made from.
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
"""Columns of a version; 1 is the first, as in `provspark.index_store.query.column_maps`. `ROWS` stands for some column
of a version whose columns are not known."""

_VALUES: frozenset[Dependence] = frozenset(
    ("identity", "transformation", "aggregation", "conditional", "window", "join")
)
_OF_FILES = frozenset(("InputFileName", "FileSourceMetadataAttribute"))
_NONE: Positions = frozenset()
_Written = dict[WriteNode, Positions | None]
"""The masked columns of the rows that writes wrote; None for all where their names are not known."""


class Masks:
    """The masked columns of all versions; worked out when they are asked for, and kept. Threads may share one.

    Parameters
    ----------
    policy : Policy
    linker : Linker
        Over all steps, including those that the user may not see: a column's sources can be among them.
    """

    def __init__(self, policy: Policy, linker: Linker) -> None:
        self._policy, self._linker = policy, linker
        self._written: _Written = {}
        self._within: dict[WriteNode, frozenset[int]] = {}
        self._driven: set[WriteNode] = set()
        self._values: dict[WriteNode, frozenset[str]] = {}
        """What columns of a write, and of those behind it, are named after, where that are masked values."""

    def columns(self, at: VersionReference) -> Positions:
        """The masked columns of a version."""
        if not self._policy.masks:
            return _NONE
        return self._version(at, self._settled(self._behind(at)))

    def within(self, node: WriteNode) -> frozenset[int]:
        """The ids of the masked columns between the operations of a write."""
        if not self._policy.masks:
            return _NONE
        if node not in self._within:
            written = self._settled(m for at in _sources(node) for m in self._behind(at))
            self._within[node] = self._hidden(node, self._inputs(node, written), written)
        return self._within[node]

    def named_after(self, at: VersionReference) -> frozenset[str]:
        """Masked values that columns of a version may be named after, as a pivot names them."""
        if not self._policy.masks:
            return frozenset()
        self._settled(self._behind(at))
        return self._inherited([at])

    def named_within(self, node: WriteNode) -> frozenset[str]:
        """The same, of the columns between the operations of a write."""
        self.within(node)
        return self._values.get(node, frozenset())

    def _inherited(self, versions: Iterable[VersionReference]) -> frozenset[str]:
        behind = {node for at in versions for node in self._behind(at)}
        return frozenset[str]().union(*(self._values.get(node, frozenset()) for node in behind))

    def handed(self, node: WriteNode) -> bool:
        """Whether the script's driver had read masked columns, so that what it wrote down may be of their values."""
        self.within(node)
        return node in self._driven

    def _settled(self, nodes: Iterable[WriteNode]) -> _Written:
        """Work out what these writes wrote, and those behind them."""
        order, circular = self._order(nodes)
        # In a circle a result may grow: nobody else sees it before it is whole.
        written = dict(self._written) if circular else self._written
        changed = True
        while changed:
            changed = False
            for number, node in enumerate(order):
                tell("columns behind columns", number, len(order))
                masked = self._output(node, written)
                changed |= circular and masked != written.get(node, _NONE)
                written[node] = masked
        self._written.update(written if circular else {})
        return self._written

    def _order(self, nodes: Iterable[WriteNode]) -> tuple[list[WriteNode], bool]:
        """These writes and all behind them that are not known yet, those behind first; whether some are in a circle."""
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
    def _read(self) -> dict[tuple[Dataset, str], list[VersionReference]]:
        """What was read, by version: a reader may name the columns of a CSV file otherwise than its writer did."""
        by_version: dict[tuple[Dataset, str], list[VersionReference]] = {}
        for dataset, references in self._linker.graph.read.by_name.items():
            for s in references:
                by_version.setdefault((dataset, s.version.id), []).append(s)
        return by_version

    @cached_property
    def _lost(self) -> set[tuple[str, int, int]]:
        """Name, size and time of the files that steps wrote whose manifest can't be read."""
        graph = self._linker.graph
        steps = {b.step for b in graph.broken if b.step}
        return {file for store in graph.stores for step in steps for file in store.written_files(step)}

    def _is_lost(self, at: VersionReference) -> bool:
        """Whether a step whose manifest can't be read wrote a file of a version."""
        return bool(self._lost) and any(
            (path.rsplit("/", 1)[-1], size, time) in self._lost for (_, path, size, time), _ in at.places()
        )

    def _version(self, at: VersionReference, written: _Written) -> Positions:
        """The masked columns of a version; the writes behind it are known."""
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
        """Columns that are masked by their own names."""
        fields = at.version.fields or tuple(Field(name, "") for name in names_of(at))
        return frozenset(i for i, field in enumerate(fields, 1) if self._policy.masked_by_name(field))

    def _opened(self, at: VersionReference, derived: Iterable[int]) -> Positions:
        names, dataset = names_of(at), at.version.dataset.uri
        return frozenset(i for i in derived if i and self._policy.opens(dataset, names[i - 1]))

    def _output(self, node: WriteNode, written: _Written) -> Positions | None:
        """The masked columns of what a write wrote. What it read is known."""
        at, named = node.output, self._named(node.output)
        self._values[node] = self._inherited(node.inputs.values())
        derived = self._derived(node, written)
        if derived is None:
            derived = set(range(1, 1 + len(names_of(at))))
            if not derived:
                return None
        return frozenset(named | (derived - self._opened(at, derived - named)))

    def _derived(self, node: WriteNode, written: _Written) -> set[int] | None:
        """Columns of a write's output that were made from masked ones; None for all."""
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
        """Whether the driver had read masked columns, or files with unknown ones, that the write may have values of."""
        sources = [at for read in node.reads for at in read.inputs.values() if not _is_local(at)]
        untold = any(read.write.coverage == "untracked" and not read.write.complete for read in node.reads)
        return untold or any(self._version(at, written) or not self._names(at) for at in sources)

    def _names(self, at: VersionReference) -> bool:
        """Whether any step knows the columns of a version."""
        if names_of(at):
            return True
        return any(
            names_of(s) for s in self._linker.graph.references(at.version.dataset) if s.version.id == at.version.id
        )

    def _inputs(self, node: WriteNode, written: _Written) -> dict[str, Positions]:
        """The masked columns of what a write read, by version; the writes behind it are known."""
        return {version: self._version(at, written) for version, at in node.inputs.items()}

    def _hidden(self, node: WriteNode, inputs: Mapping[str, Positions], written: _Written) -> frozenset[int]:
        """The ids of columns between the operations that are masked; `inputs` are the masked ones of what it read."""
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
        while known != len(hidden):  # a subquery stands before the columns that it takes from around it
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
        """Whether the names of a version's files tell values of a masked column."""
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
    """The columns of a version that are masked ones of how another step knows it.

    Where one of these has no counterpart, all columns that have none may hold its values: it was read another way.
    """
    pairs = list(_pairs(at, other)) if _reads_alike(at.version, other.version) else []
    columns = {mine for mine, theirs in pairs if theirs in masked}
    if not masked <= {theirs for _, theirs in pairs}:
        columns |= set(rest) - {mine for mine, _ in pairs}
    return columns


def _reads_alike(one: Version, other: Version) -> bool:
    """Whether two readers of CSV take the same parts of a line for values."""
    if not one.format == other.format == "csv":
        return True
    options = [dict(version.options) for version in (one, other)]
    separators = [x.get("sep", x.get("delimiter", ",")) for x in options]
    return separators[0] == separators[1]


def _operations(node: WriteNode) -> tuple[Operation, ...]:
    try:
        return node.operations
    except CorruptIndexError:  # treated as a write without operations; other routes report the file
        return ()


def _sources(node: WriteNode) -> Iterator[VersionReference]:
    """The versions that a write read, and those that its driver had read before it."""
    yield from node.inputs.values()
    for read in node.reads:
        yield from read.inputs.values()


def _is_local(at: VersionReference) -> bool:
    """Whether the script itself made the rows."""
    return at.version.format == "memory"


def _untold(node: WriteNode) -> list[int]:
    """The readings of a write that are in none of its operations."""
    told = {axis for op in _operations(node) for axis in op.axes}
    return [i for i, a in enumerate(node.write.axes) if a.role == "input" and i not in told]


def _read_by_driver(node: WriteNode) -> set[str]:
    """The versions that the script's driver read, except rows that the script itself made: in steps before format 3."""
    versions = {node.write.axes[i].version for i in _untold(node)}
    return {v for v in versions if not _is_local(node.inputs[v])}


def _handed_over(node: WriteNode, axis: int) -> bool:
    """Whether a reading is what the script's driver read, in a step before format 3."""
    return all(t.kind == "context" and t.out == 0 for t in node.write.tensors if t.src == axis)


def _compared(op: Operation, masked: set[int]) -> set[str]:
    """What an operation may name columns after: literals that it compares masked ones with, and a frame's values."""
    names = {c.name for c in op.columns[1:] if c.id in masked} if op.node == "Transpose" else set()
    for e in op.expressions:
        for term, part in _subtrees(e.terms):
            if term.node in _EQUAL and any(t.column in masked for t in part):
                names |= {t.value for t in part if t.node == "Literal"}
    return names


def _equated(op: Operation) -> Iterator[tuple[int, int]]:
    """The columns whose values a filter's or join's equality tells by those of others: each with one of these."""
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
    """The columns whose values a subquery decides by its conditions: EXISTS, and a scalar that a row looks up."""
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
    """The columns that an operation makes."""
    return {c.id for c in op.columns} - {c.id for i in op.children for c in operations[i].columns}


def _of_unknown_sources(op: Operation, operations: Sequence[Operation]) -> Iterator[tuple[int, set[int]]]:
    """Columns whose sources are unknown, each with all columns that it may be derived from."""
    if op.axes:
        return
    below = {c.id for i in (*op.children, *op.subqueries) for c in operations[i].columns}
    told = {k.out for k in op.links} | {e.column for e in op.expressions}
    told |= {int(i) for name, ids in op.details if name == "columns" for i in ids.split()}
    yield from ((out, below) for out in _made(op, operations) - told)


def _subtrees(terms: Sequence[Term]) -> Iterator[tuple[Term, Sequence[Term]]]:
    """Each term of an expression, with those below it."""
    for start, term in enumerate(terms):
        yield term, terms[start + 1 : end_of(terms, start)]


def _children(terms: Sequence[Term]) -> Iterator[Sequence[Term]]:
    """The trees that stand side by side."""
    start = 0
    while start < len(terms):
        end = end_of(terms, start)
        yield terms[start:end]
        start = end


_EQUAL = frozenset(("EqualTo", "EqualNullSafe", "In", "InSet"))


def _pairs(one: VersionReference, other: VersionReference) -> Iterator[tuple[int, int]]:
    return ((e[0], e[1]) for e in carried(one, other) if e[0] > 0 and e[1] > 0)
