"""The slices of the tests: each long test is in one, and a change runs those that import what it changed."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from test_imports import FOLDERS, ROOT, imported

sys.path.insert(0, str(ROOT / "tools"))
import slices as tool
from slices import Passed, Repository, Slice, Slices, Waiting

SLICES = Slices.read()
with (ROOT / "pyproject.toml").open("rb") as file:
    HELPERS = [ROOT / folder for folder in tool.tomllib.load(file)["tool"]["pytest"]["ini_options"]["pythonpath"]]
"""Folders of the tests' helpers."""


def module_of(path: Path) -> str:
    """The module that a file of the package is, or nothing."""
    for package, folder in sorted(FOLDERS.items(), key=lambda each: -len(each[0])):
        if path.is_relative_to(ROOT / folder):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            return ".".join([package, *(p for p in parts if p != "__init__")])
    return ""


def file_of(name: str, importer: Path) -> Path | None:
    """The file of the project that an import names."""
    packages = sorted((p for p in FOLDERS if name == p or name.startswith(p + ".")), key=len)
    if packages:
        roots, name = [ROOT / FOLDERS[packages[-1]]], name[len(packages[-1]) :].strip(".")
    else:
        roots = [ROOT] if module_of(importer) else [importer.parent, *HELPERS, ROOT / "tools", ROOT]
    bases = [root.joinpath(*name.split(".")) if name else root for root in roots]
    files = [f for base in bases for f in (base.with_suffix(".py"), base / "__init__.py")]
    return next((f for f in files if f.is_file()), None)


def needed(paths: list[Path]) -> set[Path]:
    """The files of the project that these import, and those that these import, …"""
    found: set[Path] = set()
    while paths:
        path = paths.pop()
        if path not in found:
            found.add(path)
            names = [name for name, _ in imported(module_of(path), path)]
            paths += [f for f in (file_of(name, path) for name in names) if f]
    return found


@pytest.mark.parametrize("one", [s for s in SLICES.values() if s.tests], ids=lambda s: s.name)
def test_a_slice_is_touched_by_all_that_it_imports(one: Slice) -> None:
    files = {str(path.relative_to(ROOT)) for path in needed([ROOT / test for test in one.tests])}
    assert len(files) > 10 or one.name in ("docs", "extras")
    assert not [file for file in sorted(files) if one.name not in SLICES.of(file)]


def test_what_families_add_to_the_oracle_touches_its_slices() -> None:
    """They are found by their folders, not by imports."""
    assert SLICES.of("tests/tracker/families/join/shapes.py") >= SLICES.of("tests/oracle/family_parts.py")


