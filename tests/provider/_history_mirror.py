"""Plain Python that knows, row by row, what became of datasets: every row has a mark that no other has.

The mirror reads files with pyarrow, and asks nothing of what it is to check.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path

import pyarrow.parquet as pq

Row = str
"""The mark of a row; ``'`` is added where a file was copied, and its rows have their marks twice."""


def mark(row: Row) -> str:
    """The value of a row's column ``mark``."""
    return row.rstrip("'")


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was once; a file of another size or time is another one."""

    place: str
    size: int
    time: int
    rows: list[Row] = field(compare=False)
    """Filled in by `Mirror.settle`."""
    seen: int = field(compare=False)
    """The number of the operation that made it."""


@dataclass(frozen=True)
class State:
    """The files of a dataset at one time, by path; row ids count through them."""

    dataset: str
    files: tuple[File, ...]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for file in self.files for row in file.rows)

    @cached_property
    def has(self) -> frozenset[Row]:
        return frozenset(self.rows)

    @cached_property
    def id(self) -> str:
        """The version's id, as docs/format.md says."""
        text = f"file\0{self.dataset}\0"
        for file in self.files:
            text += f"{file.place[len(self.dataset) :].strip('/')}\0{file.size}\0{file.time}\n"
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def of_days(self, days: Iterable[int]) -> State:
        """What Spark reads of a dataset with a folder for each day."""
        folders = {f"day={day}" for day in days}
        return State(self.dataset, tuple(f for f in self.files if not folders.isdisjoint(f.place.split("/"))))


@dataclass(eq=False)
class Wrote:
    """A captured write: what it read, what it made, what lay there then."""

    step: Step
    reads: tuple[State, ...]
    out: State
    made: frozenset[File]
    local: bool = False
    """Whether the script made its rows itself."""
    parents: dict[Row, tuple[Row, ...]] = field(default_factory=dict)
    """Of each row that it made, the rows that it was made of."""


@dataclass(eq=False)
class Step:
    """A captured try of a task."""

    run: str
    task: str
    map_index: int
    number: int
    id: str = ""
    good: bool = False
    writes: list[Wrote] = field(default_factory=list)

    @property
    def task_instance(self) -> tuple[str, str, int]:
        return self.run, self.task, self.map_index


