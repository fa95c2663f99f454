"""Links between versions, made file by file: a file is the same where absolute path, size and time are equal.

Names alone never link, and no row is linked through a file that two steps cut into rows differently.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from provspark.index_store.model import Boxes, Int64, Version
from provspark.index_store.query.graph import Direction, Graph, Node, Sighting
from provspark.index_store.query.relation import identity
from provspark.index_store.query.runs import Runs

_DEFAULTS = {"header": "false", "linesep": "\n", "comment": ""}
"""Options that decide where a row begins, with Spark's defaults.

``multiline`` is not among them: a record takes one line or more, so equal counts of records and of lines say
that each record is one line.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """Rows of one version are rows of another: `boxes` are diagonals from the first to the second."""

    target: Sighting
    boxes: Boxes
    whole: bool
    """The two versions are row for row the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """Rows that share files with another version but can't be linked to its rows, and why."""

    target: Sighting
    rows: Runs
    why: str


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Where the rows of a version lead: to other versions, nowhere that is known, or into a refusal."""

    links: tuple[Link, ...]
    refused: tuple[Refusal, ...]
    loose: Runs
    """Rows of files that no write made (backward) or read (forward)."""


class Linker:
    """Finds and remembers the links between the versions of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._found: dict[tuple[str, object], Links] = {}
        self._counts: dict[Node, bool] = {}

    def links(self, at: Sighting, direction: Direction) -> Links:
        """Where the rows of a version came from, or went to: the writes that made, or read, its files."""
        key = (direction, at.key)
        if key not in self._found:
            self._found[key] = self._producers(at) if direction == "backward" else self._readers(at, False)
        return self._found[key]

    def onward(self, node: Node) -> Links:
        """Where the rows that a write made went to; files that its output only lists may lead back to it."""
        if not node.write.tensors:
            return Links((), (), Runs.span(0))
        key = ("onward", node)
        if key not in self._found:
            self._found[key] = self._readers(node.output, True)
        return self._found[key]

    def _producers(self, at: Sighting) -> Links:
        index = self.graph.written
        same = [s for s in index.by_name.get(at.version.dataset, ()) if s.version.id == at.version.id]
        claims = _Claims(at)
        for target in same:
            claims.add(target, *_made(target, *_shared(at, target)))
        if not claims.full:
            for target in index.related(at.version.dataset):
                if target not in same:
                    claims.add(target, *_made(target, *_shared(at, target)))
        return claims.links(exclusive=True)

    def _readers(self, at: Sighting, made: bool) -> Links:
        targets = [s for s in self.graph.read.related(at.version.dataset) if self._matters(s.node)]
        if targets and all(_same_rows(at.version, s.version) for s in targets):
            rows = Runs.span(at.version.rows)
            return Links(tuple(Link(s, identity(rows), True) for s in targets), (), Runs.span(0))
        if not targets:
            return Links((), (), Runs.span(at.version.rows))
        claims = _Claims(at)
        for target in targets:
            mine, theirs = _shared(at, target)
            keep = at.files.written[mine] if made else slice(None)
            claims.add(target, mine[keep], theirs[keep])
        return claims.links(exclusive=False)

    def _matters(self, node: Node) -> bool:
        """False for a write of a superseded try, unless a write that matters uses its files."""
        if not self.graph.superseded(node):
            return True
        if node not in self._counts:
            self._counts[node] = False
            self._counts[node] = any(self._uses(s, node) for s in self._users(node))
        return self._counts[node]

    def _users(self, node: Node) -> Iterable[Sighting]:
        dataset = node.write.output.dataset
        yield from self.graph.read.related(dataset)
        yield from self.graph.written.related(dataset)

    def _uses(self, user: Sighting, node: Node) -> bool:
        if user.node is node or not self._matters(user.node):
            return False
        return len(_made(node.output, *_shared(user, node.output))[0]) > 0


