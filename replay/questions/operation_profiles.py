"""How are values distributed before and after each operation of a step?"""

from __future__ import annotations

from provspark.index_store.profiles.profiled_versions import profile_of_version, written
from provspark.index_store.query.parameter_types import ColumnNames, DatasetName, OperationNumbers, StepOrDataset
from provspark.index_store.query.question import question
from provspark.replay.replaying import Progress, Replaying
from provspark.replay.spread import OperationProfiles

__all__ = ["operation_profiles"]


@question(paper="Chapman et al. PQ12, PQ13")
def operation_profiles(
    prov: Replaying,
    step: StepOrDataset,
    operations: OperationNumbers | None = None,
    *,
    columns: ColumnNames = None,
    output: DatasetName | None = None,
    progress: Progress | None = None,
    functions: bool = False,
) -> OperationProfiles:
    """Compute the distribution of values after each operation of a step, by replaying all its operations.

    Parameters
    ----------
    step : str
        A step's id, or a dataset that it wrote.
    operations : sequence of int, optional
        Numbers of operations, as listed by `operations(step, parts=True)`. Default: all.
    columns : sequence of str, optional
        Only these columns.
    output : str, optional
        The dataset that the step wrote, if it wrote several.
    progress, functions
        As for `replay`.

    Returns
    -------
    OperationProfiles
        ``after(number)`` and ``impact(number)`` of an operation, ``table()`` of all, ``verified``. If an operation
        can't be replayed, or Spark may have computed other rows from the same input, the answer has the reason.

    Raises
    ------
    ReplayError
        The step's operations are not stored, or its lineage is untracked; there is no such operation.
    UnknownColumnError
        No operation has such a column.

    Notes
    -----
    PQ12 and PQ13 of Chapman et al. for each operation.
    """
    at = written(prov.currents, step, output)
    with prov.following(progress, functions) as replayer:
        return replayer.spread(at.node, operations, columns, lambda: profile_of_version(prov.graph, at))
