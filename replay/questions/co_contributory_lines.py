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
    """Within a step, find the rows after one operation that were combined with rows after another.

    Parameters
    ----------
    dataset, rows
        Stored rows that a step made or read. They select the rows after `operation` that led to them, or came from
        them.
    operation, to : int
        Numbers of two operations of the step: start at rows after the first, return rows after the second.
        `operations(step, parts=True)` and `replay` list them.
    via : int, optional
        Number of the operation whose rows the derivations make. Default: the last operation.
    step, progress, functions, **which
        As for `replay`.

    Returns
    -------
    SharedRows
        ``found``, the rows that were combined with the given rows in one derivation; ``table()``.

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
