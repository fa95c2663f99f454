"""Datasets on the driver: what a script read into its own memory."""

from __future__ import annotations

from collections.abc import Iterator

from provspark.model.datasets import Dataset, Field, Files, Version
from provspark.model.pending import PendingVersion
from provspark.model.steps import Manifest

__all__ = ["FIT", "FORMAT", "LOAD", "MODELS", "NAMESPACE", "UNKNOWN_ORIGIN", "driver_version", "is_driver", "sources"]

NAMESPACE = "memory://driver"
FORMAT = "driver"
FIT = "fit"
"""The action of a read that is a fitted model; its columns are those that the fit's parameters name, or all."""
LOAD = "load"
"""The action of a read that is a loaded model; it has no columns."""
MODELS = frozenset({FIT, LOAD})
"""Actions whose reads are models: the columns that a model is made of decide about the columns it is applied to."""
UNKNOWN_ORIGIN = (("origin", "unknown"),)
"""Options of a version of rows that a script made (format ``memory``) from values that its text does not show: these
may come from a file, a database or an API that was not captured."""


def driver_version(
    step: str, call: int, site: str, rows: int, *, fields: tuple[Field, ...] = (), read_at: int = 0
) -> PendingVersion:
    """Return the version of what one call returned to the script.

    Parameters
    ----------
    step : str
        Id of the step.
    call : int
        Number of the read within the step. Step and call define the version's id, so that two reads of equal rows
        are two versions.
    site : str
        ``SCRIPT:LINE`` of the call.
    rows : int
        Number of rows that it returned; row k is the k-th of them.
    fields : tuple of Field
        The columns. Values are not stored.
    read_at : int
        Time of the read, in milliseconds since the epoch.
    """
    files = Files.of([(f"{step}/{call}", 0, read_at, rows, True)])
    return PendingVersion(Dataset(NAMESPACE, site), files, FORMAT, fields=fields)


def is_driver(dataset: Dataset) -> bool:
    """Return whether a dataset is in a script's memory.

    >>> is_driver(Dataset.parse("memory://driver/clean.py:12"))
    True
    """
    return dataset.namespace == NAMESPACE


def sources(manifest: Manifest) -> Iterator[Version]:
    """Yield the versions that a step's writes and its driver read, except those on the driver itself."""
    for write in (*manifest.writes, *manifest.reads):
        yield from (version for version in write.inputs if not is_driver(version.dataset))