class Mirror:
    """What happened to the datasets of a history.

    Parameters
    ----------
    datasets : iterable of path
    """

    def __init__(self, datasets: Iterable[Path]) -> None:
        self.steps: list[Step] = []
        self.instants: list[tuple[datetime, int]] = []
        """Times between operations, each with the number of steps that had ended."""
        self.removed: dict[File, Step | None] = {}
        """By whose write a file was removed; None where it was not by a captured write."""
        self.number = 0
        self._files: dict[tuple[str, int, int], File] = {}
        self._unread: list[File] = []
        self._made_of: dict[Row, list[str]] = {}
        self.disk = {str(d): State(str(d), ()) for d in datasets}

    def look(self, by: Step | None = None) -> None:
        """See what lies on the disk now; what is not there any more was removed by a write of a step, or by hand."""
        for dataset, was in self.disk.items():
            now = State(dataset, tuple(self._listed(dataset)))
            for file in set(was.files) - set(now.files):
                self.removed[file] = by
            for file in set(now.files) - set(was.files):
                self.removed.pop(file, None)
            self.disk[dataset] = now

    def _listed(self, dataset: str) -> Iterator[File]:
        found = [dataset] if Path(dataset).is_file() else []
        for folder, folders, names in os.walk(dataset):
            folders[:] = [f for f in folders if f[0] not in "_."]
            found += [f"{folder}/{name}" for name in names if name[0] not in "_."]
        for place in sorted(found):
            stat = Path(place).stat()
            key = place, stat.st_size, stat.st_mtime_ns // 10**6
            if key not in self._files:
                self._files[key] = File(*key, [], self.number)
                self._unread.append(self._files[key])
            yield self._files[key]

    def settle(self) -> None:
        """Read new files; not while a step is captured, which would see it."""
        for file in self._unread:
            table = pq.read_table(file.place, columns=["mark", "made_of"], partitioning=None)
            for row, made_of in zip(table["mark"].to_pylist(), table["made_of"].to_pylist(), strict=True):
                while row in self._made_of:
                    row += "'"
                self._made_of[row] = made_of or []
                file.rows.append(row)
        self._unread.clear()

    def wrote(self, step: Step, dataset: Path, reads: Iterable[State], local: bool = False) -> None:
        """Take in a write that has just ended."""
        before = set(self.disk[str(dataset)].files)
        self.look(step)
        out = self.disk[str(dataset)]
        step.writes.append(Wrote(step, tuple(reads), out, frozenset(set(out.files) - before), local))

    def tried(self, step: Step) -> None:
        """Take in a try that has just ended."""
        self.steps.append(step)
        self.look()
        self.settle()
        for w in step.writes:
            by_mark = {mark(row): row for state in w.reads for row in state.rows}
            new = [row for file in w.made for row in file.rows]
            w.parents = {row: tuple(by_mark[m] for m in self._made_of[row]) for row in new}

    def knows(self, dataset: Path) -> None:
        """Look at one more dataset from now on."""
        self.disk.setdefault(str(dataset), State(str(dataset), tuple(self._listed(str(dataset)))))

    def ended(self, at: datetime) -> None:
        """Note that an operation is over."""
        self.look()
        self.settle()
        self.instants.append((at, len(self.steps)))
        self.number += 1

    @property
    def writes(self) -> list[Wrote]:
        return [w for step in self.steps for w in step.writes]

    def versions(self) -> dict[tuple[str, str], State]:
        """Every version that a captured step wrote or read, by dataset and id."""
        states = [s for w in self.writes for s in (*w.reads, w.out)]
        return {(s.dataset, s.id): s for s in states}

    def file_of(self) -> dict[Row, File]:
        return {row: file for file in self._files.values() for row in file.rows}

    def strange(self, dataset: str) -> list[File]:
        """Files of a dataset that no captured write made: those on disk, and those that a captured write read."""
        made = {file for w in self.writes for file in w.made}
        seen = [f for w in self.writes for s in (*w.reads, w.out) if s.dataset == dataset for f in s.files]
        return [file for file in dict.fromkeys((*self.disk[dataset].files, *seen)) if file not in made]


