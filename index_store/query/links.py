"""Links between versions, file by file: two files are the same if absolute path, size and time are equal.

Equal names alone don't link versions, and a file that two steps cut into rows differently links no rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from provspark.index_store.query.graph import Graph
from provspark.index_store.query.nodes import Direction, FileIdentity, VersionReference, WriteNode
from provspark.index_store.query.relation import identity
from provspark.model.arrays import Int64
from provspark.model.bounded_cache import Cache
from provspark.model.boxes import Boxes
from provspark.model.datasets import Dataset, Version
from provspark.model.runs import Runs, overlaps

Name = TypeVar("Name", bound=Hashable)

_ROUTES = 1 << 16
"""Maximum number of writes in all cached plans together."""
_FEW_LINKS = 8
_DEFAULTS = {"header": "false", "linesep": "\n", "comment": ""}
"""Options that decide where a row begins, with Spark's defaults.

``multiline`` is not among them: a record spans one or more lines, so if there are as many records as lines, each record
is one line.
"""


@dataclass(frozen=True, slots=True, eq=False)
class VersionLink:
    """Rows that a version shares with another version, `target`; `boxes` lead from the first to the second."""

    target: VersionReference
    boxes: Boxes
    whole: bool
    """Whether the two versions have the same rows with the same ids."""


@dataclass(frozen=True, slots=True, eq=False)
class UnlinkedRows:
    """Rows that share files with another version but can't be linked to its rows, and why."""

    target: VersionReference
    rows: Runs
    why: str


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Where the rows of a version lead: to other versions, to rows that can't be linked, or to no known place."""

    links: tuple[VersionLink, ...]
    refused: tuple[UnlinkedRows, ...]
    loose: Runs
    """Rows of files that no write and no driver made (backward) or read (forward)."""
    left: Runs
    """These and the rows that only drivers read, without a certain use after that: they are results of their own."""
    spans: list[tuple[Int64, Int64, Int64]] = field(default_factory=list)
    """Starts, ends and link numbers of the boxes of all links, computed on first use."""

    @property
    def few(self) -> bool:
        """Whether there are few enough links to try them all."""
        return len(self.links) <= _FEW_LINKS

    def near(self, rows: Runs) -> Sequence[VersionLink]:
        """Return the links that have any of these rows."""
        if not self.spans:
            boxes = [link.boxes for link in self.links]
            starts = np.concatenate([b.out for b in boxes])
            lengths = np.concatenate([b.n_out for b in boxes])
            self.spans.append((starts, starts + lengths, np.repeat(np.arange(len(boxes)), [len(b) for b in boxes])))
        starts, ends, number = self.spans[0]
        hits, _ = overlaps(starts, ends, rows.starts, rows.starts + rows.lengths)
        return [self.links[i] for i in np.unique(number[hits]).tolist()]


Drivers = Literal["", "rows", "all"]
"""Whether paths lead through drivers: not at all, through reads of rows, or also through reads of a single number."""


