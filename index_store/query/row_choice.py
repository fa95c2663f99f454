"""Selection of the rows that a question is about, by id or by value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from provspark.index_store.query.arguments import several
from provspark.index_store.query.current_versions import Current
from provspark.index_store.query.parameter_types import Rows
from provspark.index_store.query.row_ids import ends_of_ids, row_ids
from provspark.index_store.query.rowset import RowSet
from provspark.model.errors import ConditionError, RowOutOfRangeError
from provspark.model.runs import Runs

if TYPE_CHECKING:
    from provspark.index_store.values.selection import Condition

__all__ = ["chosen_rows"]


def chosen_rows(chosen: Current, rows: Rows, where: Sequence[Condition | tuple[str, str, Any]] | None) -> Runs:
    """Return the rows of a version that are selected by id or by value; by default all."""
    at = chosen.at
    if rows is not None and where is not None:
        raise ConditionError("rows and where can't be combined. Pass either rows or where, not both.")
    every = Runs.span(at.version.rows) - chosen.lost if chosen.missing else Runs.span(at.version.rows)
    uncounted = at.version.unit == "file"
    if where is not None:
        from provspark.index_store.values.selection import select_there

        selected = Runs.of(select_there(at.version, at.files, several(where, "where"), chosen.missing))
        return every if uncounted and selected else selected
    if rows is None:
        return every
    if isinstance(rows, RowSet) and rows.at.key != at.key:
        raise ConditionError(
            f"rows is a set of rows of version {rows.version} of {rows.dataset}, but the question is about version "
            f"{at.version.id} of {at.version.dataset}. Pass the set in place of the dataset, or convert it with "
            f"locate()."
        )
    # A range is checked before it becomes an array, which may not fit into memory.
    ids = rows if isinstance(rows, range) else row_ids(rows)
    low, high = ends_of_ids(ids)
    if uncounted and at.version.rows and low >= 0 and high >= at.version.rows:
        return every  # it is unknown which file a row is in
    if low < 0 or high >= at.version.rows:
        raise RowOutOfRangeError(str(at.version.dataset), low if low < 0 else high, at.version.rows)
    return Runs.of(row_ids(ids))
