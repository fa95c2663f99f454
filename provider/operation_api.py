"""The query API's questions of operations, columns and cells; `provspark.api.Provenance` has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from provspark.index_store.query.cell_neighbourhood import CellNeighbourhood
from provspark.index_store.query.explanations import Explanations
from provspark.index_store.query.nodes import Direction
from provspark.index_store.query.operation_list import operation_table
from provspark.index_store.query.rowset import RowSet
from provspark.operation_questions import ColumnNames
from provspark.question_parameters import Rows, Which
from provspark.replay_api import ReplayApi

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from provspark.replay.engine import Progress

__all__ = ["OperationApi"]


class OperationApi(ReplayApi):
    """What `Provenance` answers about operations, columns and cells."""

    def columns(
        self,
        dataset: str | RowSet,
        column: ColumnNames = None,
        *,
        direction: Direction = "backward",
        to: str | None = None,
        existence: bool = True,
        **which: Unpack[Which],
    ) -> pa.Table:
        """Find the columns that columns came from, or went into.

        Parameters
        ----------
        column : str or sequence of str, optional
            Columns of `dataset`; all of them when it is left out.
        direction : {"backward", "forward"}
        to : str, optional
            A data set whose columns are wanted; without it, those at the ends of all ways.
        existence : bool
            Also tell what decides which rows there are: backward the columns of filters, joins, groups and sorts, with
            a null for `column`; forward the data sets whose rows the columns decide about, with a null for
            `source_column`.
        **which
            `version`, `run`, `as_of` and `kinds`, as for all questions; `kinds` is both unless told.

        Returns
        -------
        pyarrow.Table
            column, dataset, version, occurrence, source_column, kind, dependence, exact, steps. `source_column` is the
            column found, whatever the direction. `dependence` is one of OpenLineage's transformation kinds: identity,
            transformation and aggregation say that a value goes in; join, filter, group by, sort, window and
            conditional that it decides. `exact` is false where the rows' values choose whether the column goes in
            (CASE, coalesce, pivot …), or where a step kept no operations. A count of rows comes of the rows: its
            `source_column` is null. `steps` are those on the ways between the two, in the
            order in which they ran.

        Raises
        ------
        UnknownColumnError
            With names that come near, or the operation that dropped the column on the way.
        UntrackedError, UnknownDatasetError, UnknownVersionError, UnknownRunError, ConditionError
        """
        asked = self.ask.columns(dataset, column, direction=direction, to=to, existence=existence, **which)
        return asked.table()

    def cells(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        columns: ColumnNames = None,
        *,
        direction: Direction = "backward",
        to: str | None = None,
        existence: bool = False,
        replay: bool = False,
        progress: Progress | None = None,
        functions: bool = False,
        **which: Unpack[Which],
    ) -> pa.Table:
        """Find the cells that cells came from, or went into.

        A cell's lineage is, for each reading and kind of edge, its row's edges cut by its column's bits for that
        reading and kind: the name beside a windowed sum owes nothing to other rows, the sum does.

        Parameters
        ----------
        columns : str or sequence of str, optional
            Columns of `dataset`; all of them when it is left out.
        existence : bool
            Also tell the cells that decided that the row is there; they have a null for `column` (backward), or for
            `source_column` (forward).
        replay : bool
            Where the rows' values choose the source, let a replay of these rows say what they chose: of CASE, IF,
            coalesce, NVL, FILTER, pivot and unpivot what each row did read. What it can't settle stays flagged.
        progress, functions
            As for `before_after`.
        dataset, rows, direction, to, **which
            See `Provenance.backward`; values of context are told with ``kinds=("data", "context")``.

        Returns
        -------
        pyarrow.Table
            row, column, dataset, version, occurrence, source_row, source_column, kind, dependence, exact, why. Where
            the rows' values choose the source (CASE, coalesce, FILTER, pivot, unpivot) the answer is a superset:
            `exact` is false, and `why` names the operation.

        Notes
        -----
        TensProv's why for attribute values. Errors as for `columns` and `backward`.
        """
        if not replay:
            asked = self.ask.cells(dataset, rows, columns, direction=direction, to=to, existence=existence, **which)
            return asked.table()
        with self.following(progress, functions) as replayer:
            settled = self.ask.cells(
                dataset, rows, columns, direction=direction, to=to, existence=existence, settle=replayer.cells, **which
            )
            return settled.table()

    def how(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        direction: Direction = "backward",
        to: str | None = None,
        **which: Unpack[Which],
    ) -> Explanations:
        """Find the rows that rows came from, or went into, and the operations on the way to each.

        Parameters are those of `backward`.

        Returns
        -------
        How
            ``why()`` is the table of `backward` or `forward` with the number of each line's path;
            ``operations()`` the operations of each path, in order.

        Notes
        -----
        TensProv's how-provenance.
        """
        return self.ask.how(dataset, rows, direction=direction, to=to, **which)

    def operations(
        self,
        what: str | RowSet,
        rows: Rows = None,
        column: ColumnNames = None,
        *,
        direction: Direction = "backward",
        to: str | None = None,
        parts: bool = False,
        **which: Unpack[Which],
    ) -> pa.Table:
        """List the operations of a step, or all those behind a data set, in the order in which they ran.

        Parameters
        ----------
        what : str or RowSet
            A step's id (or its beginning), a data set, or some of its rows.
        rows : iterable of int, optional
            Only the operations on the ways of these rows; conditions may choose them, too (`where`).
        column : str or sequence of str, optional
            Only the operations that touched these columns; with rows, these cells.
        direction : {"backward", "forward"}
            Those that made the data set, or those that were done to it.
        parts : bool
            Tell each operation alone. Without it, those of one script line read as one, and those that
            `provspark.operation` named.

        Returns
        -------
        pyarrow.Table
            step, write, dataset (that the write wrote), operations (numbers within the write), categories, contextual,
            text, site, name, columns_in, columns_out, reads, makes, drops, rows_in, rows_out (null where not counted).

        Notes
        -----
        TensProv's Q9 and Chapman et al.'s PQ1; with columns, rows or both their PQ4, PQ5 and PQ6.
        """
        asked = self.ask.operations(what, rows, column, direction=direction, to=to, parts=parts, **which)
        return operation_table(asked)

    def cell_neighbourhood(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        columns: ColumnNames = None,
        direction: Direction = "backward",
        *,
        hops: int | None = None,
        limit: int = 10_000,
        **which: Unpack[Which],
    ) -> CellNeighbourhood:
        """Collect the cells around cells and the edges between them, for exports.

        Parameters
        ----------
        columns : str or sequence of str, optional
            Columns of `dataset`; all of them when it is left out.
        dataset, rows, direction, hops, limit, **which
            See `Provenance.neighbourhood`; a direction is one of two.

        Returns
        -------
        CellNeighbourhood
            ``cells``, ``edges``, ``prov_json()``.
        """
        return self.ask.cell_neighbourhood(dataset, rows, columns, direction, hops=hops, limit=limit, **which)

    def dropped(self, dataset: str | RowSet, column: ColumnNames = None, **which: Unpack[Which]) -> pa.Table:
        """Tell where columns end: the operations that did not hand them on, under any name.

        Returns
        -------
        pyarrow.Table
            column, known_as (its name by then), text, site, name, step, write, dataset (that the write wrote),
            operation (its number within the write), into (columns that the write made of it). A column that is computed
            anew from itself lives on; one that lives on to the last data sets has no line.

        Notes
        -----
        Chapman et al.'s PQ7.
        """
        return self.ask.dropped(dataset, column, **which).table()
