"""Paths within a store, and the error for a file that is missing."""

from __future__ import annotations

from provspark.index_store.store.fs.folder import Folder
from provspark.model.errors import CorruptIndexError, StepRemovedError

__all__ = ["FOLDERS", "FORMAT", "MANIFEST", "NOTES", "STEPS", "manifest_path", "missing", "step_path"]

FORMAT, STEPS, MANIFEST, NOTES = "format.json", "steps", "manifest.json", "taps"
FOLDERS = ("operations", "profiles", "tensors", "versions")
"""Folders of a step whose files its manifest lists."""


def step_path(step: str) -> str:
    """Return the folder of a step."""
    return f"{STEPS}/{step}"


def manifest_path(step: str) -> str:
    """Return the path of a step's manifest; the step exists if this file does."""
    return f"{STEPS}/{step}/{MANIFEST}"


def missing(folder: Folder, step: str, path: str) -> CorruptIndexError | StepRemovedError:
    """Return the error for a file that a manifest lists and that is missing: step removed meanwhile, or damage."""
    if folder.stamps([manifest_path(step)])[0] is None:
        return StepRemovedError(step, folder.url)
    return CorruptIndexError(folder.where(path), "the file is missing")