def long_tests() -> list[str]:
    paths = [p for p in sorted((ROOT / "tests").rglob("test_*.py")) if p != Path(__file__)]
    return [str(p.relative_to(ROOT)) for p in paths if re.search(r"mark\.long\b", p.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("path", long_tests())
def test_each_long_test_is_in_a_slice(path: str) -> None:
    assert [one.name for one in SLICES.values() if path in one.tests and one.marks in ("", "long")]


def test_files_of_slices_exist() -> None:
    for one in SLICES.values():
        assert bool(one.command) != bool(one.tests)
        assert [test for test in one.tests if not (ROOT / test).is_file()] == []
    assert [folder for folder in SLICES.folders if not (ROOT / folder).exists()] == []


def test_a_folder_that_names_an_unknown_slice(tmp_path: Path) -> None:
    path = tmp_path / "slices.toml"
    path.write_text('[slice.a]\nabout = "a"\ncommand = "true"\n[folders]\nx = ["b"]\n')
    with pytest.raises(SystemExit, match=r"the folder 'x' names the slice 'b', which does not exist"):
        Slices.read(path)


def test_records_are_written_and_read(tmp_path: Path) -> None:
    records = {"plans": Passed("0123456789", "2026-01-02", 4.2)}
    tool.write(SLICES.values(), records, tmp_path / "matrix.md")
    assert tool.passed(tmp_path / "matrix.md") == records
    assert tool.passed(tmp_path / "none.md") == {}


def test_the_matrix_lists_the_slices() -> None:
    """What `make slice` would write is what is there."""
    text = tool.MATRIX.read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\S+)` \|", text, re.MULTILINE) == list(SLICES)


class World:
    """A repository with a commit for each change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q")

    def git(self, *args: str, when: int = 0) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        env = {"GIT_COMMITTER_DATE": f"@{when} +0000", "PATH": "/usr/bin:/bin"}
        return subprocess.run(
            ["git", *who, *args], cwd=self.folder, env=env, check=True, capture_output=True, text=True
        ).stdout

    def change(self, name: str, when: int) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(when))
        self.git("add", ".")
        self.git("commit", "-qm", name, when=when)
        return self.git("rev-parse", "HEAD").strip()


def made(**folders: list[str]) -> Slices:
    """Slices, each with its folders."""
    every = {
        folder: [name for name in folders if folder in folders[name]] for some in folders.values() for folder in some
    }
    sparks = {name: ("4.3.0",) if name.startswith("spark") else () for name in folders}
    return Slices([Slice(name, "", command="true", sparks=sparks[name]) for name in folders], every)


def names(found: list[Waiting]) -> list[str]:
    return [one.slice.name for one in found]


def test_a_slice_waits_since_the_first_change_of_its_own(tmp_path: Path) -> None:
    world = World(tmp_path)
    first = world.change("ui/a", 1_000_000)
    some = made(page=["ui"], all=["ui", "tracker"], other=["cli"], new=["cli"])
    records = {name: Passed(first, "1970-01-12", 3.0) for name in ("page", "all", "other")}
    git = Repository(tmp_path)
    assert names(tool.waiting(some, records, git)) == ["new"]
    world.change("docs/a", 1_000_100)
    assert names(tool.waiting(some, records, git)) == ["new"]
    world.change("tracker/java/A.java", 2_000_000)
    world.change("ui/b", 3_000_000)
    found = tool.waiting(some, records, git)
    assert [(one.slice.name, one.since) for one in found] == [("new", 0), ("all", 2_000_000), ("page", 3_000_000)]
    assert str(found[1]) == "all (about 3 min, waiting since 1970-01-24)"


def test_files_that_are_not_committed_touch_slices(tmp_path: Path) -> None:
    first = World(tmp_path).change("ui/a", 1_000_000)
    records = {"page": Passed(first, "", 1.0)}
    git = Repository(tmp_path)
    assert git.clean() and tool.waiting(made(page=["ui"]), records, git) == []
    (tmp_path / "ui" / "new").write_text("")
    assert not git.clean() and names(tool.waiting(made(page=["ui"]), records, git)) == ["page"]


def test_a_commit_that_git_does_not_know_touches_the_slice(tmp_path: Path) -> None:
    World(tmp_path).change("ui/a", 1_000_000)
    assert names(tool.waiting(made(page=["cli"]), {"page": Passed("f" * 10, "", 1.0)}, Repository(tmp_path))) == [
        "page"
    ]


@pytest.mark.parametrize(("folder", "first"), [("tracker", ["tpc", "plans", "spark-b"]), ("index_store", ["old"])])
def test_what_a_change_to_the_tracker_runs_first(folder: str, first: list[str], tmp_path: Path) -> None:
    """Random plans, TPC, and the version of Spark that waits longest."""
    world = World(tmp_path)
    commits = [world.change(f"{folder}/{i}", 1_000_000 + i) for i in range(6)]
    waits = {"spark-a": 3, "old": 0, "plans": 4, "tpc": 2, "spark-b": 1}
    some = made(**{name: [folder] for name in waits})
    records = {name: Passed(commits[since], "", 1.0) for name, since in waits.items()}
    found = names(tool.waiting(some, records, Repository(tmp_path)))
    assert found[: len(first)] == first and sorted(found) == sorted(waits)


def test_slices_run_that_end_in_time() -> None:
    now = 0.0
    ran = []

    def run(one: Slice) -> bool:
        nonlocal now
        ran.append(one.name)
        now += 2 * minutes[one.name]
        return one.name != "b"

    minutes = {"a": 5.0, "b": 5.0, "c": 9.0, "d": 4.0, "e": 3.0}
    found = [Waiting(Slice(name, ""), 0, each, False) for name, each in minutes.items()]
    good, bad, left = tool.choose(found, run, lambda: now, 32.0, 2.0)
    assert ran == ["a", "b", "d"] and (good, bad) == (["a", "d"], ["b"])
    assert names(left) == ["c", "e"]


def test_a_slice_is_a_call_of_pytest() -> None:
    one = Slice("x", "", tests=("tests/a.py", "tests/b.py"), sparks=("4.3.0",))
    assert "spark_folder 4.3.0" in one.script()
    assert 'pytest tests/a.py tests/b.py -m "long" -n 2 --dist loadgroup "$@"' in one.script()
    first, second = replace(one, marks="").script().split("-m pytest ")[1:]
    assert "-m" not in first.splitlines()[0]
    assert second == 'tests/tracker/families -m since -n 2 "$@"'


def test_a_slice_runs_on_each_of_its_sparks() -> None:
    script = Slice("x", "", tests=("a.py",), sparks=("", "4.0.4", "4.3.0")).script()
    assert script.count("-m pytest a.py") == 3 and script.count("PYTHONPATH=$folder") == 2


def test_java_is_compiled_against_each_version_of_spark() -> None:
    others = [version for one in SLICES.values() if one.other_spark for version in one.sparks]
    assert SLICES["java"].sparks == ("", *others)


def test_a_variable_that_the_caller_sets_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    run = tool.Runner(SLICES, Path("venv"), ["-q"])  # with options nothing is recorded
    one = Slice("x", "", command='[ "$A" = "$B" ]', env=(("A", "1"),))
    monkeypatch.setenv("B", "1")
    assert run(one)
    monkeypatch.setenv("A", "2")
    assert not run(one)


def test_an_unknown_slice_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        tool.main(["run", "nothing"])
    assert "no slice is named nothing; there are first, java, plans, tpc" in capsys.readouterr().err