class Expected:
    """What answers are to say, under some of `run`, `as_of` and neither.

    Parameters
    ----------
    run : str, optional
    ended : int, optional
        How many steps had ended at the time that ``as_of`` names.
    """

    def __init__(self, mirror: Mirror, run: str | None = None, ended: int | None = None) -> None:
        self.mirror, self.run = mirror, run
        self.by_disk = run is None and ended is None
        self.back = [w for step in mirror.steps[:ended] for w in step.writes]
        self.among = [w for w in self.back if run in (None, w.step.run)]
        self._superseded = self._tries(mirror.steps[:ended], run)
        self.ahead = self._counting()
        self.file_of = mirror.file_of()
        self.children: dict[Row, list[Row]] = {}
        for w in self.ahead:
            for row, parents in w.parents.items():
                for parent in parents:
                    self.children.setdefault(parent, []).append(row)
        self.read = {file for w in self.ahead for state in w.reads for file in state.files}
        self.maker = {row: w for w in self.back for row in w.parents}
        self.dataset_of = {row: s.dataset for s in mirror.versions().values() for row in s.rows}
        self.dataset_of |= {row: s.dataset for s in mirror.disk.values() for row in s.rows}

    @staticmethod
    def _tries(steps: list[Step], run: str | None) -> set[Step]:
        """Tries that a later try of the same task made good."""
        last: dict[tuple[str, str, int], int] = {}
        for step in steps:
            if step.good and run in (None, step.run):
                last[step.task_instance] = step.number
        return {step for step in steps if last.get(step.task_instance, 0) > step.number}

    def _counting(self) -> list[Wrote]:
        """The writes that count: not those of superseded tries, unless a write that counts uses their files."""
        count = [w for w in self.among if w.step not in self._superseded]
        while True:
            used = {file for w in count for state in (*w.reads, w.out) for file in state.files}
            more = [w for w in self.among if w not in count and used & w.made]
            if not more:
                return [w for w in self.among if w in count]
            count += more

    def current(self, dataset: str) -> list[State]:
        """The versions that may be the current one; any is right. Empty where the steps don't know the dataset."""
        if self.by_disk:
            return self._by_disk(dataset)
        good = [w for w in self.among if w.step.good]
        wrote = [w.out for w in good if w.out.dataset == dataset][-1:]
        read = [w for w in self.among if any(s.dataset == dataset for s in w.reads)][-1:]
        failed = [w.out for w in self.among if w.out.dataset == dataset][-1:]
        return wrote or [s for w in read for s in w.reads if s.dataset == dataset] or failed

    def _by_disk(self, dataset: str) -> list[State]:
        known = [s for (name, _), s in self.mirror.versions().items() if name == dataset]
        disk = set(self.mirror.disk[dataset].files)
        same = [s for s in known if set(s.files) == disk]
        captured = {f for w in self.back for f in w.made} & disk
        return same or [s for s in known if captured <= set(s.files)] or known

    def live(self, row: Row) -> bool:
        """Whether a row is in the current version of its dataset."""
        dataset, file = self.dataset_of[row], self.file_of[row]
        if self.by_disk:
            return any(file in state.files for state in self.mirror.disk.values())
        return any(file in state.files for state in self.current(dataset))

    def descendants(self, row: Row) -> set[Row]:
        """What came of a row, over any number of writes."""
        found: set[Row] = set()
        waiting = [row]
        while waiting:
            new = set(self.children.get(waiting.pop(), ())) - found
            found |= new
            waiting += new
        return found

    def forward(self, row: Row, to: str | None) -> tuple[set[Row], set[Row]]:
        """What `forward` tells of a row: rows of current versions, and rows that are gone."""
        found = self.descendants(row)
        if to is None:
            found = {r for r in (*found, row) if self.file_of[r] not in self.read}
        else:
            found = {r for r in found if self.file_of[r].place.startswith(f"{to}/")}
        live = {r for r in found if self.live(r)}
        return live, found - live

    def backward(self, row: Row, to: str | None) -> set[tuple[str, Row]]:
        """What `backward` tells of a row of a version: rows, each with the version that was read."""
        found: set[tuple[str, Row]] = set()
        waiting, done = [row], set()
        while waiting:
            here = waiting.pop()
            w = self.maker.get(here)
            for parent in w.parents[here] if w else ():
                for state in w.reads if w else ():
                    if parent in state.has:
                        met = state.dataset == to if to else parent not in self.maker
                        found |= {(state.id, parent)} if met else set()
                if parent not in done:
                    done.add(parent)
                    waiting.append(parent)
        return found

    def ancestors(self, row: Row) -> set[Row]:
        """What a row came from, over any number of writes."""
        found: set[Row] = set()
        waiting = [row]
        while waiting:
            w = self.maker.get(here := waiting.pop())
            new = set(w.parents[here]) - found if w else set()
            found |= new
            waiting += new
        return found

    def made_by_scripts(self, row: Row) -> set[Row]:
        """The rows behind a row, and itself, that scripts made of values of their own."""
        behind = {row, *self.ancestors(row)} & self.maker.keys()
        return {r for r in behind if self.maker[r].local}

    def removers(self, row: Row) -> set[str]:
        """The steps that `gone` may name for a row; one, where a captured write removed its file."""
        file = self.file_of[row]
        by = self.mirror.removed.get(file)
        counted = {w.step for w in self.among}
        if by is not None and by in counted and by.writes:
            return {by.id}
        dataset = self.dataset_of[row]
        lists = [w for w in self.among if w.out.dataset == dataset]
        last = max((i for i, w in enumerate(lists) if file in w.out.files), default=-1)
        return {"", *(w.step.id for w in lists[last + 1 : last + 2])}
