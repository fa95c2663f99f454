"""What can be wrong with one manifest of a store."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

__all__ = ["DAMAGES", "UNNAMED", "deny", "manifest_of", "replace"]


def replace(path: Path) -> None:
    """Put a folder in the file's place."""
    path.unlink()
    path.mkdir()


def _changed(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def act(path: Path) -> None:
        path.write_bytes(change(path.read_bytes()))

    return act


DAMAGES: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "truncated": (_changed(lambda b: b[:-20]), "corrupt", "it is not JSON"),
    "empty": (_changed(lambda b: b""), "corrupt", "it is not JSON"),
    "not JSON": (_changed(lambda b: b"\x00\xffnonsense"), "corrupt", "it is not JSON"),
    "another shape": (_changed(lambda b: b'{"format":1,"steps":[]}'), "corrupt", "it is not a manifest"),
    "no number": (
        _changed(lambda b: b.replace(b'"body":{', b'"body":{"a":NaN,', 1)),
        "corrupt",
        "it is not canonical JSON",
    ),
    "a list": (_changed(lambda b: b"[]"), "corrupt", "it has no format number"),
    "changed": (_changed(lambda b: b.replace(b'"rows":', b'"rowz":', 1)), "corrupt", "its checksum does not match"),
    "newer": (_changed(lambda b: b.replace(b'"format":3', b'"format":9', 1)), "newer", "reads up to format 3"),
    "a folder": (replace, "corrupt", "a folder is in its place"),
}
"""By name: what does it, the fault, and a part of the reason."""

UNNAMED = ("empty", "not JSON", "another shape", "a list", "a folder")
"""Those after which the file does not contain the step's key any more."""


def manifest_of(store: Path, task: str) -> Path:
    """The manifest of the step of a task."""
    found = [
        p for p in store.glob("steps/*/manifest.json") if json.loads(p.read_bytes())["body"]["key"]["task_id"] == task
    ]
    assert len(found) == 1
    return found[0]


def deny(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """Let the operating system refuse to open a file, as it does for other users than root."""
    plain = os.open

    def opened(name: Any, *given: Any, **more: Any) -> int:
        if os.fspath(name) == str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return plain(name, *given, **more)

    monkeypatch.setattr(os, "open", opened)