class Linker:
    """Finds and caches the links between the versions of a graph. Threads may share an instance.

    Parameters
    ----------
    graph : Graph
    drivers : {"", "rows", "all"}
        Whether paths lead through reads on drivers; see `Drivers`.
    """

    def __init__(self, graph: Graph, drivers: Drivers = "") -> None:
        self.graph = graph
        self.drivers: Drivers = drivers
        self._links: dict[tuple[str, object], Links] = {}
        self._counts: dict[WriteNode, bool] = {}
        self._made: _FileIndex[VersionReference] = _FileIndex()
        self._read: _FileIndex[tuple[object, ...]] = _FileIndex()
        self._lock = RLock()
        self.routes: Cache[Any] = Cache(_ROUTES)
        """Cached plans of walks, and the writes in them that lead to a place; they depend only on the graph."""
        self._through: dict[Drivers, Linker] = {drivers: self}

    def through(self, drivers: Drivers) -> Linker:
        """Return the linker of the same graph with this value of `drivers`."""
        with self._lock:
            linker = self._through.get(drivers)
            if linker is None:
                linker = self._through[drivers] = Linker(self.graph, drivers)
                linker._through = self._through
        return linker

    def follows(self, read: WriteNode) -> bool:
        """Whether paths lead through a read on the driver."""
        return self.drivers == "all" or (self.drivers == "rows" and not read.write.single)

    def reads(self, node: WriteNode) -> list[WriteNode]:
        """Return the reads on the driver that a write or a later read used, and that paths lead through."""
        return [read for read in node.reads if self.follows(read)] if self.drivers else []

    def driver_links(self, at: VersionReference) -> tuple[VersionLink, ...]:
        """Return the links to reads of rows that were used later, if paths don't lead through drivers."""
        if self.drivers or not self.graph.reads:
            return ()
        ahead = self.through("rows").links(at, "forward").links
        return tuple(link for link in ahead if link.target.node.is_read and link.target.node.later)

    def later(self, read: WriteNode) -> tuple[WriteNode, ...]:
        """Return the writes and reads that used a read, and that paths lead through."""
        return tuple(n for n in read.later if not n.is_read or self.follows(n))

    def links(self, at: VersionReference, direction: Direction) -> Links:
        """Return where the rows of a version came from or went to: the writes that made or read its files."""
        key = (direction, at.key)
        links = self._links.get(key)
        if links is None:
            with self._lock:
                links = self._producers(at) if direction == "backward" else self._readers(at, False)
            self._links[key] = links
        return links

    def onward(self, node: WriteNode) -> Links:
        """Return where the rows that a write made went to, without files that its output only lists.

        Such files may lead back to the write.
        """
        if not node.write.tensors and not node.output.files.written.any():
            return Links((), (), Runs.span(0), Runs.span(0))
        key = ("onward", node)
        links = self._links.get(key)
        if links is None:
            with self._lock:
                links = self._readers(node.output, True)
            self._links[key] = links
        return links

    def _producers(self, at: VersionReference) -> Links:
        for read in self.graph.on_driver.by_name.get(at.version.dataset, ()):
            if read.version.id == at.version.id:
                return Links(
                    (VersionLink(read, identity(Runs.span(at.version.rows)), True),), (), Runs.span(0), Runs.span(0)
                )
        claims = _Claims(at)
        same = set()
        for target in self.graph.written.by_name.get(at.version.dataset, ()):
            if target.version.id == at.version.id:
                same.add(target)
                made = np.flatnonzero(target.files.written)
                claims.add(target, made, made)
        if not claims.full:
            for target in self.graph.written.related(at.version.dataset):
                if _may_share(target.version, at.version):
                    self._made.add(target, target, target.files.written)
            for target, (mine, theirs) in self._made.shared(at).items():
                if target not in same:
                    claims.add(target, mine, theirs)
        return claims.links(exclusive=True)

    def _readers(self, at: VersionReference, made: bool) -> Links:
        """Return where a version's rows went; with `made`, only those of files that its write made."""
        targets = [s for s in self._references(at.version.dataset) if self._matters(s.node)]
        if targets and all(_same_rows(at.version, s.version) for s in targets):
            rows = Runs.span(at.version.rows)
            left = Runs.span(0) if any(s.node.goes_on for s in targets) else rows
            return Links(tuple(VersionLink(s, identity(rows), True) for s in targets), (), Runs.span(0), left)
        if not targets:
            rows = at.files.runs(np.flatnonzero(at.files.written)) if made else Runs.span(at.version.rows)
            return Links((), (), rows, rows)
        for target in targets:
            if target.version.id != at.version.id and _may_share(target.version, at.version):
                self._read.add(target.key, target)
        shared = self._read.shared(at)
        mine = np.arange(len(at.files.paths), dtype=np.int64)
        nothing = mine[:0], mine[:0]
        own = at.files.written if made else np.ones(len(mine), dtype=np.bool_)
        claims = _Claims(at)
        for target in targets:
            same = target.version.id == at.version.id
            here, there = (mine, mine) if same else shared.get(target.key, nothing)
            claims.add(target, here[own[here]], there[own[here]])
        return claims.links(exclusive=False, own=own)

    def _references(self, dataset: Dataset) -> Iterator[VersionReference]:
        yield from self.graph.read.related(dataset)
        if self.drivers:
            yield from (s for s in self.graph.read_on_driver.related(dataset) if self.follows(s.node))
        for at in self.graph.lost.related(dataset):
            if not at.node.is_read or (self.drivers and self.follows(at.node)):
                yield at

    def _matters(self, node: WriteNode) -> bool:
        """Whether links lead to a write: not for a superseded try, unless such a write uses its files."""
        if not self.graph.superseded(node):
            return True
        if node.is_read:
            return any(self._matters(n) for n in node.later)
        if node not in self._counts:
            self._counts[node] = False  # until its users are checked, so that a cycle ends
            self._made.add(node.output, node.output, node.output.files.written)
            self._counts[node] = any(self._uses(s, node) for s in self._users(node))
        return self._counts[node]

    def _users(self, node: WriteNode) -> Iterable[VersionReference]:
        dataset = node.write.output.dataset
        yield from self.graph.read.related(dataset)
        yield from self.graph.written.related(dataset)

    def _uses(self, user: VersionReference, node: WriteNode) -> bool:
        return user.node is not node and self._matters(user.node) and node.output in self._made.shared(user)


