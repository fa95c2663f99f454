"""At which step do the histories of two versions of a row begin to differ?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from provspark.index_store.query.answer import about
from provspark.index_store.query.arguments import several
from provspark.index_store.query.asking import Asked, Asking, Which
from provspark.index_store.query.history_differences import first_difference_of
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.parameter_types import ColumnNames, DatasetName, Rows, VersionId
from provspark.index_store.query.question import SURE, question
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.tabular import TableAnswer
from provspark.index_store.query.trace import Trace, trace_rows
from provspark.index_store.values import read_rows
from provspark.index_store.values.selection import select_rows
from provspark.model.errors import ConditionError
from provspark.model.runs import Runs

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["first_difference"]

MOST = 100
"""Maximum number of rows, because both histories of each row are computed and their values read."""


@question(follows=SURE, compares=True, words=("difference", "related_version", "related_step"))
def first_difference(
    prov: Asking,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    *,
    other: VersionId,
    key: ColumnNames = None,
    ignoring: ColumnNames = (),
    **which: Unpack[Which],
) -> TableAnswer:
    """Compare a row in two versions of a dataset: find the first step where its history differs.

    The history of a row is all rows that it came from, with their values and the operations of each step. The two
    histories are compared in the order of the data flow: sources first, the row itself last.

    Parameters
    ----------
    other : str
        The version that has the other row.
    key : str or sequence of str, optional
        Columns that identify the row in `other`. Default: the row with the same id.
    ignoring : str or sequence of str
        Columns that are not compared, in any dataset. For example, the day of a run.
    dataset, rows, **which
        See `backward`. At most 100 rows.

    Returns
    -------
    TableAnswer
        row, related_row (the row in `other`), difference, dataset (whose rows are the first that differ), version,
        related_version, step (that wrote it), related_step, exact, why. ``difference`` is ``source``, ``path``,
        ``task``, ``operations``, ``rows``, ``constants``, ``values``, ``none`` or
        ``unknown``; see `Difference`. ``exact`` is false if some values
        can't be read any longer: then only numbers of rows and operations were compared.

    Raises
    ------
    ConditionError
        More than 100 rows; or `other` has no row of that id or key, or several.
    VersionChangedError, ValuesUnavailableError
        `key` is given, and its values can't be read. Other errors are those of `backward`.
    """
    asked = prov.asked("first_difference", dataset, rows, which)
    if asked.labels.count > MOST:
        raise ConditionError(
            f"{asked.labels.count:,} rows are selected, but first_difference compares at most {MOST}. Select fewer "
            f"with rows or where."
        )
    there = prov.asked("first_difference", str(asked.at.version.dataset), None, {"version": other})
    mine = asked.labels.rows().tolist()
    partners = mine if key is None else [_partner(asked.at, there.at, row, several(key, "key")) for row in mine]
    writes = {(node.step, node.write.index): node for node in prov.graph.nodes}
    lines: list[dict[str, Any]] = []
    for row, partner in zip(mine, partners, strict=True):
        if partner >= there.at.version.rows:
            raise ConditionError(
                f"Version {other} has {there.at.version.rows:,} rows, so none with the id {partner}. Pass the columns "
                f"that identify a row in `key`."
            )
        histories = _history(asked, asked, row), _history(asked, there, partner)
        difference = first_difference_of(*histories, writes, several(ignoring or (), "ignoring"))
        lines.append({"row": row, "related_row": partner, **asdict(difference)})
    table = pa.Table.from_pylist(lines, schema=pa.schema(_SCHEMA))
    return TableAnswer(table.replace_schema_metadata(about(asked.at.version, "", (), used=(*asked.used, *there.used))))


_SCHEMA = (
    ("row", pa.int64()),
    ("related_row", pa.int64()),
    ("difference", pa.string()),
    ("dataset", pa.string()),
    ("version", pa.string()),
    ("related_version", pa.string()),
    ("step", pa.string()),
    ("related_step", pa.string()),
    ("exact", pa.bool_()),
    ("why", pa.string()),
)


def _history(asked: Asked, where: Asked, row: int) -> Trace:
    linker = where.view.linker("backward")
    return trace_rows(linker, where.at, Runs.of([row]), "backward", kinds=asked.kinds)


def _partner(at: VersionReference, there: VersionReference, row: int, key: Sequence[str]) -> int:
    """Return the row of another version that has the same key."""
    (values,) = read_rows(at.version, at.files, Runs.of([row]).rows(), key).to_pylist()
    wanted = [(name, "is null" if value is None else "=", value) for name, value in values.items()]
    rows = select_rows(there.version, there.files, wanted)
    if len(rows) != 1:
        named = ", ".join(key)
        raise ConditionError(
            f"In version {there.version.id}, {len(rows):,} rows have the same {named} as row {row}. Set key to columns "
            f"that identify one row."
        )
    return int(rows[0])
