"""Asks a history's store everything, and compares each answer with the mirror."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from _histories import DATASETS, Running
from _history_mirror import Expected, Row, State, mark

from provspark.api import Gone, Provenance, RowSet, Stop, Trace, gone_of, stops_of, versions_of
from provspark.errors import ConditionError, UnknownDatasetError, VersionChangedError


@dataclass(frozen=True, slots=True)
class Which:
    """Which steps count: the parameters of a question, and what the mirror expects of them."""

    given: dict[str, Any]
    expected: Expected

    def knows(self, dataset: str, back: bool = False) -> list[State]:
        """The versions of a dataset that these steps know."""
        writes = self.expected.back if back else self.expected.among
        return [s for w in writes for s in (*w.reads, w.out) if s.dataset == dataset]


class Asking:
    """Asks about the datasets of a history, at one moment of it.

    Parameters
    ----------
    running : Running
    prov : Provenance
    drawn : random.Random
        What chooses versions, runs, times and rows.
    """

    def __init__(self, running: Running, prov: Provenance, drawn: random.Random) -> None:
        self.mirror, self.folder = running.mirror, running.folder
        self.prov, self.of = prov, drawn
        self.names = [name for name in self.mirror.disk if Path(name).relative_to(self.folder).parts[0] in DATASETS]
        self.nested = running.history.by_path
        """Whether datasets lie in datasets: then rows have several names, and no version may have all files."""
        self.versions = self.mirror.versions()
        self.now = Expected(self.mirror)
        self.there = {file for state in self.mirror.disk.values() for file in state.files}
        self.known = [name for name in self.names if any(dataset == name for dataset, _ in self.versions)]
        self.written = {w.out.dataset for w in self.mirror.writes}

    def everything(self) -> None:
        """Ask by the files on disk, by versions, by a run, by a time, and by two of these together."""
        for dataset in self.names:
            for which in self._ways(dataset):
                self._about(dataset, which)
        for dataset in self.known:
            self.values(dataset)
            self.located(dataset)

    def _ways(self, dataset: str) -> Iterator[Which]:
        mirror = self.mirror
        yield Which({}, self.now)
        if self.nested:
            return
        run = self.of.choice([step.run for step in mirror.steps])
        yield Which({"run": self.of.choice([run, f"dag/{run}"])}, Expected(mirror, run))
        at, ended = self.of.choice(mirror.instants)
        when = self.of.choice([at, at.isoformat()])
        yield Which({"as_of": when}, Expected(mirror, None, ended))
        if any(step.run == run for step in mirror.steps[:ended]):
            yield Which({"as_of": when, "run": run}, Expected(mirror, run, ended))
        wrote = [step for step in mirror.steps if step.good and any(w.out.dataset == dataset for w in step.writes)]
        if wrote:
            yield Which({"run": "latest"}, Expected(mirror, wrote[-1].run))

    def _about(self, dataset: str, which: Which) -> None:
        known = which.knows(dataset)
        if not known:
            with pytest.raises(UnknownDatasetError):
                self.prov.select(dataset, **which.given)
            return
        self._ask(dataset, which, which.expected.current(dataset))
        if which.given.get("run") == "latest":
            return
        version = self.of.choice(known)
        self._ask(dataset, Which(which.given | {"version": version.id}, which.expected), [version])

    def _ask(self, dataset: str, which: Which, may_be: list[State]) -> None:
        """Ask forward and backward about all rows of a version, or about some."""
        at = self.prov.select(dataset, **which.given)
        found = [s for s in may_be if s.id == at.version]
        assert found, f"{at} is the version of {which.given}, and not one of {[s.id for s in may_be]}"
        state = found[0]
        assert list(at) == [i for i, row in enumerate(state.rows) if row in self._asked(state, None, which)]
        every = range(len(state.rows))
        rows = None if self.of.random() < 0.5 else sorted(self.of.sample(every, (len(every) + 1) // 2))
        for to in (None, *self.known):
            if to is None or which.knows(to):
                self.forward(state, rows, to, which, everything=self.of.random() < 0.3)
            if to is None or which.knows(to, back=True):
                self.backward(state, rows, to, which)
        self.traced(state, which)
        if not self.nested and self.of.random() < 0.5:
            self.siblings(state, which)
            self.cells(state, which)
            self.together(state, which)

    def _asked(self, state: State, rows: list[int] | None, which: Which) -> list[Row]:
        """The rows that a question is about; a dataset's name stands for those that are there."""
        if rows is not None:
            return [state.rows[i] for i in rows]
        there = "version" in which.given or not which.expected.by_disk
        return [row for row in state.rows if there or self.now.file_of[row] in self.there]

    def forward(self, state: State, rows: list[int] | None, to: str | None, which: Which, *, everything: bool) -> None:
        """Compare what is told of rows ahead."""
        expected, more = which.expected, {"versions": "all"} if everything else {}
        table = self.prov.forward(state.dataset, rows, to=to, **which.given, **more).table()
        asked = f"forward({state.dataset}, {rows}, to={to}, {which.given}, {more})"
        about = self._asked(state, rows, which)
        lost = set(state.rows) - set(about) if rows is None else set()
        answers = {row: expected.forward(row, to) for row in about}
        live, gone = ({(row, found) for row, both in answers.items() for found in both[i]} for i in (0, 1))
        lines = table.to_pylist()
        told = [(state.rows[x["row"]], self.row(x["dataset"], x["version"], x["related_row"])) for x in lines]
        found = {pair for pair, x in zip(told, lines, strict=True) if not x.get("gone")}
        if self.nested:
            self._within(asked, found, live, to, stopped=to in _named(stops_of(table)))
            return
        same(asked, found, live)
        if everything:
            same(f"{asked}: gone", {pair for pair, x in zip(told, lines, strict=True) if x["gone"]}, gone)
        once = Counter((x["row"], x["dataset"], x["version"], x["occurrence"], x["related_row"]) for x in lines)
        assert max(once.values(), default=1) == 1, f"{asked}: told twice: {once.most_common(3)}"
        self._versions(asked, state, table, which)
        self._gone(asked, gone_of(table), {found for _, found in gone} | lost, expected)
        self._stopped(asked, state, table)
        if expected.by_disk:
            self._beside(asked, state, about, to, table, which, everything=rows is None)
        if to and live and not everything:
            self._values_of(asked, table, {found for _, found in live})

    def _within(
        self, asked: str, found: set[tuple[Row, Row]], live: set[tuple[Row, Row]], to: str | None, *, stopped: bool
    ) -> None:
        """Where datasets lie in datasets, a row may be told under another name; what no version has, a stop tells."""
        known = {row for (dataset, _), state in self.versions.items() if dataset == to for row in state.rows}
        sure = {pair for pair in live if to is None or pair[1] in known}
        same = {(row, other) for row, other in found if row == other and self.now.live(row)}
        assert sure <= found <= live | same, f"{asked}: {found}, expected {sure} to {live | same}"
        assert sure == live or stopped, f"{asked}: no version has {live - sure}, and nothing says so"

    def row(self, dataset: str, version: str, number: int) -> Row:
        """The row of an id of a version."""
        return self.versions[path_of(dataset), version].rows[number]

    def _versions(self, asked: str, state: State, table: pa.Table, which: Which) -> None:
        """The answer says which versions its ids are of, what chose them, and that files are missing or unknown."""
        used = versions_of(table)
        assert (used[0].dataset, used[0].version) == (f"file://{state.dataset}", state.id), f"{asked}: {used}"
        named = "version" in which.given
        assert not named or used[0].rule == "version", f"{asked}: {used}"
        current = {path_of(u.dataset): u for u in used[1 if named else 0 :]}
        for dataset, one in current.items():
            may_be = {s.id: s for s in which.expected.current(dataset)}
            assert one.version in may_be, f"{asked}: {one}, and not one of {list(may_be)}"
            assert one.rule in self._rules(which.expected), f"{asked}: {one}"
            if one.rule == "disk":
                files, disk = (set(s.files) for s in (may_be[one.version], self.mirror.disk[dataset]))
                assert (one.missing, one.unknown) == (len(files - disk), len(disk - files)), f"{asked}: {one}"
        for line in table.to_pylist():
            if not line.get("gone"):
                assert line["version"] == current[path_of(line["dataset"])].version, f"{asked}: {line} {used}"

    def _rules(self, expected: Expected) -> set[str]:
        """What may have chosen a version: where all folders are gone, the disk may as well not be there."""
        if not expected.by_disk:
            return {"run" if expected.run else "as_of"}
        return {"disk"} if any((self.folder / name).exists() for name in DATASETS) else {"disk", "last step"}

    def _gone(self, asked: str, told: Iterable[Gone], rows: set[Row], expected: Expected) -> None:
        """Each row that is gone counts once, for the step that removed its file."""
        counts = Counter({(path_of(g.dataset), g.step): g.rows for g in told})
        may_be = {row: {(expected.dataset_of[row], step) for step in expected.removers(row)} for row in rows}
        wanted = {row: sorted(steps) for row, steps in sorted(may_be.items())}
        assert counts.total() == len(rows), f"{asked}: {counts} gone, expected {wanted}"
        for place, count in counts.items():
            sure = sum(steps == {place} for steps in may_be.values())
            most = sum(place in steps for steps in may_be.values())
            assert sure <= count <= most, f"{asked}: {counts} gone, expected {wanted}"

    def _stopped(self, asked: str, state: State, table: pa.Table) -> None:
        """Nothing stops an answer but files that nobody captured, or that the version in question has, or lacks."""
        stops, disk = stops_of(table), set(self.mirror.disk[state.dataset].files)
        assert {s.what for s in stops} <= {"files"}, f"{asked}: {stops}"
        for dataset in _named(stops):
            own = dataset == state.dataset and disk != set(state.files)
            assert own or self.nested or self.mirror.strange(dataset), f"{asked}: {stops}"

    def _beside(
        self,
        asked: str,
        state: State,
        rows: Iterable[Row],
        to: str | None,
        table: pa.Table,
        which: Which,
        *,
        everything: bool,
    ) -> None:
        """Files that nobody captured are told where rows asked about may have gone into them; what is left out, too."""
        expected, own = which.expected, state.dataset
        told = _named(stops_of(table))
        first = min((expected.file_of[row].seen for row in rows), default=len(self.mirror.instants))
        for dataset in self.written if to else ():
            later = [file for file in self.mirror.strange(dataset) if file.rows and file.seen > first]
            into = [f for f in later if f in self.there and dataset == to]
            into += [
                f
                for f in later
                if any(expected.dataset_of[r] == to for row in f.rows for r in expected.descendants(row))
            ]
            assert not into or dataset in told, f"{asked}: nobody captured {into}; stops: {stops_of(table)}"
        if "version" in which.given:
            return
        known = {f for s in which.knows(own) for f in s.files}
        more = {f for f in self.mirror.disk[own].files if f.rows and (own in self.written or f in known)}
        left_out = more - set(state.files) if everything else set()
        left_out |= {expected.file_of[row] for row in rows} - self.there
        assert not left_out or own in told, f"{asked}: {left_out} left out; stops: {stops_of(table)}"

    def _values_of(self, asked: str, table: pa.Table, rows: set[Row]) -> None:
        """The values of an answer are those of the rows that it found."""
        if not self.all_there(rows):
            with pytest.raises(VersionChangedError):
                self.prov.values(table, columns=["mark"]).table()
            return
        found = self.prov.values(table, columns=["mark"]).table()["mark"].to_pylist()
        assert sorted(found) == sorted(map(mark, rows)), f"values({asked}): {found}"

    def all_there(self, rows: Iterable[Row]) -> bool:
        return all(self.now.file_of[row] in self.there for row in rows)

    def backward(self, state: State, rows: list[int] | None, to: str | None, which: Which) -> None:
        """Compare what is told of rows behind."""
        expected = which.expected
        table = self.prov.backward(state.dataset, rows, to=to, **which.given).table()
        asked = f"backward({state.dataset}, {rows}, to={to}, {which.given})"
        wanted: set[tuple[Row, str, Row]] = set()
        by_scripts: Counter[Row] = Counter()
        for row in self._asked(state, rows, which):
            wanted |= {(row, *found) for found in expected.backward(row, to)}
            if to is None:
                by_scripts[row] += len(expected.made_by_scripts(row))
                wanted |= {(row, state.id, row)} if row not in expected.maker else set()
        lines = table.to_pylist()
        files = [x for x in lines if not x["dataset"].startswith("memory")]
        found = {
            (state.rows[x["row"]], x["version"], self.row(x["dataset"], x["version"], x["related_row"])) for x in files
        }
        if self.nested:  # a row may be told under several names
            may_be = {
                (row, other) for row in self._asked(state, rows, which) for other in (row, *expected.ancestors(row))
            }
            found_rows, wanted_rows = ({(row, other) for row, _, other in some} for some in (found, wanted))
            assert wanted_rows <= found_rows <= may_be, f"{asked}: {found_rows}, expected {wanted_rows} to {may_be}"
            assert to is None or all(self.now.file_of[other].place.startswith(f"{to}/") for *_, other in found), asked
        else:
            same(asked, found, wanted)
        told = Counter(state.rows[x["row"]] for x in lines if x["dataset"].startswith("memory"))
        assert told == +by_scripts, f"{asked}: {told} of scripts, expected {by_scripts}"
        self._stopped(asked, state, table)

    def siblings(self, state: State, which: Which) -> None:
        """Compare the rows that share a row behind them with rows asked about."""
        to, via = self.of.choice(self.known), self.of.choice(self.known)
        if not which.knows(to) or not which.knows(via, back=True):
            return
        expected = which.expected
        rows = sorted(self.of.sample(range(len(state.rows)), min(len(state.rows), 3)))
        table = self.prov.co_dependency(state.dataset, rows, to=to, via=via, **which.given).table()
        asked = f"co_dependency({state.dataset}, {rows}, to={to}, via={via}, {which.given})"
        wanted = set()
        for row in (state.rows[i] for i in rows):
            behind = [other for other in expected.ancestors(row) if expected.dataset_of[other] == via]
            wanted |= {(row, found) for other in behind for found in expected.forward(other, to)[0] if found != row}
        lines = table.to_pylist()
        same(
            asked,
            {(state.rows[x["row"]], self.row(x["dataset"], x["version"], x["related_row"])) for x in lines},
            wanted,
        )

    def cells(self, state: State, which: Which) -> None:
        """Each row's mark goes into the marks of the rows that it went into."""
        to = self.of.choice(self.known)
        if not which.knows(to):
            return
        table = self.prov.cells(state.dataset, columns="mark", direction="forward", to=to, **which.given).table()
        asked = f"cells({state.dataset}, to={to}, {which.given})"
        wanted = {
            (row, found) for row in self._asked(state, None, which) for found in which.expected.forward(row, to)[0]
        }
        lines = [x for x in table.to_pylist() if x["related_column"] == "mark"]
        same(
            asked,
            {(state.rows[x["row"]], self.row(x["dataset"], x["version"], x["related_row"])) for x in lines},
            wanted,
        )

    def together(self, state: State, which: Which) -> None:
        """Answers about parts of some rows, put together, are the answer about all of them."""
        rows = range(len(state.rows))
        some = sorted(self.of.sample(rows, self.of.randint(0, len(rows))))
        ask, given = self.prov.forward, which.given | {"version": state.id}
        both = ask(state.dataset, some, **given) | ask(state.dataset, [i for i in rows if i not in some], **given)
        whole = ask(state.dataset, rows, **given)
        assert both.table().to_pylist() == whole.table().to_pylist(), (state.dataset, some, given)
        assert gone_of(both.table()) == gone_of(whole.table()), (state.dataset, some, given)

    def traced(self, state: State, which: Which) -> None:
        """Compare the nodes of a trace, and where rows ended."""
        rows = self.of.sample(range(len(state.rows)), min(len(state.rows), 3))
        some = {state.rows[i] for i in rows}
        for direction in ("forward", "backward"):
            found = self.prov.trace(state.dataset, rows, direction, **which.given)
            asked = f"trace({state.dataset}, {rows}, {direction}, {which.given})"
            told = {r for n in found.nodes if not n.gone for r in self.met(n.dataset, n.version, n.met.rows().tolist())}
            same(asked, told | some, self.on_the_way(some, direction, which.expected) | some)
            if direction == "forward":
                self._ended(asked, found, some, which.expected)

    def met(self, dataset: str, version: str, rows: Iterable[int]) -> Iterator[Row]:
        return (self.row(dataset, version, i) for i in rows if not dataset.startswith("memory"))

    @staticmethod
    def on_the_way(rows: Iterable[Row], direction: str, expected: Expected) -> set[Row]:
        if direction == "backward":
            return {found for row in rows for found in expected.ancestors(row)}
        return {found for row in rows for found in expected.descendants(row) if expected.live(found)}

    def _ended(self, asked: str, found: Trace, rows: set[Row], expected: Expected) -> None:
        """Each write that read rows and kept not all of them is told, with how many; unless the others are gone."""
        met = {r for row in rows for r in (row, *expected.descendants(row))}
        shown = {r for n in found.nodes for r in self.met(n.dataset, n.version, n.met.rows().tolist())}
        wanted, may_be = {}, {}
        for w in expected.ahead:
            for state in w.reads:
                read = met & state.has
                kept = read & {parent for parents in w.parents.values() for parent in parents}
                if read - kept:
                    of = wanted if (read - kept) & shown else may_be
                    of[w.step.id, w.step.writes.index(w), state.id] = len(read), len(kept)
        told = {(e.step, e.write, e.version): (e.read, e.kept) for e in found.endings}
        assert {k: v for k, v in told.items() if k not in may_be} == wanted, f"{asked}: {told} ended, expected {wanted}"

    def values(self, dataset: str) -> None:
        """Values of rows of a version are those rows' marks, or their file has changed."""
        for version in (None, self.of.choice([v for d, v in self.versions if d == dataset])):
            at = self.prov.select(dataset, version=version)
            state = self.versions[dataset, at.version]
            kept = [i for i, row in enumerate(state.rows) if self.now.file_of[row] in self.there]
            found = self.prov.values(dataset, kept, version=version, columns=["mark"]).table()["mark"].to_pylist()
            assert found == [mark(state.rows[i]) for i in kept], (dataset, version, kept)
            if len(at):
                self._values_of(repr(at), self._as_answer(at), {state.rows[i] for i in at})
            if kept and (i := self.of.choice(kept)) and (version is None or len(kept) == len(state.rows)):
                one = self.prov.select(dataset, version=version, where=[("mark", "=", mark(state.rows[i]))])
                assert list(one) == [i], (dataset, version, i)

    @staticmethod
    def _as_answer(at: RowSet) -> pa.Table:
        names = {"dataset": [at.dataset] * len(at), "version": [at.version] * len(at)}
        return pa.table({"related_row": pa.array(at.rows(), pa.int64()), **names})

    def located(self, dataset: str) -> None:
        """Rows of a version stand in another one, or are gone; and back again."""
        versions = [v for d, v in self.versions if d == dataset]
        one, other = self.of.choice(versions), self.of.choice([None, *versions])
        state = self.versions[dataset, one]
        rows = sorted(self.of.sample(range(len(state.rows)), self.of.randint(0, len(state.rows))))
        some = self.prov.select(dataset, rows, version=one)
        found = self.prov.locate(some, into=other)
        there = self.versions[dataset, found.version]
        wanted = self.stand(state, rows, there, by_disk=other is None)
        asked = f"locate({dataset}, {rows} of {one}, {other})"
        assert other in (None, found.version), asked
        told = {x["row"]: x["located"] for x in found.table().to_pylist()}
        assert told == wanted, f"{asked}: {told}, expected {wanted}"
        assert all(x["gone"] == (x["located"] is None) for x in found.table().to_pylist()), asked
        kept = [row for row in rows if wanted[row] is not None]
        assert sorted(found) == sorted(wanted[row] for row in kept), asked
        assert list(found.gone) == [row for row in rows if row not in kept], asked
        assert list(self.prov.locate(found, into=one)) == kept, asked
        if found.version != one:
            with pytest.raises(ConditionError, match="be combined"):
                some | found
            with pytest.raises(ConditionError, match="already has its rows"):
                self.prov.forward(some, version=found.version).table()

    def stand(self, state: State, rows: Iterable[int], there: State, *, by_disk: bool) -> dict[int, int | None]:
        """Where rows of a version stand in another one."""
        file_of = self.now.file_of
        kept = {row: i for i, row in enumerate(there.rows) if not by_disk or file_of[row] in self.there}
        return {i: kept.get(state.rows[i]) for i in rows}


def same(asked: str, found: set[Any], wanted: set[Any]) -> None:
    assert found == wanted, f"{asked}\n  too much: {sorted(found - wanted)}\n  missing:  {sorted(wanted - found)}"


def _named(stops: Iterable[Stop]) -> set[str]:
    """The datasets of which some stops are."""
    return {path_of(stop.why.removeprefix("in ").split(", ")[0]) for stop in stops}


def path_of(dataset: str) -> str:
    return dataset.removeprefix("file://")
