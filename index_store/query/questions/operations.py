"""Which operations made these rows or columns, or were applied to them?"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from provspark.index_store.query.arguments import Edges
from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.column_choice import known_direction
from provspark.index_store.query.nodes import Direction, WriteNode
from provspark.index_store.query.operation_list import OperationList, operation_lines
from provspark.index_store.query.parameter_types import ColumnNames, DatasetName, Rows, StepOrDataset
from provspark.index_store.query.question import SURE, question
from provspark.index_store.query.questions.how import how
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.touched import touching
from provspark.index_store.query.walk import doubts, plan, unreadable_stops
from provspark.model.errors import ConditionError, UnknownDatasetError
from provspark.model.progress import enter
from provspark.model.stops import Stop

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["operations"]


@question(follows=SURE, paper="TensProv Q9; Chapman et al. PQ1, PQ4, PQ5, PQ6")
def operations(
    prov: Asking,
    what: StepOrDataset | RowSet,
    rows: Rows = None,
    column: ColumnNames = None,
    *,
    direction: Direction = "backward",
    to: DatasetName | None = None,
    parts: bool = False,
    **which: Unpack[Which],
) -> OperationList:
    """List the operations of a step, or of all steps that led to a dataset, in execution order.

    Parameters
    ----------
    what : str or RowSet
        A step's id (or its beginning), a dataset, or some rows of a dataset.
    rows : iterable of int, optional
        Only the operations that these rows went through. `where` selects rows by value.
    column : str or sequence of str, optional
        Only the operations that touched these columns; with rows, these cells.
    direction : {"backward", "forward"}
        The operations that made the dataset, or those that later steps applied to it.
    to : str, optional
        Only the operations on paths to this dataset.
    parts : bool
        Return each operation on its own, instead of combining the operations of one script line. Without it, the
        operations that `provspark.operation` names are combined, too.
    **which
        See `backward`.

    Returns
    -------
    OperationList
        step, write, dataset (that the write wrote), operations (numbers within the write), category, contextual,
        text, site, name, columns_in, columns_out, reads, makes, drops, rows_in, rows_out (null where not counted),
        exact, why, paper_categories. With columns it may be a superset: `exact` is false if the values of a row
        determine whether the operation touched them (CASE, coalesce, pivot …), and `why` names the expression.
        `categories` is the former name of `paper_categories`; the next release removes it.

    Raises
    ------
    AmbiguousStepError
        The ids of several steps start with `what`.

    Notes
    -----
    TensProv's Q9 and Chapman et al.'s PQ1; with columns, rows or both their PQ4, PQ5 and PQ6.
    """
    known_direction(direction)
    nodes = _step(prov, str(what)) if isinstance(what, str | PathLike) else None
    if nodes is not None:
        if rows is not None or column is not None or which:
            raise ConditionError(
                f"{what} is a step, and the operations of a step can't be filtered. Pass one of its datasets instead."
            )
        lines = [line for node in nodes for line in operation_lines(node, parts=parts)]
        return OperationList(tuple(lines), tuple(sorted({s for node in nodes for s in _unkept(node)})))
    edges = Edges.of("operations", which)
    if "kinds" in which:
        which = {**which, "kinds": edges.kinds}
    some = rows is not None or which.get("where") is not None or not isinstance(what, str | PathLike)
    if column is not None:
        return _of_columns(prov, what, rows, column, direction, to, parts, which, cut=some)
    if some or to is not None:
        explanations = how(prov, what, rows, direction=direction, to=to, **which)
        return OperationList(tuple(explanations.all_operations(parts=parts)), explanations.stops)
    asked = prov.asked("operations", what, None, which)
    linker = asked.view.linker(direction)
    route = plan(linker, [asked.at], direction).nodes
    stops = {*unreadable_stops(prov.graph), *asked.stops}
    for node in route:
        enter(node.step)
        made = str(node.write.output.dataset)
        stops |= {Stop(blur, node.step, made, why) for blur, why, _ in doubts(linker, node, direction)}
        stops |= set(_unkept(node))
    ran = route[::-1] if direction == "backward" else route
    lines = [line for node in ran for line in operation_lines(node, parts=parts)]
    return OperationList(tuple(lines), tuple(sorted(stops)))


def _of_columns(
    prov: Asking,
    what: StepOrDataset | RowSet,
    rows: Rows,
    column: ColumnNames,
    direction: Direction,
    to: str | None,
    parts: bool,
    which: Which,
    *,
    cut: bool,
) -> OperationList:
    if cut:
        asked = prov.asked("cells", what, rows, which)
    else:
        if "semantics" in which:
            raise ConditionError(
                "semantics applies to selected rows, but none are selected. Pass rows or where, or remove semantics."
            )
        which = {"kinds": ("data", "context"), **which}
        whole = what.at.version.dataset.uri if isinstance(what, RowSet) else what
        asked = prov.asked("columns", whole, None, which)
    return touching(asked, column, direction, asked.view.dataset(to), rows=cut, parts=parts)


def _unkept(node: WriteNode) -> list[Stop]:
    """Return the stop for a write whose operations are not in the store."""
    if node.is_read or node.operations or node.write.coverage == "untracked":
        return []
    return [Stop("columns", node.step, str(node.write.output.dataset), "its operations were not kept")]


def _step(prov: Asking, what: str) -> list[WriteNode] | None:
    """Return the writes of the step whose id is, or starts with, `what`; None if `what` is a dataset or unknown.

    Raises
    ------
    AmbiguousStepError
        The ids of several steps start with `what`, and no dataset has this name.
    """
    graph = prov.graph
    try:
        if what.strip():
            graph.known(graph.named(what))
        return None
    except UnknownDatasetError:
        step = graph.step(what)
    return None if step is None else [n for n in graph.nodes if n.step == step]
