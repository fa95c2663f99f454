"""Which operations are on the way of these rows?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.column_choice import known_direction
from provspark.index_store.query.explanations import Explanations, explain
from provspark.index_store.query.nodes import Direction
from provspark.index_store.query.parameter_types import DatasetName, Rows
from provspark.index_store.query.question import SURE, question
from provspark.index_store.query.rowset import RowSet

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["how"]


@question(follows=SURE, paper="TensProv Q5, Q6; Chapman et al. PQ3")
def how(
    prov: Asking,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    *,
    direction: Direction = "backward",
    to: DatasetName | None = None,
    **which: Unpack[Which],
) -> Explanations:
    """Find the rows that rows came from, or went into, and the operations on the way to each.

    Parameters
    ----------
    direction : {"backward", "forward"}
        Where the rows came from, or what they went into.
    dataset, rows, to, **which
        See `backward`.

    Returns
    -------
    Explanations
        ``table()`` is the table of `backward` or `forward` with the number of each line's path;
        ``operations()`` the operations of each path, in order.

    Notes
    -----
    TensProv's how-provenance.
    """
    known_direction(direction)
    asked = prov.asked("how", dataset, rows, which)
    linker, place = asked.view.linker(direction), asked.view.dataset(to)
    return explain(linker, asked.at, asked.labels, asked.start().boxes, direction, place, asked.kinds, asked.used)
