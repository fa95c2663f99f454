"""Links between versions, made file by file: a file is the same where absolute path, size and time are equal.

Names alone never link, and no row is linked through a file that two steps cut into rows differently.
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
"""Writes in the plans that are kept, all together."""
_FEW_LINKS = 8
_DEFAULTS = {"header": "false", "linesep": "\n", "comment": ""}
"""Options that decide where a row begins, with Spark's defaults.

``multiline`` is not among them: a record takes one line or more, so equal counts of records and of lines say
that each record is one line.
"""


@dataclass(frozen=True, slots=True, eq=False)
class VersionLink:
    """Rows of one version are rows of another: `boxes` are diagonals from the first to the second."""

    target: VersionReference
    boxes: Boxes
    whole: bool
    """The two versions are row for row the same."""


@dataclass(frozen=True, slots=True, eq=False)
class UnlinkedRows:
    """Rows that share files with another version but can't be linked to its rows, and why."""

    target: VersionReference
    rows: Runs
    why: str


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Where the rows of a version lead: to other versions, nowhere that is known, or into a refusal."""

    links: tuple[VersionLink, ...]
    refused: tuple[UnlinkedRows, ...]
    loose: Runs
    """Rows of files that no write made (backward) or read (forward), nor a driver."""
    left: Runs
    """The same, with rows that were read on drivers only, and did not surely go on there: results of their own."""
    spans: list[tuple[Int64, Int64, Int64]] = field(default_factory=list)
    """Where the boxes of all links begin and end, and the number of the link of each; worked out when asked for."""

    @property
    def few(self) -> bool:
        """Whether it is as well to try all links."""
        return len(self.links) <= _FEW_LINKS

    def near(self, rows: Runs) -> Sequence[VersionLink]:
        """The links of which some of these rows are part."""
        if not self.spans:
            boxes = [link.boxes for link in self.links]
            starts = np.concatenate([b.out for b in boxes])
            lengths = np.concatenate([b.n_out for b in boxes])
            self.spans.append((starts, starts + lengths, np.repeat(np.arange(len(boxes)), [len(b) for b in boxes])))
        starts, ends, number = self.spans[0]
        hits, _ = overlaps(starts, ends, rows.starts, rows.starts + rows.lengths)
        return [self.links[i] for i in np.unique(number[hits]).tolist()]


Drivers = Literal["", "rows", "all"]
"""Whether ways lead through what drivers read: not at all, by reads of rows, by reads of one number too."""


class Linker:
    """Finds and remembers the links between the versions of a graph. Threads may share one.

    Parameters
    ----------
    graph : Graph
    drivers : {"", "rows", "all"}
        Whether ways lead through what drivers read.
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
        """Plans of walks, and which writes of them lead to a place; they depend on the graph alone."""
        self._through: dict[Drivers, Linker] = {drivers: self}

    def through(self, drivers: Drivers) -> Linker:
        """The linker of the same graph whose ways lead through so much of what drivers read."""
        with self._lock:
            linker = self._through.get(drivers)
            if linker is None:
                linker = self._through[drivers] = Linker(self.graph, drivers)
                linker._through = self._through
        return linker

    def follows(self, read: WriteNode) -> bool:
        """Whether ways lead through a read on the driver."""
        return self.drivers == "all" or (self.drivers == "rows" and not read.write.single)

    def reads(self, node: WriteNode) -> list[WriteNode]:
        """The reads on the driver behind a write, or behind a later read, that ways lead through."""
        return [read for read in node.reads if self.follows(read)] if self.drivers else []

    def driver_links(self, at: VersionReference) -> tuple[VersionLink, ...]:
        """For ways that do not lead through drivers: the reads of rows that took rows of a version somewhere else."""
        if self.drivers or not self.graph.reads:
            return ()
        ahead = self.through("rows").links(at, "forward").links
        return tuple(link for link in ahead if link.target.node.is_read and link.target.node.later)

    def later(self, read: WriteNode) -> tuple[WriteNode, ...]:
        """The writes and reads that have a read behind them, which ways lead through."""
        return tuple(n for n in read.later if not n.is_read or self.follows(n))

    def links(self, at: VersionReference, direction: Direction) -> Links:
        """Where the rows of a version came from, or went to: the writes that made, or read, its files."""
        key = (direction, at.key)
        links = self._links.get(key)
        if links is None:
            with self._lock:
                links = self._producers(at) if direction == "backward" else self._readers(at, False)
            self._links[key] = links
        return links

    def onward(self, node: WriteNode) -> Links:
        """Where the rows that a write made went to; files that its output only lists may lead back to it."""
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
        """Where its rows went; with `made`, those of files that its write made, not those that it only lists."""
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
        """False for a write of a superseded try, unless a write that matters uses its files."""
        if not self.graph.superseded(node):
            return True
        if node.is_read:
            return any(self._matters(n) for n in node.later)
        if node not in self._counts:
            self._counts[node] = False  # holds while its users are looked at, so that a circle of them ends
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
    """Which versions hold a file."""

    def __init__(self) -> None:
        self._names: set[Name] = set()
        self._where: dict[FileIdentity, list[tuple[Name, int]]] = {}

    def add(self, name: Name, at: VersionReference, which: npt.NDArray[np.bool_] | None = None) -> None:
        """Take in the files, or the marked ones, of a version under a name; once."""
        if name not in self._names:
            self._names.add(name)
            for place, i in at.places():
                if which is None or which[i]:
                    self._where.setdefault(place, []).append((name, i))

    def shared(self, at: VersionReference) -> dict[Name, tuple[Int64, Int64]]:
        """For each name that holds files of a version: their numbers in the version, and under the name."""
        shared: dict[Name, list[tuple[int, int]]] = {}
        for place, i in at.places():
            for name, j in self._where.get(place, ()):
                shared.setdefault(name, []).append((i, j))
        pairs = {name: np.array(both, dtype=np.int64).T for name, both in shared.items()}
        return {name: (both[0], both[1]) for name, both in pairs.items()}


