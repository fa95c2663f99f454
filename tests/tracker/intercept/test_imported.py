"""Waiting for a module that the script may or may not import."""

from __future__ import annotations

import importlib
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from provspark.tracker.intercept.import_hook import WhenImported


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = "a_module_of_the_script"
    (tmp_path / f"{name}.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, name, raising=False)
    yield name
    sys.modules.pop(name, None)


def test_it_is_told_once_with_the_module_whole(module: str) -> None:
    seen: list[int] = []
    waiting = WhenImported(module, lambda m: seen.append(m.value))
    assert seen == []
    importlib.import_module(module)
    importlib.import_module(module)
    assert seen == [1]
    assert waiting not in sys.meta_path


def test_what_is_there_already_is_told_at_once(module: str) -> None:
    importlib.import_module(module)
    seen: list[int] = []
    WhenImported(module, lambda m: seen.append(m.value))
    assert seen == [1]


def test_modules_of_one_loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A zip file, as spark-submit hands over pyspark, has one loader for all its modules."""
    with zipfile.ZipFile(tmp_path / "modules.zip", "w") as archive:
        archive.writestr("whole_of_zip/__init__.py", "")
        archive.writestr("whole_of_zip/first.py", "from whole_of_zip import second\nvalue = second.value + 1\n")
        archive.writestr("whole_of_zip/second.py", "value = 1\n")
        archive.writestr("whole_of_zip/third.py", "value = 3\n")
    monkeypatch.syspath_prepend(str(tmp_path / "modules.zip"))
    seen: list[tuple[str, int]] = []
    WhenImported("whole_of_zip.first", lambda m: seen.append((m.__name__, m.value)))
    first = importlib.import_module("whole_of_zip.first")
    third = importlib.import_module("whole_of_zip.third")
    assert (seen, third.value) == ([("whole_of_zip.first", 2)], 3)
    assert type(first.__loader__) is type(third.__loader__) is type(first.__spec__.loader)
    for name in [n for n in sys.modules if n.startswith("whole_of_zip")]:
        del sys.modules[name]
