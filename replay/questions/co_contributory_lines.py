"""Which intermediate rows were used together with these intermediate rows?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.asking import Which
from provspark.index_store.query.parameter_types import DatasetName, OperationNumber, Rows, StepId
from provspark.index_store.query.question import question
from provspark.index_store.query.rowset import RowSet
from provspark.replay.replaying import Progress, Replaying
from provspark.replay.shared_witnesses import SharedRows, lines_used_together
from provspark.replay.step_choice import replay_step

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["co_contributory_lines"]


@question(paper="TensProv Q10")
def co_contributory_lines(
    prov: Replaying,
    dataset: DatasetName | RowSet,
    rows: Rows,
    operation: OperationNumber,
    to: OperationNumber,
    *,
    via: OperationNumber | None = None,
    step: StepId | None = None,
    progress: Progress | None = None,
    functions: bool = False,
    **which: Unpack[Which],
) -> SharedRows:
    """Within a step, find output rows of one operation that were joined with output rows of another.

    Parameters
    ----------
    dataset, rows
        Stored rows that a step made or read. They select the output rows of `operation` that led to them, or came from
        them.
    operation : int
        The number of the operation whose output rows to start from. See `operations(step, parts=True)`.
    to : int
        The number of the operation whose output rows to return. See `operations(step, parts=True)`.
    via : int, optional
        The number of the operation whose output rows were made from both. Default: the last one.
    step, progress, functions, **which
        As for `replay`.

    Returns
    -------
    SharedRows
        ``found``, the rows that were joined with the given rows to make the same output row of `via`; ``table()``.

    Raises
    ------
    ReplayError
        No such operation, or none of these rows comes to it. Other errors as for `replay`.

    Notes
    -----
    TensProv's Q10 on intermediate datasets.
    """
    asked = prov.asked("co_contributory_lines", dataset, rows, which)
    with prov.following(progress, functions) as replayer:
        node, told = replay_step(replayer, asked, step, True)
        return lines_used_together(
            replayer, node, told, operation, to, len(told.operations) - 1 if via is None else via
        )
