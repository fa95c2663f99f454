"""Current versions of datasets, and the row ids that the same rows have in other versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from provspark.index_store.query.gone_rows import Gone, GoneRows
from provspark.index_store.query.graph import Graph
from provspark.index_store.query.links import between
from provspark.index_store.query.nodes import FileIdentity, VersionReference
from provspark.index_store.query.relation import compose, identity, image, restrict
from provspark.index_store.query.walk import Stand
from provspark.index_store.values.listing import Listed
from provspark.model.boxes import Boxes
from provspark.model.boxes.pairs import concat, sort, transpose
from provspark.model.datasets import Dataset, Files
from provspark.model.errors import UnknownDatasetError
from provspark.model.progress import check
from provspark.model.runs import Runs
from provspark.model.stops import Stop
from provspark.model.times import milliseconds
from provspark.model.wording import counted

__all__ = ["Brought", "Current", "Currents", "Moved", "VersionRule", "VersionUsed"]

VersionRule = Literal["disk", "last step", "run", "as_of", "version", "itself"]
"""How a version was chosen.

- ``disk``: the newest version whose files exist.
- ``last step``: the version of the last successful step, if the files can't be listed, and for a database table.
- ``run``: the latest version in the run.
- ``as_of``: the latest version at that time.
- ``version``: the question named it.
- ``itself``: a dataset on a driver, which has a version for each call.
"""

_SECOND = 1000
_CHOSEN: dict[VersionRule, str] = {
    "disk": "newest version whose files exist",
    "last step": "version of the last successful step",
    "run": "latest version in the run",
    "as_of": "latest version at that time",
    "version": "the requested version",
    "itself": "the version of that call on the driver",
}


@dataclass(frozen=True, slots=True, order=True)
class VersionUsed:
    """The version of a dataset that an answer's row ids refer to.

    Parameters
    ----------
    dataset, version : str
    rule : {"disk", "last step", "run", "as_of", "version", "itself"}
        See `VersionRule`.
    why : str
        With ``last step``, why the files could not be listed; empty for a database table.
    missing, unknown : int
        With ``disk``: files of the version that do not exist, and existing files that are not part of it. Of a database
        table, `unknown` counts later steps that read another state of it.
    age : float
        With ``disk``: how many seconds ago the files were listed; 0 for a local disk.
    """

    dataset: str
    version: str
    rule: VersionRule
    why: str = ""
    missing: int = 0
    unknown: int = 0
    age: float = 0.0

    def __str__(self) -> str:
        chosen = "version with the most existing files" if self.missing else _CHOSEN[self.rule]
        more = [self.why, *self._files()]
        more.append(f"listed {self.age:.0f} seconds ago" if self.age else "")
        return f"version {self.version} of {self.dataset} ({'; '.join([chosen, *filter(None, more)])})"

    def _files(self) -> Iterator[str]:
        if self.missing:
            yield f"{counted(self.missing, 'file')} of it {'is' if self.missing == 1 else 'are'} missing"
        if self.unknown and self.rule == "last step":
            yield f"the table changed later: {counted(self.unknown, 'step')} read another state of it"
        elif self.unknown:
            yield f"{counted(self.unknown, 'other file')} in the folder"


@dataclass(frozen=True, slots=True, eq=False)
class Current:
    """The current version of a dataset."""

    at: VersionReference
    rule: VersionRule
    missing: frozenset[int] = frozenset()
    """Numbers of its files that do not exist."""
    unknown: tuple[tuple[str, int], ...] = ()
    """Paths and times of existing files that it lacks and that no captured step wrote (or read, if none wrote the
    dataset); for a database table, later steps that read another state, with their end times."""
    apart: tuple[tuple[str, int], ...] = ()
    """The same for files that captured steps wrote (or read), but that no version has together with its files."""
    why: str = ""
    age: float = 0.0
    moved: dict[object, Moved] = field(default_factory=dict)
    """Results of `Currents.moved` so far, by the key of the other version."""

    @property
    def lost(self) -> Runs:
        """The rows of its missing files."""
        missing = np.array(sorted(self.missing), dtype=np.int64)
        return self.at.files.runs(missing)

    @property
    def used(self) -> VersionUsed:
        """The version, as answers report it."""
        version = self.at.version
        return VersionUsed(
            str(version.dataset),
            version.id,
            self.rule,
            self.why,
            len(self.missing),
            len(self.unknown) + len(self.apart),
            self.age,
        )

    def stops(self, foreign: Sequence[tuple[str, int]], since: int = 0) -> Iterator[Stop]:
        """Yield the stops for files of no captured step and for files of other versions, without older ones.

        Parameters
        ----------
        foreign : sequence of (path, time)
            Files that no captured step wrote.
        since : int
            Time in milliseconds before which files are ignored.
        """
        table = self.at.version.format == "jdbc"
        for files, why in ((foreign, _another_state if table else _unwritten), (self.apart, _spread)):
            # Some file systems store whole seconds, so a file of the same second may be newer.
            fresh = [path for path, time in files if time >= since // _SECOND * _SECOND]
            if fresh:
                yield self._stop(why(fresh))

    def lacking(self) -> Stop:
        """Return the stop for missing files of the version."""
        gone = [self.at.files.paths[i] for i in sorted(self.missing)]
        are, have = ("are", "have") if len(gone) > 1 else ("is", "has")
        return self._stop(f"{_said(gone)} of this version {are} missing or {have} changed")

    def _stop(self, why: str) -> Stop:
        """Return a stop at the step that wrote or read the version."""
        node, dataset = self.at.node, self.at.version.dataset
        return Stop("files", node.step, str(node.write.output.dataset), f"in {dataset}, {why}")


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """The row ids that the rows of a version have in another version."""

    at: VersionReference
    """The other version."""
    boxes: Boxes | None
    """From row to row; None if each row has the same id in both."""
    lost: Runs
    """The rows that the other version lacks."""
    stays: Runs = field(default_factory=lambda: Runs.span(0))
    """Rows that it lacks although their files exist; they are not in `lost`."""
    refused: tuple[tuple[Runs, str], ...] = ()
    """Rows that can't be located in it, and why."""

    def stops(self, at: VersionReference, rows: Runs) -> set[Stop]:
        """Return the stops for given rows that can't be located in it."""
        step, dataset = at.node.step, str(at.version.dataset)
        return {Stop("unlinked", step, dataset, why) for some, why in self.refused if some & rows}


