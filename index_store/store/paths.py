"""Where a store keeps what, and what a missing file means."""

from __future__ import annotations

from provspark.index_store.store.fs.folder import Folder
from provspark.model.errors import CorruptIndexError, StepRemovedError

__all__ = ["FOLDERS", "FORMAT", "MANIFEST", "NOTES", "STEPS", "manifest_path", "missing", "step_path"]

FORMAT, STEPS, MANIFEST, NOTES = "format.json", "steps", "manifest.json", "taps"
FOLDERS = ("operations", "profiles", "tensors", "versions")
"""Of a step, whose files its manifest lists."""


def step_path(step: str) -> str:
    """Folder of a step."""
    return f"{STEPS}/{step}"


def manifest_path(step: str) -> str:
    """A step's manifest, whose being there makes the step."""
    return f"{STEPS}/{step}/{MANIFEST}"


def missing(folder: Folder, step: str, path: str) -> CorruptIndexError | StepRemovedError:
    """Tell of a file that a manifest lists and that is not there: of a step removed meanwhile, or of damage."""
    if folder.stamps([manifest_path(step)])[0] is None:
        return StepRemovedError(step, folder.url)
    return CorruptIndexError(folder.where(path), "it is gone")