class _FileIndex(Generic[Name]):
    """Index of the versions that contain a file."""

    def __init__(self) -> None:
        self._names: set[Name] = set()
        self._where: dict[FileIdentity, list[tuple[Name, int]]] = {}

    def add(self, name: Name, at: VersionReference, which: npt.NDArray[np.bool_] | None = None) -> None:
        """Add the files of a version, or those that `which` marks, under a name; once for each name."""
        if name not in self._names:
            self._names.add(name)
            for place, i in at.places():
                if which is None or which[i]:
                    self._where.setdefault(place, []).append((name, i))

    def shared(self, at: VersionReference) -> dict[Name, tuple[Int64, Int64]]:
        """Return for each name with files of a version their numbers in the version, and under the name."""
        shared: dict[Name, list[tuple[int, int]]] = {}
        for place, i in at.places():
            for name, j in self._where.get(place, ()):
                shared.setdefault(name, []).append((i, j))
        pairs = {name: np.array(both, dtype=np.int64).T for name, both in shared.items()}
        return {name: (both[0], both[1]) for name, both in pairs.items()}


class _Claims:
    """Collects the versions that share files with one version."""

    def __init__(self, at: VersionReference) -> None:
        self.at = at
        self.made: list[tuple[VersionReference, Int64, Int64]] = []
        self.owners = np.zeros(len(at.files.paths), dtype=np.int64)
        self.takers = np.zeros(len(at.files.paths), dtype=np.int64)

    @property
    def full(self) -> bool:
        return bool(self.owners.all())

    def add(self, target: VersionReference, mine: Int64, theirs: Int64) -> None:
        if len(mine):
            self.owners[mine] += 1
            self.takers[mine] += target.node.goes_on
            self.made.append((target, mine, theirs))

    def links(self, *, exclusive: bool, own: npt.NDArray[np.bool_] | None = None) -> Links:
        """Turn the claims into links; if `exclusive`, a file that several versions claim is refused.

        With `own`, the rows of files that it does not mark are neither linked nor loose.
        """
        links: list[VersionLink] = []
        refused: list[UnlinkedRows] = []
        for target, mine, theirs in self.made:
            uncounted = target.version.unit != self.at.version.unit
            options = "" if uncounted else _differing_options(target.version, self.at.version)
            counts = (self.at.files.rows[mine] != target.files.rows[theirs]) & (not uncounted)
            twice = self.owners[mine] > 1 if exclusive else np.zeros(len(mine), dtype=np.bool_)
            bad = counts | twice | bool(options)
            if bad.any():
                first = int(np.flatnonzero(bad)[0])
                why = self._why(target, int(mine[first]), int(theirs[first]), bool(twice[first]), options)
                refused.append(UnlinkedRows(target, self.at.files.runs(mine[bad]), why))
            mine, theirs = mine[~bad], theirs[~bad]
            if len(mine):
                if uncounted:
                    links.append(VersionLink(target, _files(self.at, mine, target, theirs), False))
                    continue
                boxes = diagonals(self.at.files.bases[mine], target.files.bases[theirs], self.at.files.rows[mine])
                whole = len(mine) == len(self.owners) and _same_rows(self.at.version, target.version)
                links.append(VersionLink(target, boxes, whole))
        nobody = [self.owners == 0, self.takers == 0]
        loose, left = (self.at.files.runs(np.flatnonzero(some if own is None else some & own)) for some in nobody)
        return Links(tuple(links), tuple(refused), loose, left)

    def _why(self, target: VersionReference, mine: int, theirs: int, twice: bool, options: str) -> str:
        path = self.at.files.paths[mine] or self.at.version.dataset.name
        if twice:
            steps = sorted({t.node.step for t, files, _ in self.made if (files == mine).any()})
            return f"file {path} is claimed by more than one write, of {' and '.join(steps)}"
        if options:
            return f"file {path} is cut into rows differently by the steps that share it: {options}"
        return (
            f"file {path} has {int(target.files.rows[theirs])} rows for {target.node.step} "
            f"and {int(self.at.files.rows[mine])} for {self.at.node.step}"
        )