@dataclass(frozen=True, slots=True)
class Brought:
    """The rows that a walk reached, converted to current versions."""

    stands: tuple[Stand, ...]
    older: tuple[Stand, ...]
    """Rows that are in no current version, in the versions in which they were found."""
    stops: tuple[Stop, ...]


class Currents:
    """Finds and caches the current versions of a graph's datasets. Threads may share an instance.

    Parameters
    ----------
    graph : Graph
        Only its steps count.
    rule : {"disk", "run", "as_of"}
        Whether the existing files decide, or only the steps of the graph.
    partial : bool
        Whether the graph leaves out steps that the user may not see. Files that no step wrote are then not reported, as
        one of those steps may have written them.
    """

    def __init__(self, graph: Graph, rule: VersionRule = "disk", *, partial: bool = False) -> None:
        self.graph = graph
        self.rule = rule
        self._partial = partial
        self._known: dict[Dataset, tuple[object, Current]] = {}
        """By dataset, the state of its files (None if files don't decide) and the current version for this state."""
        self._gone_rows = GoneRows(graph)

    def of(self, dataset: Dataset, *, ask: bool = True) -> Current:
        """Return the current version of a dataset.

        Parameters
        ----------
        ask : bool
            If False, only files on a local disk are listed.

        Raises
        ------
        UnknownDatasetError
        """
        files, known = self._known.get(dataset, ((), None))
        if known is None and (sure := self._without_files(dataset)):
            files, known = self._known[dataset] = None, sure
        if known is not None and files is None:
            return known
        from provspark.index_store.values.listing import listing

        listed = listing(dataset, ask=ask)
        removed = listed.absent and self._has_neighbour(dataset)
        state = listed.files if removed else listed.why or listed.files
        if known is None or files != state:
            if listed.why and not removed:
                known = Current(self.graph.latest(dataset), "last step", why=listed.why)
            else:
                known = self._on_disk(dataset, listed.files)
            self._known[dataset] = state, known
        return replace(known, age=listed.age) if listed.age else known

    def stands(self, current: Current) -> bool:
        """Whether a version is still the current version of its dataset."""
        now = self.of(current.at.version.dataset)
        return now.moved is current.moved  # `of` returns copies that differ in age; they share `moved`

    def _has_neighbour(self, dataset: Dataset) -> bool:
        """Whether another dataset exists in or above the nearest existing folder, which means this one was removed."""
        folder = next((f for f in Path(dataset.name).parents if f.exists()), Path("/"))
        if folder == Path("/"):
            return False
        names = (d.name for d in self.graph.datasets() if d.namespace == dataset.namespace and d != dataset)
        near = (n for n in names if n.startswith(f"{folder}/") or f"{folder}/".startswith(f"{n}/"))
        return any(Path(name).exists() for name in near)

    def _without_files(self, dataset: Dataset) -> Current | None:
        """Return the current version of a dataset if files don't decide it; else None."""
        if self.rule != "disk":
            return Current(self.graph.latest(dataset), self.rule)
        last = self.graph.latest(dataset)
        if _stands_for_itself(dataset):
            return Current(last, "itself")
        if last.version.format != "jdbc":
            return None
        return Current(last, "last step", unknown=_read_since(last, self.graph.references(dataset)))

    def _on_disk(self, dataset: Dataset, listed: tuple[Listed, ...]) -> Current:
        """Find the version with the most existing files, then the fewest missing ones, then the newest."""
        candidates = self.graph.references(dataset)
        there = Files.of((path, size, mtime, 0, False) for path, size, mtime in listed)
        name = there.identity(dataset)
        if any(s.version.id == name for s in candidates):
            return Current(self.graph.find(dataset, name), "disk")
        files = set(listed)
        captured = self._captured(dataset, listed)

        def fits(s: VersionReference) -> tuple[int, int, int, str]:
            check()
            there = files.intersection(_listed(s))
            lacks = s.version.n_files - len(there) if there else 0
            return len(there & captured), len(there), -lacks, s.node.manifest.ended

        best = self.graph.find(dataset, max(candidates, key=fits).version.id)
        known = {entry: i for i, entry in enumerate(_listed(best))}
        missing = frozenset(i for entry, i in known.items() if entry not in files)
        # Spark reads subfolders that are not partitions only with recursiveFileLookup, as such files of `best` show.
        deep = any(not _partitioned(path) for path in best.files.paths)
        more = [e for e in listed if e not in known and (deep or _partitioned(e[0]))]
        unknown = self.told([e for e in more if e not in captured])
        apart = [e for e in more if e in captured]
        return Current(best, "disk", missing, _with_times(unknown), _with_times(apart))

    def derived(self, dataset: Dataset) -> bool:
        """Whether captured steps wrote a dataset, or a folder above it or inside it."""
        return any(True for _ in self.graph.written.related(dataset))

    def _captured(self, dataset: Dataset, listed: Iterable[Listed]) -> set[Listed]:
        """Return the files that captured steps wrote or, if none wrote the dataset, those that they read."""
        places = _places(dataset, listed)
        written = self.derived(dataset)
        captured = set()
        for s in (self.graph.written if written else self.graph.read).related(dataset):
            check()
            own = s.files.written.tolist() if written else None
            captured |= {places[place] for place, i in s.places() if place in places and (own is None or own[i])}
        return captured

    def told(self, files: list[Listed]) -> list[Listed]:
        """Return files that no step wrote, or none if the graph is partial."""
        return [] if self._partial else files

    def moved(self, at: VersionReference, current: Current) -> Moved:
        """Return the row ids of a version's rows in the current version."""
        moved = current.moved.get(at.key)
        if moved is None:
            moved = self._moved(at, current.at, current.missing)
            if current.apart and moved.lost:
                apart = {path for path, _ in current.apart}
                which = [i for i, path in enumerate(at.files.paths) if path in apart]
                stays = Runs.united(at.files.bases[which], at.files.rows[which]) & moved.lost
                moved = replace(moved, lost=moved.lost - stays, stays=stays)
            current.moved[at.key] = moved
        return moved

    def _moved(self, at: VersionReference, to: VersionReference, missing: frozenset[int] = frozenset()) -> Moved:
        nothing = Runs.span(0)
        if at.key == to.key and not missing:
            return Moved(to, None, nothing)
        if at.version.format == to.version.format == "jdbc":
            return self._through_appends(at, to)
        links = between(at, to, missing)
        boxes = concat([link.boxes for link in links.links])
        return Moved(to, boxes, links.loose, refused=tuple((r.rows, r.why) for r in links.refused))

    def _through_appends(self, at: VersionReference, to: VersionReference) -> Moved:
        """Follow the rows of a table's version through the appends that kept them."""
        every = Runs.span(at.version.rows)
        ways = {at.version.id: identity(every)}
        waiting, carried = [at.version.id], Runs.span(0)
        appends = list(self._appends(at.version.dataset))
        while waiting:
            here = waiting.pop()
            for was, now, kept in appends:
                if was == here and now not in ways:
                    ways[now] = compose(ways[here], kept)
                    waiting.append(now)
                    if was == at.version.id:
                        carried |= Runs.united(kept.out, kept.n_out)
        boxes = ways.get(to.version.id)
        if boxes is not None:
            return Moved(to, boxes, every - Runs.united(boxes.out, boxes.n_out))
        return Moved(to, Boxes.empty(), every - carried)

    def _appends(self, dataset: Dataset) -> Iterator[tuple[str, str, Boxes]]:
        """Yield for each append to a table the version before, the version after, and the new row ids."""
        for s in self.graph.written.by_name.get(dataset, ()):
            write, last = s.node.write, len(s.node.write.axes) - 1
            if last < 1 or write.axes[last].role != "input":
                continue
            was = s.node.inputs[write.axes[last].version]
            tensors = [t for t in write.tensors if t.src == last and t.out == 0]
            if was.version.dataset == dataset and len(tensors) == 1 and tensors[0].edges == was.version.rows:
                whole = Runs.span(was.version.rows)
                there = s.node.reader(tensors[0], "src").lookup(whole.starts, whole.lengths)
                yield was.version.id, s.version.id, transpose(there)

    def located(self, at: VersionReference, current: Current) -> Moved:
        """Return the row ids of a version's rows in another version, which may be older."""
        to = current.at
        moved = self._moved(at, to, current.missing)
        if moved.boxes is not None and not len(moved.boxes) and at.version.format == "jdbc":
            back = self._moved(to, at).boxes
            boxes = Boxes.empty() if back is None else sort(transpose(back))
            return Moved(to, boxes, Runs.span(at.version.rows) - Runs.united(boxes.out, boxes.n_out))
        return moved

    def known(self, dataset: Dataset, here: dict[Dataset, Current]) -> Current | None:
        """Return the current version of a dataset, cached in `here`; None if it has none.

        Datasets on drivers have none, nor do datasets that the graph does not know.
        """
        if dataset not in here and not _stands_for_itself(dataset):
            with suppress(UnknownDatasetError):
                here[dataset] = self.of(dataset)
        return here.get(dataset)

    def bring(self, stands: Iterable[Stand], here: dict[Dataset, Current]) -> Brought:
        """Convert rows to the current versions of their datasets.

        Parameters
        ----------
        here : dict
            The current versions that the answer has used so far. New ones are added, so each dataset is listed once.
        """
        live: list[Stand] = []
        older: list[Stand] = []
        stops: set[Stop] = set()
        for s in stands:
            check()
            current = self.known(s.at.version.dataset, here)
            if current is None:
                live.append(s)
                continue
            moved = self.moved(s.at, current)
            if moved.boxes is None:
                live.append(s)
                continue
            there = compose(s.boxes, moved.boxes)
            if len(there) and s.at.version.format != "jdbc":  # a walk follows rows of a table through its appends
                live.append(replace(s, at=moved.at, boxes=there))
            stays = restrict(s.boxes, moved.stays) if moved.stays else Boxes.empty()
            if len(stays):
                live.append(replace(s, boxes=stays))
            lost = restrict(s.boxes, moved.lost) if moved.lost else Boxes.empty()
            if len(lost):
                older.append(replace(s, boxes=lost, gone=True))
            if moved.refused:
                stops |= moved.stops(s.at, image(s.boxes))
        return Brought(tuple(live), tuple(older), tuple(sorted(stops)))

    def within(self, stands: Iterable[Stand], current: Current) -> tuple[Stand, ...]:
        """Convert rows of other datasets to a current version, without those whose files it lacks."""
        moved = []
        for s in stands:
            boxes = self._moved(s.at, current.at, current.missing).boxes
            there = s.boxes if boxes is None else compose(s.boxes, boxes)
            if len(there):
                moved.append(replace(s, at=current.at, boxes=there))
        return tuple(moved)

    def gone(self, older: Iterable[Stand]) -> tuple[Gone, ...]:
        """Count rows that are in no current version, each once, by the step after which their files were missing."""
        return self._gone_rows.count(older)


