"""The files of a folder as a version whose rows nobody counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from provspark.index_store.model import Dataset, Files, PendingVersion
from provspark.tracker.sinks.listing import Folder, Found

__all__ = ["files_of"]


def files_of(
    jvm: Any,
    qualified: str,
    format_name: str,
    written: Callable[[Found], bool],
    only: Callable[[Found], bool] = lambda file: True,
) -> PendingVersion:
    """Return the files of a folder.

    Parameters
    ----------
    jvm : Jvm
    qualified : str
        Scheme, authority and path of the folder, NUL between.
    format_name : str
    written : function
        Whether this step wrote a file.
    only : function
        Whether a file counts.

    Raises
    ------
    CaptureError
        The folder can't be listed.
    """
    scheme, authority, path = qualified.split("\0")
    dataset = Dataset("file", path) if scheme == "file" else Dataset(f"{scheme}://{authority}", path.strip("/"))
    found = Folder(jvm, jvm.session, f"{scheme}://{authority}{path}", {}).files()
    files = Files.of([(f.path, f.size, f.mtime, 1, written(f)) for f in found if only(f)])
    return PendingVersion(dataset, files, format_name, unit="file")
