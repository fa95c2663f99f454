"""Which rows of another version are the same rows?"""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa

from provspark.index_store.query.answer import Answer
from provspark.index_store.query.asking import Asking
from provspark.index_store.query.question import question
from provspark.index_store.query.rowset import Located, RowSet

__all__ = ["locate"]


@question()
def locate(
    prov: Asking,
    rows: RowSet | Answer | pa.Table,
    version: str | None = None,
    *,
    run: str | None = None,
    as_of: datetime | str | None = None,
) -> Located:
    """Find the same rows in another version of their dataset: those of the files that both have.

    Rows of a database table are matched by key, but only across captured appends: after an overwrite they count as
    gone.

    Parameters
    ----------
    rows : RowSet, Answer or table of an answer
        Rows with their version, of one version.
    version, run, as_of
        Choose the version in which to look for the rows, as in every question; without them, the current one.

    Returns
    -------
    Located
        A set of that version. ``gone`` are the rows that are not in it; ``table()`` lists both, row by row.

    Raises
    ------
    UnknownVersionError, UnknownRunError
    ConditionError
        The answer has rows of several versions; or both versions have a file and cut it into rows differently.

    Examples
    --------
    The row ids that rows of last month's report have now::

        was = prov.select("/data/report", [17, 18], as_of="2024-05-31")
        prov.locate(was).table()
    """
    return prov.located(prov.rowset(rows), version, run, as_of)
