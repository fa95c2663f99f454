"""Find the script's line and the library function that lead to a call."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FrameType
from typing import Literal, NamedTuple

__all__ = ["Caller", "Frames", "library_folders"]

_Kind = Literal["script", "library", "between", "log", "barred"]

_BARRED = ("<frozen importlib", "<frozen zipimport")
"""Imports: a module's own files are no data."""
_OURS_BETWEEN = ("/tracker/runner.py", *(f"/tracker/files/{name}.py" for name in ("arrow", "audit_hook", "journal")))
"""ProvSpark's files that appear on the stack between a script and its own calls."""
_BETWEEN = (
    "/threading.py",
    "/contextlib.py",
    "/functools.py",
    "/concurrent/futures/thread.py",
    "/concurrent/futures/_base.py",
    "/multiprocessing/pool.py",
    "/pandas/util/_decorators.py",
    "<frozen runpy>",
    "/runpy.py",
)
"""Files of wrappers, whose functions are skipped when naming the function that the script called."""
_LOGS = ("/logging/__init__.py", "/logging/handlers.py", "/loguru/", "/structlog/")
_TEMPORARY = ("TemporaryDirectory", "TemporaryFile", "SpooledTemporaryFile")


class Caller(NamedTuple):
    """The call that opens a file: ``file:line`` of the script, the function called or "", and whether it is for a log.

    If the stack contains no line of the script, as in a library's thread, `site` is the script's file.
    """

    site: str
    action: str
    log: bool


class Frames:
    """Distinguishes the script's frames from those of libraries by their files; create it before capture begins."""

    def __init__(self) -> None:
        ours, spark = (
            _folders("provspark", "provspark.model", "provspark.tracker", "provspark.index_store"),
            _folders("pyspark", "py4j"),
        )
        self._barred = (*_BARRED, *ours, *spark)
        self._of_pandas = tuple(f"{folder}pandas{os.sep}" for folder in spark)
        self._ours = ours
        self._libraries = library_folders()
        main = sys.modules.get("__main__")
        self._main = getattr(main, "__file__", None) or "<string>"
        self._kinds: dict[str, _Kind] = {}

    def caller(self, frame: FrameType | None) -> Caller | None:
        """Return the caller behind an innermost frame; None for calls by Spark, by an import or by ProvSpark."""
        kinds, log = self._kinds, False
        called: FrameType | None = None
        while frame is not None:
            code = frame.f_code
            kind = kinds.get(code.co_filename) or self._learn(code.co_filename)
            if kind == "script":
                return Caller(f"{code.co_filename}:{frame.f_lineno}", _named(called), log)
            if kind == "barred":
                return None
            if kind == "log":
                log = True
            elif kind == "library" and code.co_name[0] != "<":
                called = frame
            frame = frame.f_back
        return Caller(str(getattr(sys.modules.get("__main__"), "__file__", None) or ""), _named(called), log)

    def temporary(self, frame: FrameType | None) -> bool:
        """Whether a file or folder made by `tempfile` is removed automatically, or belongs to a library."""
        while frame is not None:
            code = frame.f_code
            if code.co_filename.endswith("/tempfile.py"):
                if _closes(code, frame):
                    return True
            else:
                kind = self._kinds.get(code.co_filename) or self._learn(code.co_filename)
                if kind != "between":
                    return kind != "script"
            frame = frame.f_back
        return True

    def _learn(self, filename: str) -> _Kind:
        kind = self._kind(filename)
        self._kinds[filename] = kind
        return kind

    def _kind(self, filename: str) -> _Kind:
        main = sys.modules.get("__main__")
        if filename in (self._main, getattr(main, "__file__", None)) and not filename.startswith(self._ours):
            return "script"
        if filename.endswith(_BETWEEN) or (filename.startswith(self._ours) and filename.endswith(_OURS_BETWEEN)):
            return "between"
        if filename.startswith(self._of_pandas):
            return "library"
        if filename.startswith(self._barred):
            return "barred"
        if any(part in filename for part in _LOGS):
            return "log"
        if filename.startswith(("<stdin>", "<ipython", "<console>")):
            return "script"
        return "library" if filename.startswith(("<", *self._libraries)) else "script"


def _closes(code: CodeType, frame: FrameType) -> bool:
    """Whether a function of `tempfile` removes the file or folder that it makes."""
    if code.co_name == "NamedTemporaryFile":
        return bool(frame.f_locals.get("delete", True))
    owner = type(frame.f_locals.get("self")).__name__ if code.co_name == "__init__" else code.co_name
    return owner in _TEMPORARY


def _named(frame: FrameType | None) -> str:
    """Return a function's short name, such as ``pandas.read_csv``."""
    if frame is None:
        return ""
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0].lstrip("_")
    code = frame.f_code
    name = code.co_name
    if name in ("__init__", "__new__") and code.co_varnames:
        made = frame.f_locals.get(code.co_varnames[0])
        name = made.__name__ if isinstance(made, type) else type(made).__name__
    return f"{package}.{name}" if package else name


@cache
def _folders(*modules: str) -> tuple[str, ...]:
    """Return the modules' folders, each with a trailing slash."""
    folders = []
    for module in modules:
        try:
            spec = find_spec(module)
        except (ImportError, ValueError):
            continue
        if spec is not None and spec.origin:
            folder = Path(spec.origin).parent
            folders += [f"{folder}{os.sep}", f"{folder.resolve()}{os.sep}"]
    return tuple(dict.fromkeys(folders))


@cache
def library_folders() -> tuple[str, ...]:
    """Return the folders of the standard library and of installed packages, each with a trailing slash."""
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    paths.update(site.getsitepackages(), {site.getusersitepackages()}, {os.path.dirname(os.__file__)})  # noqa: PTH120
    if sys.prefix != sys.base_prefix:
        paths.add(sys.prefix)
    every = {*paths, *(os.path.realpath(p) for p in paths if p)}
    return tuple(sorted(p.rstrip(os.sep) + os.sep for p in every if p))