class _Claims:
    """Collects, for the files of one version, the versions that share them."""

    def __init__(self, at: Sighting) -> None:
        self.at = at
        self.made: list[tuple[Sighting, Int64, Int64]] = []
        self.owners = np.zeros(len(at.files.paths), dtype=np.int64)

    @property
    def full(self) -> bool:
        return bool(self.owners.all())

    def add(self, target: Sighting, mine: Int64, theirs: Int64) -> None:
        if len(mine):
            self.owners[mine] += 1
            self.made.append((target, mine, theirs))

    def links(self, *, exclusive: bool) -> Links:
        """Turn the claims into links; where `exclusive`, a file that two claim is refused."""
        links: list[Link] = []
        refused: list[Refusal] = []
        for target, mine, theirs in self.made:
            options = _differing_options(target.version, self.at.version)
            counts = self.at.files.rows[mine] != target.files.rows[theirs]
            twice = self.owners[mine] > 1 if exclusive else np.zeros(len(mine), dtype=np.bool_)
            bad = counts | twice | bool(options)
            if bad.any():
                first = int(np.flatnonzero(bad)[0])
                why = self._why(target, int(mine[first]), int(theirs[first]), bool(twice[first]), options)
                refused.append(Refusal(target, self._runs(mine[bad]), why))
            mine, theirs = mine[~bad], theirs[~bad]
            if len(mine):
                boxes = _diagonals(self.at.files.bases[mine], target.files.bases[theirs], self.at.files.rows[mine])
                whole = len(mine) == len(self.owners) and _same_rows(self.at.version, target.version)
                links.append(Link(target, boxes, whole))
        return Links(tuple(links), tuple(refused), self._runs(np.flatnonzero(self.owners == 0)))

    def _runs(self, files: Int64) -> Runs:
        return Runs.united(self.at.files.bases[files], self.at.files.rows[files])

    def _why(self, target: Sighting, mine: int, theirs: int, twice: bool, options: str) -> str:
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


def _shared(at: Sighting, target: Sighting) -> tuple[Int64, Int64]:
    """Numbers of the files that both versions hold: in the first, in the second."""
    if at.version.id == target.version.id:
        both = np.arange(len(at.files.paths), dtype=np.int64)
        return both, both
    theirs = target.places
    pairs = [(i, theirs[place]) for place, i in at.places.items() if place in theirs]
    mine, other = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return mine, other


def _made(target: Sighting, mine: Int64, theirs: Int64) -> tuple[Int64, Int64]:
    """Keep the files that the target's own write made."""
    keep: npt.NDArray[np.bool_] = target.files.written[theirs]
    return mine[keep], theirs[keep]


def _same_rows(a: Version, b: Version) -> bool:
    return a.id == b.id and a.rows == b.rows and not _differing_options(a, b)


def _differing_options(a: Version, b: Version) -> str:
    mine, other = dict(a.options), dict(b.options)
    differ = []
    for name, default in _DEFAULTS.items():
        x, y = (o.get(name, default) for o in (mine, other))
        if x != y and (name != "header" or x.lower() != y.lower()):
            differ.append(f"{name} {x!r} and {y!r}")
    return ", ".join(differ)


def _diagonals(mine: Int64, theirs: Int64, rows: Int64) -> Boxes:
    """One diagonal for each stretch of files that follow each other on both sides, in order of the first."""
    keep = rows > 0
    mine, theirs, rows = mine[keep], theirs[keep], rows[keep]
    order = np.argsort(mine, kind="stable")
    mine, theirs, rows = mine[order], theirs[order], rows[order]
    follows = (mine[1:] == mine[:-1] + rows[:-1]) & (theirs[1:] == theirs[:-1] + rows[:-1])
    first = np.flatnonzero(np.concatenate([np.ones(min(len(rows), 1), dtype=np.bool_), ~follows]))
    n = np.add.reduceat(rows, first) if len(rows) else rows
    return Boxes(mine[first], n, theirs[first], n, np.ones(len(first), dtype=np.bool_))
