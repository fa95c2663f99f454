"""Why does no row satisfy these conditions?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from provspark.index_store.query.question import question
from provspark.index_store.values.conditions import Condition
from provspark.replay.replaying import Progress, Replaying
from provspark.replay.why_not import WhyNot, look_for

__all__ = ["why_not"]


@question()
def why_not(
    prov: Replaying,
    dataset: str,
    where: Sequence[Condition | tuple[str, str, Any]],
    *,
    version: str | None = None,
    run: str | None = None,
    as_of: datetime | str | None = None,
    progress: Progress | None = None,
    functions: bool = False,
) -> WhyNot:
    """Tell why no row of a data set satisfies a condition.

    The condition is taken back to columns of inputs along columns that were handed on unchanged; input rows that
    satisfy it are replayed, and for each the operation is told at which it ended.

    Parameters
    ----------
    where : sequence of (column, operator, value)
        As for `Provenance`, on the data set's columns.
    progress, functions, dataset, version, run, as_of
        As for `replay`.

    Returns
    -------
    WhyNot
        ``found`` (rows that do satisfy it), ``missed`` (for each input), ``endings``, ``untraced``.

    Raises
    ------
    ReplayError
        No captured step made the data set. Other errors as for `replay`.
    """
    looked = look_for(prov, dataset, where, {"version": version, "run": run, "as_of": as_of})
    with prov.following(progress, functions) as replayer:
        return looked.page(replayer)
