"""Which intermediate rows share what they came from with these intermediate rows?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.asking import Which
from provspark.index_store.query.parameter_types import DatasetName, OperationNumber, Rows, StepId
from provspark.index_store.query.question import question
from provspark.index_store.query.rowset import RowSet
from provspark.replay.replaying import Progress, Replaying
from provspark.replay.shared_witnesses import SharedRows, lines_sharing_witness
from provspark.replay.step_choice import replay_step

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["co_dependency_lines"]


@question(paper="TensProv Q11")
def co_dependency_lines(
    prov: Replaying,
    dataset: DatasetName | RowSet,
    rows: Rows,
    operation: OperationNumber,
    to: OperationNumber,
    *,
    via: OperationNumber,
    step: StepId | None = None,
    progress: Progress | None = None,
    functions: bool = False,
    **which: Unpack[Which],
) -> SharedRows:
    """Within a step, find output rows of one operation that share a source row with output rows of another.

    Parameters
    ----------
    via : int
        The number of the operation whose output rows are the shared source rows. See `operations(step, parts=True)`.
    dataset, rows, operation, to, step, progress, functions, **which
        As for `co_contributory_lines`.

    Returns
    -------
    SharedRows
        ``found``, the output rows of `to` that share an output row of `via` with the given rows. The given rows are
        left out.

    Notes
    -----
    TensProv's Q11 on intermediate datasets. Errors as for `co_contributory_lines`.
    """
    asked = prov.asked("co_dependency_lines", dataset, rows, which)
    with prov.following(progress, functions) as replayer:
        node, told = replay_step(replayer, asked, step, True)
        return lines_sharing_witness(replayer, node, told, operation, to, via)
