"""Convert the paths of system calls, file URLs and pyarrow's file systems to absolute local paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

__all__ = ["absolute", "beside", "files_below", "is_hidden", "local_path", "real_name"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def absolute(path: Any, folder: int = -1) -> str:
    """Return a system call's path argument as an absolute path, without resolving links; "" if it is not a path.

    Parameters
    ----------
    path : str, bytes or os.PathLike
    folder : int
        Descriptor of the folder that a relative path starts from; -1 for the working directory.
    """
    if isinstance(path, int):
        return ""
    text = os.fsdecode(path)
    if not text or "\0" in text:
        return ""
    if folder >= 0 and not text.startswith("/"):
        text = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), text)  # noqa: PTH118, PTH115 - hot
    return os.path.abspath(text)  # noqa: PTH100 - links stay


def real_name(path: str) -> str:
    """Return a path with the links in its parent folders resolved. If the path itself is a link, it is kept."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118


def beside(path: str, folder: str) -> bool:
    """Whether a path is the given folder or is inside it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def files_below(folder: str, most: int) -> Iterator[str]:
    """Yield at most `most` data files below a folder, skipping the names that Spark and pyarrow treat as hidden."""
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _hidden(name))
        for name in sorted(names):
            if not _hidden(name):
                yield os.path.join(top, name)  # noqa: PTH118
                most -= 1
                if most <= 0:
                    return


def is_hidden(path: str, folder: str) -> bool:
    """Whether the part of a path below a folder contains a hidden name, which makes it no data file of the folder."""
    return any(map(_hidden, path[len(folder) :].strip("/").split("/")))


def _hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def local_path(path: Any, file_system: Any = None) -> str | None:
    """Return a path argument of pyarrow as an absolute local path; None if it is not a path.

    Raises
    ------
    LookupError
        The path is on another file system. The message is its URL.
    """
    if not isinstance(path, (str, bytes, os.PathLike)):
        return None
    text = os.fsdecode(path)
    if file_system is not None:
        text = _within(text, file_system)
    if _SCHEME.match(text) and not os.path.exists(text):  # noqa: PTH110
        parts = urlsplit(text)
        if parts.scheme != "file":
            raise LookupError(f"{parts.scheme}://{parts.hostname or ''}{parts.path}")
        text = unquote(parts.path)
    return absolute(text) or None


def _within(path: str, file_system: Any) -> str:
    """Return the full path within a file system, as a URL if the file system is not the local one."""
    if isinstance(file_system, str):
        return f"{file_system.rstrip('/')}/{path.lstrip('/')}"
    base = getattr(file_system, "base_path", None)
    if base is not None:
        return _within(f"{base.rstrip('/')}/{path}", file_system.base_fs)
    name: Any = getattr(file_system, "type_name", None) or getattr(file_system, "protocol", "")
    names = (name,) if isinstance(name, str) else tuple(name)
    if {"local", "file"} & set(names):
        return path
    return f"{names[0].removeprefix('py::') or 'unknown'}://{path.lstrip('/')}"
