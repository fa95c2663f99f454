"""Whose the new files are: two writers of one folder at once are told apart by job and by Spark's own metrics."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.errors import CaptureError, ConcurrentWriteError
from provspark.tracker.sinks.contract import WriteMetrics
from provspark.tracker.sinks.listing import OutputFile
from provspark.tracker.sinks.names import PartName, parse

_SHOWN = 5
_ADVICE = (
    "rows of this version can't be told apart for sure. Let one task write a folder at a time "
    "(order the tasks in the DAG, or give each a folder of its own), then run this task again"
)


def own_names(path: str, new: Sequence[OutputFile], metrics: WriteMetrics | None) -> list[PartName]:
    """Return the names of a write's new files, in their order.

    Parameters
    ----------
    path : str
        The folder, for messages.
    new : sequence of OutputFile
        Files that were not there before the write.
    metrics : WriteMetrics or None
        What Spark says that it wrote.

    Raises
    ------
    ConcurrentWriteError
        Files of another job, or not of Spark's making, appeared meanwhile; or some of this job's are gone.
    CaptureError
        None of the names are those of Spark's file writers (a commit protocol of the user's own).
    """
    names = [parse(f.path) for f in new]
    jobs: dict[str, list[OutputFile]] = {}
    for file, name in zip(new, names, strict=True):
        jobs.setdefault("" if name is None else name.job, []).append(file)
    if len(jobs) == 1 and "" in jobs:
        raise CaptureError(
            f"{path}: the new files ({_some(jobs[''])}) are not named as Spark's file writers do; "
            "with a commit protocol of one's own a write is not followed"
        )
    if len(jobs) > 1:
        own = _own_job(jobs, metrics)
        foreign = [f for job, files in jobs.items() if job != own for f in files]
        who = f"another writer left {_some(foreign)}" if own else f"{len(jobs)} jobs left {_some(foreign)}"
        raise ConcurrentWriteError(f"{path} was written by others while this step wrote to it: {who}; {_ADVICE}")
    if metrics is not None and (metrics.files, metrics.bytes) != _size(new):
        files, size = _size(new)
        raise ConcurrentWriteError(
            f"{path}: Spark wrote {metrics.files} files of {metrics.bytes} bytes in all, "
            f"{files} of {size} bytes are there: somebody else removed or replaced files meanwhile; {_ADVICE}"
        )
    return [name for name in names if name is not None]


def _own_job(jobs: dict[str, list[OutputFile]], metrics: WriteMetrics | None) -> str:
    """The one job of Spark's making whose files are as the metrics say; empty where that does not decide it."""
    known = [job for job in jobs if job]
    if metrics is not None and len(known) > 1:
        known = [job for job in known if _size(jobs[job]) == (metrics.files, metrics.bytes)]
    return known[0] if len(known) == 1 else ""


def _size(files: Sequence[OutputFile]) -> tuple[int, int]:
    return len(files), sum(f.size for f in files)


def _some(files: Sequence[OutputFile]) -> str:
    shown = ", ".join(f.path for f in files[:_SHOWN])
    return shown + (f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else "")
