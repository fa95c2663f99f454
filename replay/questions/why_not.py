"""Why does no row satisfy these conditions?"""

from __future__ import annotations

from typing import Any

from provspark.index_store.query.parameter_types import Conditions, DatasetName, Moment, RunId, VersionId
from provspark.index_store.query.question import question
from provspark.replay.questions.why_not_pages import why_not_pages
from provspark.replay.replaying import Progress, Replaying
from provspark.replay.why_not import WhyNot

__all__ = ["why_not"]


@question()
def why_not(
    prov: Replaying,
    dataset: DatasetName,
    where: Conditions,
    *,
    version: VersionId | None = None,
    run: RunId | None = None,
    as_of: Moment | None = None,
    progress: Progress | None = None,
    functions: bool = False,
) -> WhyNot:
    """Explain why no row of a dataset satisfies a condition.

    This finds the input rows that match the condition, in columns that the step copies to its output unchanged. It
    replays these rows, and reports the operation that dropped each.

    Parameters
    ----------
    where : sequence of (column, operator, value)
        Conditions on columns of `dataset`.
    progress, functions, dataset, version, run, as_of
        As for `replay`.

    Returns
    -------
    WhyNot
        ``found`` (rows that do satisfy it), ``missed`` (for each input), ``endings``, ``untraced``.

    Raises
    ------
    ReplayError
        No captured step made the dataset. Other errors as for `replay`.
    """
    which: dict[str, Any] = {"version": version, "run": run, "as_of": as_of}
    return next(why_not_pages(prov, dataset, where, **which, progress=progress, functions=functions))
