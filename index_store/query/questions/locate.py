"""Which rows of another version are the same rows?"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

import pyarrow as pa

from provspark.index_store.query.answer import Answer
from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.parameter_types import DatasetName, Rows, VersionId
from provspark.index_store.query.question import question
from provspark.index_store.query.rowset import Located, RowSet

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["locate"]


@question()
def locate(
    prov: Asking,
    dataset: DatasetName | RowSet | Answer | pa.Table,
    rows: Rows = None,
    *,
    into: VersionId | None = None,
    **which: Unpack[Which],
) -> Located:
    """Find the same rows in another version of their dataset.

    Rows of files are matched by the files that both versions have. Rows of a database table are matched by key, but
    only across captured appends: after an overwrite they count as gone.

    Parameters
    ----------
    dataset : str, RowSet, Answer or table of an answer
        A dataset, with the other parameters to select its rows and their version; or rows of one version.
    into : str, optional
        The version in which to look for the rows. Default: the current one.
    rows, **which
        See `backward`. A set of rows already has its version: if `dataset` is one, `run` and `as_of` select the version
        in which to look for its rows.

    Returns
    -------
    Located
        A set of that version. ``gone`` are the rows that are not in it; ``table()`` lists both, row by row.

    Raises
    ------
    UnknownVersionError, UnknownRunError
    ConditionError
        The answer has rows of several versions; or both versions have a file but split it into rows differently.

    Examples
    --------
    The row ids that rows of last month's report have now::

        prov.locate("/data/report", [17, 18], as_of="2024-05-31").table()
    """
    if isinstance(dataset, (str, os.PathLike)):
        asked = prov.asked("locate", os.fspath(dataset), rows, which)
        return prov.located(RowSet(asked.at, asked.labels), into, None, None)
    former = rows if isinstance(rows, str) else which.get("version")
    if former is not None:
        warnings.warn(
            "version goes with the next release: the version in which to look for rows is called into now",
            DeprecationWarning,
            stacklevel=2,
        )
    return prov.located(prov.rowset(dataset), into or former, which.get("run"), which.get("as_of"))