class _Claims:
    """Collects, for the files of one version, the versions that share them."""

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
        """Turn the claims into links; where `exclusive`, a file that two claim is refused.

        With `own`, files that are not marked are nobody's, and their rows are not loose either.
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
                refused.append(UnlinkedRows(target, self._runs(mine[bad]), why))
            mine, theirs = mine[~bad], theirs[~bad]
            if len(mine):
                if uncounted:
                    links.append(VersionLink(target, _files(self.at, mine, target, theirs), False))
                    continue
                boxes = diagonals(self.at.files.bases[mine], target.files.bases[theirs], self.at.files.rows[mine])
                whole = len(mine) == len(self.owners) and _same_rows(self.at.version, target.version)
                links.append(VersionLink(target, boxes, whole))
        nobody = [self.owners == 0, self.takers == 0]
        loose, left = (self._runs(np.flatnonzero(some if own is None else some & own)) for some in nobody)
        return Links(tuple(links), tuple(refused), loose, left)

    def _runs(self, files: Int64) -> Runs:
        return self.at.files.runs(files)

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
        Numbers of files of `target` that are not to be found there.

    Returns
    -------
    Links
        `loose` are the rows of files that the other version lacks.
    """
    claims = _Claims(at)
    places = dict(target.places())
    both = [(i, places[place]) for place, i in at.places() if place in places and places[place] not in missing]
    mine, theirs = np.array(both, dtype=np.int64).reshape(-1, 2).T
    claims.add(target, mine, theirs)
    return claims.links(exclusive=False)


def _may_share(a: Version, b: Version) -> bool:
    """Whether two versions may share a file; of two of one file each their ids, hashes of it, tell."""
    return a.id == b.id or not a.n_files == b.n_files == 1 or a.dataset != b.dataset


def _same_rows(a: Version, b: Version) -> bool:
    return a.id == b.id and a.rows == b.rows and a.unit == b.unit and not _differing_options(a, b)


def _files(at: VersionReference, mine: Int64, target: VersionReference, theirs: Int64) -> Boxes:
    """Relate files as wholes, where one side has not counted their rows."""
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
    """One diagonal for each stretch of files that follow each other on both sides, in order of the first."""
    keep = rows > 0
    mine, theirs, rows = mine[keep], theirs[keep], rows[keep]
    order = np.argsort(mine, kind="stable")
    mine, theirs, rows = mine[order], theirs[order], rows[order]
    follows = (mine[1:] == mine[:-1] + rows[:-1]) & (theirs[1:] == theirs[:-1] + rows[:-1])
    first = np.flatnonzero(np.concatenate([np.ones(min(len(rows), 1), dtype=np.bool_), ~follows]))
    n = np.add.reduceat(rows, first) if len(rows) else rows
    return Boxes(mine[first], n, theirs[first], n, np.ones(len(first), dtype=np.bool_))
