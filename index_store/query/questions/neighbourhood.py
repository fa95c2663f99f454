"""Which rows are around these rows, and which edges are between them?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.column_choice import known_direction
from provspark.index_store.query.neighbourhood import Neighbourhood, collect_rows
from provspark.index_store.query.nodes import Direction
from provspark.index_store.query.parameter_types import DatasetName, Rows
from provspark.index_store.query.question import SURE, question
from provspark.index_store.query.rowset import RowSet

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["neighbourhood"]


@question(follows=SURE)
def neighbourhood(
    prov: Asking,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    direction: Direction | Literal["both"] = "backward",
    *,
    hops: int | None = None,
    limit: int = 10_000,
    **which: Unpack[Which],
) -> Neighbourhood:
    """Collect the source rows or derived rows of the given rows as a graph, for export.

    Parameters
    ----------
    direction : {"backward", "forward", "both"}
        Collect source rows, derived rows, or both.
    hops : int, optional
        The maximum number of steps to follow. Default: all.
    limit : int
        The maximum number of edges. If there are more, the query fails.
    dataset, rows, **which
        See `backward`; semantics is ``bag``.

    Returns
    -------
    Neighbourhood
        ``prov_json()``, ``node_link()``, ``graphml()``, ``networkx()``.

    Raises
    ------
    ConditionError
        There are more than `limit` edges.
    """
    known_direction(direction, (*get_args(Direction), "both"))
    asked = prov.asked("neighbourhood", dataset, rows, which)
    parts: list[Neighbourhood] = []
    for way in get_args(Direction) if direction == "both" else (direction,):
        linker = asked.view.linker(way)
        parts.append(collect_rows(linker, asked.at, asked.labels, way, context=asked.context, hops=hops, limit=limit))
    return parts[0] if len(parts) == 1 else parts[0] | parts[1]
