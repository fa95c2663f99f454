"""Files that capture ignores: those of libraries, the operating system, Spark and the store."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from provspark.tracker.files.frames import library_folders

__all__ = ["LeftOut"]

_SYSTEM = ("/proc/", "/sys/", "/run/", "/etc/", "/usr/share/", "/usr/lib/", "/lib/", "/boot/")
_DEVICES, _SHARED = "/dev/", "/dev/shm/"
"""Files in shared memory contain data, unlike other devices."""
_SETTINGS = (
    ".aws",
    ".azure",
    ".cache",
    ".config",
    ".gitconfig",
    ".ipython",
    ".ivy2",
    ".jupyter",
    ".kube",
    ".local",
    ".m2",
    ".netrc",
    ".ssh",
)
"""Ignored files and folders of the home folder."""
_NO_DATA = (".py", ".pyc", ".pyi", ".so", ".pyd", ".pth", ".jar", ".crc", "/_SUCCESS")


class LeftOut:
    """Predicate that decides by its path whether capture ignores a file.

    Parameters
    ----------
    folders : iterable of str
        Further folders to ignore, such as the store's and Spark's scratch folders.
    """

    def __init__(self, folders: Iterable[str] = ()) -> None:
        home = Path.home()
        mine = [str(home / name) for name in _SETTINGS]
        given = [os.path.abspath(folder) + os.sep for folder in folders if folder]  # noqa: PTH100 - links stay
        resolved = [os.path.realpath(folder) + os.sep for folder in folders if folder]
        self._prefixes = tuple(dict.fromkeys((*_SYSTEM, *library_folders(), *mine, *given, *resolved)))

    def __call__(self, path: str) -> bool:
        """Whether capture ignores the file at an absolute path."""
        if path.startswith(_DEVICES) and not path.startswith(_SHARED):
            return True
        return path.startswith(self._prefixes) or path.endswith(_NO_DATA) or "/__pycache__/" in path
