"""Runs the slices of the tests, which tools/slices.toml lists.

`docs/matrix.md` records the commit that each slice last passed on. A change touches a slice if a file of the slice
differs from that commit. docs/testing.md describes how continuous integration chooses slices.
"""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
SLICES = ROOT / "tools" / "slices.toml"
MATRIX = ROOT / "docs" / "matrix.md"
FIRST = "first"
"""The slice that every run of continuous integration begins with. Its minutes show how fast a machine is."""
AFTER_TRACKER = ("java", "plans", "tpc")
"""Slices that a change to the tracker runs before all others; one other version of Spark follows them."""
FAMILIES = "tests/tracker/families"
"""Where every slice of a further version of Spark runs the tests that are marked `since` a version."""
UNKNOWN = 10.0
"""Minutes that a slice may take which never passed."""
HEAD = """# Test slices

`make slice NAME` runs a slice. If it passes and all your changes are committed, the command updates its row in this
table. Commit this file too: continuous integration reads it to choose slices. [Testing](testing.md) has the details.

Minutes are those of the machine that ran the slice, with two processes at once.

| slice | tests | needs | last passed | commit | minutes |
| --- | --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of the tests, with the environment that it needs."""

    name: str
    about: str
    command: str = ""
    tests: tuple[str, ...] = ()
    """Without a command: files for pytest."""
    marks: str = "long"
    workers: int = 2
    sparks: tuple[str, ...] = ()
    """The versions of PySpark, one after the other; an empty one is the environment's."""
    env: tuple[tuple[str, str], ...] = ()
    needs: str = ""

    def script(self) -> str:
        """Return the bash script that runs the slice.

        It reads the folder of the virtual environment from VENV, and passes its arguments to pytest.
        """
        if self.command:
            return self.command
        marks = f'-m "{self.marks}"' if self.marks else ""
        pytest = f'"$VENV/bin/python" -m pytest {" ".join(self.tests)} {marks} -n {self.workers} --dist loadgroup "$@"'
        lines = [". tools/sparks.sh", ". tools/postgres.sh"]
        for version in self.sparks or ("",):
            if version:
                lines.append(f"folder=$(spark_folder {version})")
            lines.append(f"PYTHONPATH=$folder {pytest}" if version else pytest)
        if self.other_spark:
            lines.append(f'PYTHONPATH=$folder "$VENV/bin/python" -m pytest {FAMILIES} -m since -n {self.workers} "$@"')
        return "\n".join(lines)

    @property
    def other_spark(self) -> bool:
        """Whether the slice tests one further version of Spark."""
        return len(self.sparks) == 1


@dataclass(frozen=True, slots=True)
class Passed:
    """When a slice last passed."""

    commit: str
    day: str
    minutes: float


@dataclass(frozen=True, slots=True)
class Waiting:
    """A slice that a change touches."""

    slice: Slice
    since: float
    """Time of the first commit that it has not passed on, in seconds since 1970; 0 if it never passed."""
    minutes: float
    tracker: bool
    """Whether the change is one of the tracker."""

    def __str__(self) -> str:
        """Return the slice's name, and the date since which it has been waiting."""
        day = datetime.date.fromtimestamp(self.since) if self.since else "it was added"
        return f"{self.slice.name} (about {self.minutes:.0f} min, waiting since {day})"