def _read_since(last: VersionReference, known: Iterable[VersionReference]) -> tuple[tuple[str, int], ...]:
    """Return the steps that read another state of a table after it was last written, with their end times."""
    ended, id = last.node.manifest.ended, last.version.id
    later = (s.node.manifest for s in known if s.version.id != id and s.node.manifest.ended > ended)
    return tuple((m.step, milliseconds(m.ended)) for m in later)


def _said(paths: Sequence[str]) -> str:
    """Return a text that names some files; the path of a dataset that is a single file is empty."""
    more = len(paths) - 1
    first = paths[0] or "the file"
    return f"{first} and {counted(more, 'more file')}" if more else first


def _unwritten(paths: Sequence[str]) -> str:
    return f"no captured step is known to have written {_said(paths)}"


def _spread(paths: Sequence[str]) -> str:
    are = "is" if len(paths) == 1 else "are"
    return (
        f"{_said(paths)} {are} in another captured version, but not in the current one; no single version has all "
        f"files that exist now"
    )


def _another_state(steps: Sequence[str]) -> str:
    more = f" and {len(steps) - 1:,} more" if len(steps) > 1 else ""
    return f"step {steps[0]}{more} read a state of the table that the last captured write did not leave"


def _stands_for_itself(dataset: Dataset) -> bool:
    return dataset.namespace.startswith("memory")


def _listed(at: VersionReference) -> Iterator[Listed]:
    """Yield the files of a version in the form of a listing."""
    files = at.files
    return zip(files.paths, files.sizes.tolist(), files.mtimes.tolist(), strict=True)


def _places(dataset: Dataset, files: Iterable[Listed]) -> dict[FileIdentity, Listed]:
    base = dataset.name.rstrip("/")
    return {(dataset.namespace, f"{base}/{p}" if p else dataset.name, n, t): (p, n, t) for p, n, t in files}


def _with_times(files: Iterable[Listed]) -> tuple[tuple[str, int], ...]:
    return tuple((path, time) for path, _, time in files)


def _partitioned(path: str) -> bool:
    """Whether a file is where Spark looks for it: in the folder, or in folders of partitions."""
    return all("=" in part for part in path.split("/")[:-1])
