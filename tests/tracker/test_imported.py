"""Waiting for a module that the script may or may not import."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from provspark.tracker.imported import WhenImported


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


def test_it_can_stop_waiting(module: str) -> None:
    seen: list[int] = []
    WhenImported(module, lambda m: seen.append(m.value)).remove()
    importlib.import_module(module)
    assert seen == []