class Repository:
    """Reads from git what changed since a commit."""

    def __init__(self, folder: Path = ROOT) -> None:
        self._folder = folder

    def _git(self, *args: str) -> str | None:
        done = subprocess.run(["git", *args], cwd=self._folder, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    def head(self) -> str:
        """Return the short name of the commit that is checked out."""
        return self._git("rev-parse", "--short=10", "HEAD") or ""

    def clean(self) -> bool:
        """Return whether all but docs/matrix.md is committed."""
        return self._git("status", "--porcelain", "--", ".", ":!docs/matrix.md") == ""

    def changed(self, commit: str) -> dict[str, float] | None:
        """Return the files that differ from a commit, each with the time of the earliest later commit that changes it.

        Times are in seconds since 1970; that of an uncommitted change is the current one. Return None if git does not
        know the commit.
        """
        known = self._git("diff", "--name-only", "--no-renames", commit, "--")
        new = self._git("ls-files", "--others", "--exclude-standard")
        if known is None or new is None:
            return None
        times: dict[str, float] = {}
        now = time.time()
        for line in (
            self._git("log", "--reverse", "--format=@%ct", "--name-only", f"{commit}..HEAD") or ""
        ).splitlines():
            if line.startswith("@"):
                when = float(line[1:])
            elif line:
                times.setdefault(line, when)
        return {file: times.get(file, now) for file in (*known.splitlines(), *new.splitlines())}


class Slices(dict[str, Slice]):
    """The slices by name, and the map from folders to slices."""

    def __init__(self, slices: Iterable[Slice], folders: dict[str, Sequence[str]]) -> None:
        super().__init__((each.name, each) for each in slices)
        self.folders = folders

    @classmethod
    def read(cls, path: Path = SLICES) -> Slices:
        """Read the slices from a file.

        Raises
        ------
        SystemExit
            If a folder names a slice that does not exist.
        """
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        for folder, names in tables["folders"].items():
            for name in names:
                if not fnmatch.filter(tables["slice"], name):
                    raise SystemExit(f"{path}: the folder {folder!r} names the slice {name!r}, which does not exist")
        return cls((_slice(name, fields) for name, fields in tables["slice"].items()), tables["folders"])

    def of(self, file: str) -> set[str]:
        """Return the names of the slices that a change of a file touches: those of the innermost folder listed."""
        around = [str(folder) for folder in (Path(file), *Path(file).parents) if str(folder) in self.folders]
        return {one for name in (self.folders[around[0]] if around else ()) for one in fnmatch.filter(self, name)}


def _slice(name: str, fields: dict[str, Any]) -> Slice:
    lists = {field: tuple(fields.pop(field, ())) for field in ("tests", "sparks")}
    return Slice(name=name, env=tuple(fields.pop("env", {}).items()), **lists, **fields)


def passed(path: Path = MATRIX) -> dict[str, Passed]:
    """Return when each slice last passed, as docs/matrix.md records it."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        cells = [cell.strip().strip("`") for cell in line.strip("|").split(" | ")]
        if line.startswith("| `") and cells[4]:
            found[cells[0]] = Passed(cells[4], cells[3], float(cells[5]))
    return found


def write(slices: Iterable[Slice], records: dict[str, Passed], path: Path = MATRIX) -> None:
    """Write docs/matrix.md."""
    rows = []
    for each in slices:
        one = records.get(each.name)
        last = [one.day, f"`{one.commit}`", f"{one.minutes:.1f}"] if one else ["never", "", ""]
        rows.append(f"| {' | '.join([f'`{each.name}`', each.about, each.needs, *last])} |\n")
    path.write_text(HEAD + "".join(rows), encoding="utf-8")


def waiting(slices: Slices, records: dict[str, Passed], git: Repository) -> list[Waiting]:
    """Return the slices that the change touches, in the order to run them: those that wait longest first.

    If the tracker changed, AFTER_TRACKER and one other version of Spark come before all others.
    """
    found = []
    for each in slices.values():
        one = records.get(each.name)
        files = git.changed(one.commit) if one else None
        if one is None or files is None:
            found.append(Waiting(each, 0.0, one.minutes if one else UNKNOWN, True))
        elif touching := [file for file in files if each.name in slices.of(file)]:
            tracker = any(file.startswith("tracker/") for file in touching)
            found.append(Waiting(each, min(files[file] for file in touching), one.minutes, tracker))
    found.sort(key=lambda one: one.since)
    before = [one for one in found if one.tracker and one.slice.name in AFTER_TRACKER]
    before += [one for one in found if one.tracker and one.slice.other_spark][:1]
    return before + [one for one in found if one not in before]


def choose(
    found: Iterable[Waiting], run: Callable[[Slice], bool], clock: Callable[[], float], limit: float, factor: float
) -> tuple[list[str], list[str], list[Waiting]]:
    """Run the slices that should end within the limit; return those that passed, that failed, and that did not run.

    Parameters
    ----------
    clock
        Returns the minutes since the start.
    limit
        Minutes that all slices together may take.
    factor
        How much longer than recorded a slice takes on this machine.
    """
    good: list[str] = []
    bad: list[str] = []
    left = []
    for one in found:
        if clock() + one.minutes * factor > limit:
            left.append(one)
        else:
            (good if run(one.slice) else bad).append(one.slice.name)
    return good, bad, left


class Runner:
    """Runs slices in an environment, and records those that pass."""

    def __init__(self, slices: Slices, venv: Path, options: Sequence[str] = ()) -> None:
        self._slices, self._venv, self._options, self._git = slices, venv, options, Repository()
        self.minutes = 0.0
        """Those of the slice that ran last."""

    def __call__(self, one: Slice) -> bool:
        """Run a slice and return whether it passed."""
        print(f"\n=== {one.name}: {one.about}", flush=True)
        commit, clean, begun = self._git.head(), self._git.clean(), time.monotonic()
        environment = {**dict(one.env), **os.environ, "VENV": str(self._venv)}
        bash = ["bash", "-euo", "pipefail", "-c", one.script(), one.name, *self._options]
        ok = subprocess.run(bash, cwd=ROOT, env=environment).returncode == 0
        self.minutes = (time.monotonic() - begun) / 60
        print(f"=== {one.name} {'passed' if ok else 'FAILED'} in {self.minutes:.1f} minutes", flush=True)
        if ok and not self._options and not set(os.environ) & {name for name, _ in one.env}:
            self._record(one, commit, clean)
        return ok

    def _record(self, one: Slice, commit: str, clean: bool) -> None:
        if not clean or commit != self._git.head() or not self._git.clean():
            print(f"Not recorded in {MATRIX.relative_to(ROOT)}: some changes are not committed.")
            return
        records = passed()
        records[one.name] = Passed(commit, datetime.date.today().isoformat(), self.minutes)
        write(self._slices.values(), records)


def show(slices: Slices, git: Repository) -> None:
    """Print for each slice what it needs, how long it took, and whether a change touches it since it last passed."""
    records = passed()
    touched = {one.slice.name for one in waiting(slices, records, git)}
    width = max(map(len, slices))
    for each in slices.values():
        one = records.get(each.name)
        last = f"{one.minutes:4.1f} min, passed {one.day}" if one else "never passed"
        changed = ", changed since" if one and each.name in touched else ""
        needs = f"; needs {each.needs}" if each.needs else ""
        print(f"{each.name:{width}}  {each.about}{needs} ({last}{changed})")


def ci(slices: Slices, run: Runner, spent: float, limit: float) -> int:
    """Run the slice `first`, then the slices that the change touches, if they are expected to end in time.

    Parameters
    ----------
    spent, limit
        Minutes that have passed already, and those that all may take.
    """
    begun = time.monotonic() - spent * 60
    records = passed()
    found = [one for one in waiting(slices, records, Repository()) if one.slice.name != FIRST]
    first = run(slices[FIRST])
    factor = max(1.0, run.minutes / records[FIRST].minutes) if FIRST in records else 1.5
    good, bad, left = choose(found, run, lambda: (time.monotonic() - begun) / 60, limit, factor)
    print(f"\nSlices that the change touches: {len(found)} of {len(slices) - 1}")
    print(f"This machine takes {factor:.1f} times the recorded minutes.")
    print(f"passed: {', '.join([FIRST] * first + good) or 'none'}")
    print(f"failed: {', '.join([FIRST] * (not first) + bad) or 'none'}")
    print(f"left for lack of time: {', '.join(map(str, left)) or 'none'}")
    return int(not first or bool(bad))


def matrix(slices: Slices, run: Runner, changed: bool) -> int:
    """Run all slices, or those that something changed in since they passed."""
    touched = [one.slice for one in waiting(slices, passed(), Repository())]
    bad = [one.name for one in (touched if changed else slices.values()) if not run(one)]
    print(f"\nfailed: {', '.join(bad) or 'none'}")
    return int(bool(bad))


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Run the tests in slices (docs/testing.md).")
    parser.add_argument("--venv", type=Path, default=Path(".venv"), help="the environment (default: .venv)")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="list the slices")
    one = commands.add_parser("run", help="run slices by name")
    one.add_argument("names", nargs="+", metavar="NAME")
    one.add_argument("--pytest", default="", help="more options for pytest; such a run is not recorded")
    every = commands.add_parser("matrix", help="run all slices")
    every.add_argument("--changed", action="store_true", help="only those that a change touches since they last passed")
    some = commands.add_parser("ci", help="run the slice `first` and the slices that the change touches")
    some.add_argument("--spent", type=float, default=0.0, help="minutes that have passed already (default: 0)")
    some.add_argument("--limit", type=float, default=60.0, help="minutes that all may take (default: 60)")
    given = parser.parse_args(args)
    slices = Slices.read()
    if given.command == "list":
        show(slices, Repository())
        return 0
    venv = given.venv.resolve()
    if given.command == "ci":
        return ci(slices, Runner(slices, venv), given.spent, given.limit)
    if given.command == "matrix":
        return matrix(slices, Runner(slices, venv), given.changed)
    unknown = [name for name in given.names if name not in slices]
    if unknown:
        parser.error(f"no slice is named {', '.join(unknown)}; there are {', '.join(slices)}")
    run = Runner(slices, venv, given.pytest.split())
    failed = [name for name in given.names if not run(slices[name])]
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