def between(at: VersionReference, target: VersionReference, missing: frozenset[int] = frozenset()) -> Links:
    """Link the rows of a version to the same rows of another one, by the files that they share.

    Parameters
    ----------
    missing : set of int
        Numbers of files of `target` to ignore.

    Returns
    -------
    Links
        `loose` contains the rows of files that the other version lacks.
    """
    claims = _Claims(at)
    places = dict(target.places())
    both = [(i, places[place]) for place, i in at.places() if place in places and places[place] not in missing]
    mine, theirs = np.array(both, dtype=np.int64).reshape(-1, 2).T
    claims.add(target, mine, theirs)
    return claims.links(exclusive=False)


def _may_share(a: Version, b: Version) -> bool:
    """Whether two versions may share a file. If both have one file only, their ids decide, which are its hash."""
    return a.id == b.id or not a.n_files == b.n_files == 1 or a.dataset != b.dataset


def _same_rows(a: Version, b: Version) -> bool:
    return a.id == b.id and a.rows == b.rows and a.unit == b.unit and not _differing_options(a, b)


def _files(at: VersionReference, mine: Int64, target: VersionReference, theirs: Int64) -> Boxes:
    """Relate whole files, for versions of which one has no row counts."""
    n, m = at.files.rows[mine], target.files.rows[theirs]
    keep = (n > 0) & (m > 0)
    mine, theirs = mine[keep], theirs[keep]
    order = np.argsort(mine, kind="stable")
    flat = np.zeros(len(mine), dtype=np.bool_)
    return Boxes(at.files.bases[mine][order], n[keep][order], target.files.bases[theirs][order], m[keep][order], flat)


def _differing_options(a: Version, b: Version) -> str:
    mine, other = dict(a.options), dict(b.options)
    differ = []
    for name, default in _DEFAULTS.items():
        x, y = (o.get(name, default) for o in (mine, other))
        if x != y and (name != "header" or x.lower() != y.lower()):
            differ.append(f"{name} {x!r} and {y!r}")
    return ", ".join(differ)


def diagonals(mine: Int64, theirs: Int64, rows: Int64) -> Boxes:
    """Return a diagonal for each sequence of files that is consecutive on both sides, in order of the first."""
    keep = rows > 0
    mine, theirs, rows = mine[keep], theirs[keep], rows[keep]
    order = np.argsort(mine, kind="stable")
    mine, theirs, rows = mine[order], theirs[order], rows[order]
    follows = (mine[1:] == mine[:-1] + rows[:-1]) & (theirs[1:] == theirs[:-1] + rows[:-1])
    first = np.flatnonzero(np.concatenate([np.ones(min(len(rows), 1), dtype=np.bool_), ~follows]))
    n = np.add.reduceat(rows, first) if len(rows) else rows
    return Boxes(mine[first], n, theirs[first], n, np.ones(len(first), dtype=np.bool_))
