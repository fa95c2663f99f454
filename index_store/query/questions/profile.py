"""How are the values of a dataset, or of these rows, distributed?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.profiles.profile import Profile
from provspark.index_store.profiles.profiled_versions import profile_of_version
from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.parameter_types import ColumnNames, DatasetName, Rows
from provspark.index_store.query.question import question
from provspark.index_store.query.rowset import RowSet

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["profile"]


@question()
def profile(
    prov: Asking,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    *,
    columns: ColumnNames = None,
    **which: Unpack[Which],
) -> Profile:
    """Describe the distribution of the values of a dataset, or of some of its rows.

    For each column: count, nulls, distinct values, mean, deviation, quantiles, histogram and most frequent values; for
    each two numeric columns their correlation. For all rows, the profile that a step stored (``prov_profile``) is used
    if there is one. Otherwise the files are read.

    Parameters
    ----------
    columns : str or sequence of str, optional
        Columns of `dataset`. Default: all.
    dataset, rows, **which
        See `backward`.

    Raises
    ------
    UnknownColumnError, VersionChangedError
    ValuesUnavailableError
        The values can't be read by position, or are too many.
    """
    asked = prov.asked("profile", dataset, rows, which)
    # If no file of a version is left, only the profile that a step stored can answer.
    chosen = asked.labels if asked.labels or asked.selects != "all" else None
    return profile_of_version(prov.graph, asked.at, chosen, columns)
