"""Paths as the operating system, file URLs and pyarrow's file systems spell them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

__all__ = ["absolute", "beside", "files_below", "is_hidden", "local_path", "real_name"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def absolute(path: Any, folder: int = -1) -> str:
    """Return the absolute path of what an operating system call was given, links not resolved; "" if it is no path.

    Parameters
    ----------
    path : str, bytes or os.PathLike
    folder : int
        The descriptor of the folder that a relative path starts from; -1 for the working directory.
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
    """Return the real path of a name that itself may be a link: links in the folders above are resolved, it is not."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118


def beside(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def files_below(folder: str, most: int) -> Iterator[str]:
    """Yield the files below a folder, data files by Spark's and pyarrow's rule for hidden names, at most `most`."""
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _hidden(name))
        for name in sorted(names):
            if not _hidden(name):
                yield os.path.join(top, name)  # noqa: PTH118
                most -= 1
                if most <= 0:
                    return


def is_hidden(path: str, folder: str) -> bool:
    """Whether a path below a folder is no data file of it."""
    return any(map(_hidden, path[len(folder) :].strip("/").split("/")))


def _hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def local_path(path: Any, file_system: Any = None) -> str | None:
    """Return the absolute local path of what pyarrow is given as a path; None if it is no path.

    Raises
    ------
    LookupError
        It lies on another file system; the message is its URL.
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
    """Return the path that a file system leads to, as a URL where that is not the local one."""
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
