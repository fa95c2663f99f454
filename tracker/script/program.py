"""The script and its own modules as one program for static analysis."""

from __future__ import annotations

import ast
import linecache
import os
import site
import sys
import sysconfig
import time
from functools import cache
from pathlib import Path

from provspark.tracker.script.sites import is_library
from provspark.tracker.script.source import Binding, ScriptFile


class Program:
    """The source files of a program: the main script, files that called Spark, and the modules that they import.

    A module belongs to the program if it is loaded and is not part of Python, Spark, ProvSpark or an installed package.
    """

    def __init__(self) -> None:
        self._sources: dict[str, ScriptFile | None] = {}
        self._stamps: dict[str, object] = {}
        self.changes = 0
        """Number of times that a file was added or read again."""
        self._began = float("inf")

    def begin(self) -> None:
        """Treat files written from now on as data: a script may write a module and import it."""
        self._began = time.time()

    def forget(self) -> None:
        """Reset for another script."""
        self._sources.clear()
        self._stamps.clear()
        self._began = float("inf")
        self.changes += 1

    def source(self, file: str) -> ScriptFile | None:
        """Return the file with the name that a frame's code has, or None if its text can't be read."""
        stamp = _stamp(file)
        if file not in self._sources or self._stamps[file] != stamp:
            linecache.checkcache(file)
            self._sources[file], self._stamps[file] = ScriptFile.read(file), stamp
            self.changes += 1
        return self._sources[file]

    def sources(self) -> list[ScriptFile]:
        """Return all files that belong to the program now."""
        main = file_of("__main__")
        if main and beside(main):
            self.source(main)
        waiting = [source for source in list(self._sources.values()) if source is not None]
        sources = list(waiting)
        while waiting:
            source = waiting.pop()
            for name in source.imports:
                module = self.module(name, source)
                if module is not None and module not in sources:
                    sources.append(module)
                    waiting.append(module)
        return sources

    def module(self, name: str, source: ScriptFile) -> ScriptFile | None:
        """Return a module that a file of the program imports; None if it does not belong to the program."""
        name = _absolute(name, source.file) if name.startswith(".") else name
        file = "" if name.split(".")[0] == "provspark" else file_of(name)
        return self.source(file) if file and beside(file) and not self._made(file) else None

    def _made(self, file: str) -> bool:
        try:
            return Path(file).stat().st_mtime > self._began
        except OSError:
            return False

    def calls(self, name: str) -> list[tuple[ScriptFile, ast.Call]]:
        """Return all calls of functions or methods with this name in the program's text."""
        return [(source, call) for source in self.sources() for call in source.calls.get(name, ())]

    def stored(self, attribute: str) -> list[tuple[ScriptFile, Binding]]:
        """Return the bindings of attributes with this name, in objects and in classes."""
        bindings = []
        for source in self.sources():
            bindings += [(source, b) for b in source.stored.get(attribute, ())]
            for scope in source.classes:
                bindings += [(source, b) for b in scope.bindings.get(attribute, ())]
        return bindings


def file_of(module: str) -> str:
    """Return the file of a loaded module, or ""."""
    file = vars(sys.modules[module]).get("__file__") if module in sys.modules else None
    return file if isinstance(file, str) else ""


def beside(file: str) -> bool:
    """Whether a module's file is the user's own, not that of a library."""
    if is_library(file) or not (file.endswith(".py") or file in linecache.cache):  # which contains a notebook's cells
        return False
    return not _is_installed(file)


@cache
def _is_installed(file: str) -> bool:
    real = os.path.realpath(file)
    return any(real.startswith(folder) or file.startswith(folder) for folder in _installed())


@cache
def _installed() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")} | {site.getusersitepackages()}
    own = [str(Path(__file__).resolve().parents[1])]
    return tuple({folder + os.sep for f in (*folders, *own) for folder in (f, os.path.realpath(f))})


def _absolute(name: str, file: str) -> str:
    """Return the absolute name of a module that a file imports relatively, or ""."""
    level = len(name) - len(name.lstrip("."))
    for module in list(sys.modules.values()):
        if vars(module).get("__file__") == file:
            package = str(vars(module).get("__package__") or "").split(".")
            return ".".join(filter(None, [*package[: len(package) - level + 1], name.lstrip(".")]))
    return ""


def _stamp(file: str) -> object:
    try:
        status = os.stat(file)  # noqa: PTH116 - a Path takes ten times as long
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


_current = Program()


def program() -> Program:
    """Return the program of this process."""
    return _current
