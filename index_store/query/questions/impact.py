"""What did a step do to the distribution of values?"""

from __future__ import annotations

from provspark.index_store.profiles.comparison import Impact
from provspark.index_store.profiles.profiled_versions import compare_step
from provspark.index_store.query.asking import Asking
from provspark.index_store.query.parameter_types import ColumnName, DatasetName, FormerNames, StepOrDataset
from provspark.index_store.query.question import question

__all__ = ["impact"]


@question(paper="Chapman et al. PQ12, PQ13")
def impact(
    prov: Asking,
    step: StepOrDataset,
    column: ColumnName | None = None,
    *,
    source: DatasetName | None = None,
    output: DatasetName | None = None,
    was: FormerNames | None = None,
) -> Impact:
    """Compare the distribution of a column, or of all columns, before and after a step.

    Parameters
    ----------
    step : str
        A step's id, or the data set that it wrote.
    column : str, optional
        Of the output, or one that went.
    source, output : str, optional
        Which data set that it read, and which that it wrote, where there are several.
    was : mapping, optional
        Names before of columns that had another one: ``{"age": "0"}``.

    Returns
    -------
    Impact
        ``before`` and ``after``; ``table()``, measure by measure; ``shares()``, value by value.

    Notes
    -----
    PQ12 and PQ13 of Chapman et al. Errors as for `profile`.
    """
    return compare_step(prov.currents, step, column, source=source, output=output, was=was or {})
