"""List a folder's files, and make versions of them without counting rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from provspark.model.datasets import Dataset, Files
from provspark.model.pending import PendingVersion
from provspark.tracker.sinks.listing import OutputFile, OutputFolder

__all__ = ["dataset_of", "files_of", "version_of"]


def files_of(jvm: Any, qualified: str) -> tuple[Dataset, list[OutputFile]]:
    """Return a folder's dataset and its files.

    Parameters
    ----------
    jvm : Jvm
    qualified : str
        Scheme, authority and path of the folder, separated by NUL.

    Raises
    ------
    CaptureError
        The folder can't be listed.
    """
    scheme, authority, path = qualified.split("\0")
    return dataset_of(qualified), OutputFolder(jvm, jvm.session, f"{scheme}://{authority}{path}", {}).files()


def dataset_of(qualified: str) -> Dataset:
    """Return a folder's dataset; see `files_of`."""
    scheme, authority, path = qualified.split("\0")
    return Dataset("file", path) if scheme == "file" else Dataset(f"{scheme}://{authority}", path.strip("/"))


def version_of(dataset: Dataset, files: Sequence[tuple[OutputFile, bool]], format_name: str) -> PendingVersion:
    """Return a version that consists of these files, each with a flag whether this step wrote it."""
    listed = Files.of([(f.path, f.size, f.mtime, 1, written) for f, written in files])
    return PendingVersion(dataset, listed, format_name, unit="file")
