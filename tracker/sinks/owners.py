"""Check that a folder's new files are all of one write, by their job ids and by Spark's own metrics."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.errors import CaptureError, ConcurrentWriteError
from provspark.tracker.sinks.contract import WriteMetrics
from provspark.tracker.sinks.listing import OutputFile
from provspark.tracker.sinks.names import PartName, parse

_SHOWN = 5
_ADVICE = (
    "the rows that each writer wrote can't be identified. Let one task write a folder at a time "
    "(order the tasks in the DAG, or give each its own folder), then run this task again"
)


def own_names(path: str, new: Sequence[OutputFile], metrics: WriteMetrics | None) -> list[PartName]:
    """Return the parsed names of a write's new files, in the same order.

    Parameters
    ----------
    path : str
        The folder, for messages.
    new : sequence of OutputFile
        Files that were not there before the write.
    metrics : WriteMetrics or None
        Spark's metrics of the write.

    Raises
    ------
    ConcurrentWriteError
        Files of another job, or files that Spark did not write, appeared meanwhile, or files of this job are missing.
    CaptureError
        None of the names has the form that Spark's file writers use, as with a custom commit protocol.
    """
    names = [parse(f.path) for f in new]
    jobs: dict[str, list[OutputFile]] = {}
    for file, name in zip(new, names, strict=True):
        jobs.setdefault("" if name is None else name.job, []).append(file)
    if len(jobs) == 1 and "" in jobs:
        raise CaptureError(
            f"{path}: the new files ({_some(jobs[''])}) are not named as Spark's file writers name them; "
            "writes with a custom commit protocol are not captured"
        )
    if len(jobs) > 1:
        own = _own_job(jobs, metrics)
        foreign = [f for job, files in jobs.items() if job != own for f in files]
        who = f"another writer left {_some(foreign)}" if own else f"{len(jobs)} jobs left {_some(foreign)}"
        raise ConcurrentWriteError(f"other writers changed {path} while this step wrote to it: {who}, and {_ADVICE}")
    if metrics is not None and (metrics.files, metrics.bytes) != _size(new):
        files, size = _size(new)
        raise ConcurrentWriteError(
            f"{path}: Spark wrote {metrics.files} files with {metrics.bytes} bytes in total, but the folder has "
            f"{files} new files with {size} bytes in total. Another writer removed or replaced files meanwhile, and "
            f"{_ADVICE}"
        )
    return [name for name in names if name is not None]


def _own_job(jobs: dict[str, list[OutputFile]], metrics: WriteMetrics | None) -> str:
    """Return the id of the only Spark job whose files match the metrics; "" if there is no such job, or several."""
    known = [job for job in jobs if job]
    if metrics is not None and len(known) > 1:
        known = [job for job in known if _size(jobs[job]) == (metrics.files, metrics.bytes)]
    return known[0] if len(known) == 1 else ""


def _size(files: Sequence[OutputFile]) -> tuple[int, int]:
    return len(files), sum(f.size for f in files)


def _some(files: Sequence[OutputFile]) -> str:
    shown = ", ".join(f.path for f in files[:_SHOWN])
    return shown + (f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else "")
