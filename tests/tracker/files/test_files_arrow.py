"""Patches of pyarrow: what they leave as it was, and that they go."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet
import pytest
from pyspark import cloudpickle

from provspark.tracker.files import DriverFiles
from provspark.tracker.files.arrow import ENTRIES

TABLE = pa.table({"a": [1, 2, 3]})


def names() -> dict[str, object]:
    """What each entry is now."""
    found: dict[str, object] = {}
    for entry in ENTRIES:
        value: object = sys.modules[entry.module]
        for part in entry.name.split("."):
            value = getattr(value, part)
        found[f"{entry.module}.{entry.name}"] = value
    return found


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DriverFiles]:
    monkeypatch.chdir(tmp_path)
    for entry in ENTRIES:
        __import__(entry.module)
    found = DriverFiles()
    yield found
    found.end()


def test_patches_go(files: DriverFiles) -> None:
    before, finders = names(), list(sys.meta_path)
    files.begin()
    assert all(before[name] is not value for name, value in names().items())
    files.end()
    assert (names(), sys.meta_path) == (before, finders)


def test_classes_are_what_they_were(files: DriverFiles) -> None:
    before = pa.fs.LocalFileSystem()
    real = {cls: type(cls()) for cls in (pa.fs.LocalFileSystem,)}
    files.begin()
    now = pa.fs.LocalFileSystem()
    assert isinstance(before, pa.fs.LocalFileSystem)
    assert isinstance(now, pa.fs.LocalFileSystem)
    assert isinstance(now, real[type(before)])
    assert not isinstance(1, pa.fs.LocalFileSystem)
    assert issubclass(type(before), pa.fs.LocalFileSystem)
    assert before == now
    assert pickle.loads(pickle.dumps(now)) == before
    assert type(pa.OSFile("x", "w")).__flags__ & 1 << 9 == 0

    class Own(pa.fs.LocalFileSystem):
        pass

    assert isinstance(Own(), Own)
    assert not isinstance(now, Own)


def test_functions_travel_by_name(files: DriverFiles) -> None:
    """A function that Spark's workers get is looked up there, where capture is not."""
    files.begin()
    for entry in ENTRIES:
        function = getattr(sys.modules[entry.module], entry.name.partition(".")[0])
        assert b"provspark" not in pickle.dumps(function)
        assert b"provspark" not in cloudpickle.dumps(lambda f=function: f)


def test_errors_are_pyarrows(files: DriverFiles) -> None:
    def errors() -> list[tuple[type, str]]:
        found = []
        for call in (
            lambda: pa.parquet.read_table("none.parquet"),
            lambda: pa.parquet.read_table(1),
            lambda: pa.parquet.read_table(),
            lambda: pa.csv.read_csv(Path("none.csv")),
            lambda: pa.dataset.dataset(["none"], format="parquet"),
            lambda: pa.parquet.write_table(TABLE, "none/x.parquet"),
            lambda: pa.OSFile("none", "r"),
            lambda: pa.OSFile("none", "?"),
            lambda: pa.fs.LocalFileSystem().open_input_file("none"),
        ):
            with pytest.raises(Exception) as raised:
                call()
            found.append((type(raised.value), str(raised.value)))
        return found

    plain = errors()
    files.begin()
    assert errors() == plain
    assert files.take(final=True) == []


def test_another_file_system_is_told(files: DriverFiles) -> None:
    files.begin()
    memory = pa.fs._MockFileSystem()
    pa.parquet.write_table(TABLE, "x.parquet", filesystem=memory)
    pa.parquet.read_table("x.parquet", filesystem=memory)
    assert files.take(final=True) == []
    assert [(r.node, r.why.split(":")[0]) for r in files.lost()] == [
        ("pyarrow.parquet.write_table", "mock"),
        ("pyarrow.parquet.read_table", "mock"),
    ]


def test_modules_of_c_that_are_imported_later(tmp_path: Path) -> None:
    """They find pyarrow's own classes, and afterwards nothing of ours is left in modules of Python."""
    script = """
from provspark.tracker.files import DriverFiles
files = DriverFiles()
files.begin()
import pyarrow.fs
assert type(pyarrow.fs.LocalFileSystem).__name__ == "Indistinct"
import pyarrow.csv, pyarrow.dataset, pyarrow.feather, pyarrow.json, pyarrow.orc, pyarrow.parquet
assert pyarrow.parquet.core.LocalFileSystem is pyarrow.fs.LocalFileSystem
files.end()
from pyarrow._fs import LocalFileSystem
assert pyarrow.parquet.core.LocalFileSystem is pyarrow.fs.LocalFileSystem is LocalFileSystem
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], cwd=tmp_path, check=True)


def test_modules_that_are_imported_later(tmp_path: Path) -> None:
    script = """
import sys
from provspark.tracker.files import DriverFiles
assert "pyarrow.feather" not in sys.modules
files = DriverFiles()
files.begin()
import pyarrow as pa, pyarrow.feather as feather
feather.write_feather(pa.table({"a": [1]}), "x.feather")
files.end()
[write] = files.take(final=True)
print(write.action, write.file.path)
feather.write_feather(pa.table({"a": [1]}), "y.feather")
assert files.take(final=True) == []
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["pyarrow.feather.write_feather", str(tmp_path / "x.feather")]
