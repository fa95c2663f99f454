"""The questions that replay answers, as `provspark.api.Provenance` has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from provspark.index_store.query.rowset import RowSet
from provspark.model.errors import ConditionError, ReplayError, UnknownStepError
from provspark.model.runs import Runs

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from provspark.index_store.query.current_versions import Currents
    from provspark.index_store.query.graph import Graph
    from provspark.index_store.query.nodes import WriteNode
    from provspark.index_store.values.selection import Condition
    from provspark.operation_questions import ColumnNames
    from provspark.question_parameters import Asked
    from provspark.questions import Questions, Rows, Which
    from provspark.replay.engine import Progress
    from provspark.replay.history import History
    from provspark.replay.records import Replayed
    from provspark.replay.replayer import Replayer
    from provspark.replay.shared_witnesses import SharedRows
    from provspark.replay.spread import OperationProfiles
    from provspark.replay.why_not import Looked, WhyNot

__all__ = ["ReplayApi"]


class ReplayApi:
    """Questions that are answered by running stored operations again, on Spark, for the rows in question."""

    ask: Questions
    _replayer: Replayer | None = None

    @property
    def graph(self) -> Graph:
        """The writes of all stores."""
        raise NotImplementedError

    @property
    def currents(self) -> Currents:
        """The current versions of its datasets."""
        raise NotImplementedError

    @property
    def replayer(self) -> Replayer:
        """What runs replays; its ``most`` says how many rows are followed, and ``cancel()`` stops it."""
        from provspark.replay.replayer import Replayer

        if self._replayer is None:
            self._replayer = Replayer()
        return self._replayer

    def before_after(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        step: str | None = None,
        all_sources: bool = False,
        progress: Progress | None = None,
        functions: bool = False,
        **which: Unpack[Which],
    ) -> Replayed:
        """Tell the values of rows after each operation of a step, with the cells that it changed.

        Parameters
        ----------
        step : str, optional
            The step to replay: the one that made the rows, or one that read them. Without it, the one that made
            them, or else the only one that read them.
        all_sources : bool
            For rows that the step read: each line also tells the rows of inputs that it met on the way. For rows
            that it made it always does.
        progress : callable, optional
            Told how many operations are done, how many there are, and what the next one does.
        functions : bool
            Run Python functions of the user's, too: each by the module that its name says, which has to be there to
            import. The script itself never runs. Without it, rows are followed up to such an operation.
        dataset, rows, **which
            See `Provenance`.

        Returns
        -------
        Replayed
            ``stages`` (an operation each, with its lines), ``endings``, ``verified``, ``scanned``, ``stopped``.

        Raises
        ------
        ReplayError
            The step's operations are not stored, or no Spark runs here.
        VersionChangedError, ValuesUnavailableError
            What the step read has changed since, or can't be read by row.
        """
        asked = self.ask.asked("before_after", dataset, rows, which)
        with self.following(progress, functions) as replayer:
            return _replayed(replayer, asked, step, all_sources)[1]

    def co_contributory_lines(
        self,
        dataset: str | RowSet,
        rows: Rows,
        operation: int,
        to: int,
        *,
        via: int | None = None,
        step: str | None = None,
        progress: Progress | None = None,
        functions: bool = False,
        **which: Unpack[Which],
    ) -> SharedRows:
        """Find the intermediate rows that were used together with intermediate rows.

        Parameters
        ----------
        dataset, rows
            Stored rows that a step made or read; the rows asked about are those after `operation` that led to them, or
            came of them.
        operation, to : int
            Numbers of operations of the step, as `operations(step, parts=True)` and `before_after` tell them: rows
            after the first are asked about, rows after the second are wanted.
        via : int, optional
            The operation on the way to whose rows they were used together; the last one unless told.
        step, progress, functions, **which
            As for `before_after`.

        Returns
        -------
        Beside
            ``found``, the wanted rows that stand in one derivation with those asked about; ``table()``.

        Raises
        ------
        ReplayError
            No such operation, or none of these rows comes to it. Other errors as for `before_after`.

        Notes
        -----
        TensProv's Q10 on intermediate data sets.
        """
        from provspark.replay.shared_witnesses import co_contributory

        asked = self.ask.asked("co_contributory_lines", dataset, rows, which)
        with self.following(progress, functions) as replayer:
            node, told = _replayed(replayer, asked, step, True)
            return co_contributory(
                replayer, node, told, operation, to, len(told.operations) - 1 if via is None else via
            )

    def co_dependency_lines(
        self,
        dataset: str | RowSet,
        rows: Rows,
        operation: int,
        to: int,
        *,
        via: int,
        step: str | None = None,
        progress: Progress | None = None,
        functions: bool = False,
        **which: Unpack[Which],
    ) -> SharedRows:
        """Find the intermediate rows that share what they came from with intermediate rows.

        Parameters
        ----------
        via : int
            The operation after which the rows stand that both came from.
        dataset, rows, operation, to, step, progress, functions, **which
            As for `co_contributory_lines`.

        Returns
        -------
        Beside
            ``found``, rows after `to` that share a row after `via` with those asked about, which are left out.

        Notes
        -----
        TensProv's Q11 on intermediate data sets. Errors as for `co_contributory_lines`.
        """
        from provspark.replay.shared_witnesses import co_dependency

        asked = self.ask.asked("co_dependency_lines", dataset, rows, which)
        with self.following(progress, functions) as replayer:
            node, told = _replayed(replayer, asked, step, True)
            return co_dependency(replayer, node, told, operation, to, via)

    def history(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        columns: ColumnNames = None,
        *,
        direction: Literal["backward", "forward", "both"] = "both",
        progress: Progress | None = None,
        functions: bool = False,
        **which: Unpack[Which],
    ) -> History:
        """Tell all that rows derive from and all that derives from them, with the operations between, across steps.

        Where rows, or rows made of them, end, `History.endings` tells the operation that dropped them, and why. With
        columns it is the history of these cells: their values after each operation on their way, and where they ended,
        with their row or, as `History.drops` tells, with their column. Columns without rows or conditions are
        followed without a replay.

        Parameters
        ----------
        columns : str or sequence of str, optional
            Columns of `dataset`.
        direction : {"both", "backward", "forward"}
        progress, functions, dataset, rows, **which
            As for `before_after`.

        Returns
        -------
        History
            ``passages``, one for each write, ``endings``, ``drops``, ``table()``, ``cells()``. A write that can't be
            replayed says why.

        Raises
        ------
        UnknownColumnError
            With names that come near, or the operation that dropped the column on the way to the data set.

        Notes
        -----
        PQ7 to PQ11 of Chapman et al.: invalidation of features (columns alone), records (rows alone) and items (both),
        and the histories of items and records.
        """
        from provspark.replay.history import history

        if direction not in ("both", "backward", "forward"):
            raise ConditionError(f"no direction {direction!r}; there are 'both', 'backward' and 'forward'")
        asked = self.ask.asked("history", dataset, rows, which)
        positions = [] if columns is None else self.ask.positions(asked, columns)
        some = columns is None or rows is not None or which.get("where") is not None or isinstance(dataset, RowSet)
        about = asked.view.back, asked.view.ahead, RowSet(asked.at, asked.labels), direction, positions
        if not some:
            return history(self.replayer, *about, replayed=False)
        with self.following(progress, functions) as replayer:
            return history(replayer, *about)

    def history_pages(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        direction: Literal["backward", "forward", "both"] = "forward",
        progress: Progress | None = None,
        functions: bool = False,
        **which: Unpack[Which],
    ) -> Iterator[History]:
        """Tell the history of many rows page by page, as many rows at once as a replay follows.

        Parameters are those of `history`. Pages come as they are asked for; stopping early costs nothing more.
        """
        asked = self.ask.asked("history_pages", dataset, rows, which)
        most = self.replayer.most
        for first in range(0, asked.labels.count, most):
            numbers = np.arange(first, min(first + most, asked.labels.count))
            page = RowSet(asked.at, Runs.of(asked.labels.at(numbers)))
            about: Which = {"run": which.get("run"), "as_of": which.get("as_of")}
            yield self.history(page, direction=direction, progress=progress, functions=functions, **about)

    def why_not_pages(
        self,
        dataset: str,
        where: Sequence[Condition | tuple[str, str, Any]],
        *,
        version: str | None = None,
        run: str | None = None,
        as_of: datetime | str | None = None,
        progress: Progress | None = None,
        functions: bool = False,
    ) -> Iterator[WhyNot]:
        """Tell why no row satisfies a condition page by page, where many input rows do.

        Parameters are those of `why_not`.
        """
        looked = self._looked(dataset, where, {"version": version, "run": run, "as_of": as_of})
        first, more = 0, True
        while more:
            with self.following(progress, functions) as replayer:
                page = looked.page(replayer, first)
            yield page
            first, more = first + replayer.most, any(m.rest for m in page.missed)

    def why_not(
        self,
        dataset: str,
        where: Sequence[Condition | tuple[str, str, Any]],
        *,
        version: str | None = None,
        run: str | None = None,
        as_of: datetime | str | None = None,
        progress: Progress | None = None,
        functions: bool = False,
    ) -> WhyNot:
        """Tell why no row of a data set satisfies a condition.

        The condition is taken back to columns of inputs along columns that were handed on unchanged; input rows that
        satisfy it are replayed, and for each the operation is told at which it ended.

        Parameters
        ----------
        where : sequence of (column, operator, value)
            As for `Provenance`, on the data set's columns.
        progress, functions, dataset, version, run, as_of
            As for `before_after`.

        Returns
        -------
        WhyNot
            ``found`` (rows that do satisfy it), ``missed`` (for each input), ``endings``, ``untraced``.

        Raises
        ------
        ReplayError
            No captured step made the data set. Other errors as for `before_after`.
        """
        looked = self._looked(dataset, where, {"version": version, "run": run, "as_of": as_of})
        with self.following(progress, functions) as replayer:
            return looked.page(replayer)

    def _looked(self, dataset: str, where: Sequence[Condition | tuple[str, str, Any]], which: Which) -> Looked:
        """Find what satisfies conditions in what a data set was made of."""
        from provspark.index_store.values.selection import condition_of
        from provspark.replay.why_not import look

        asked = self.ask.asked("why_not", dataset, (), which)
        conditions = [condition_of(c) for c in where]
        conditions = [c._replace(value=tuple(c.value)) if isinstance(c.value, list) else c for c in conditions]
        return look(asked.view.back, asked.at, conditions)

    def counts(self, step: str, *, progress: Progress | None = None, functions: bool = False) -> pa.Table:
        """Count the rows that go into and come out of each operation of a step, by running all of it again.

        Returns
        -------
        pyarrow.Table
            step, write, operation, node, text, site, rows_in, rows_out, why: counts are null where the operation
            can't be replayed, as ``why`` says.

        Raises
        ------
        UnknownStepError
        """
        nodes: list[WriteNode] = [n for n in self.graph.nodes if n.step == step]
        if not nodes:
            raise UnknownStepError(step, (m.step for m in self.graph.manifests), len(self.graph.broken))
        lines = []
        with self.following(progress, functions) as replayer:
            for node in nodes:
                counts = replayer.counts(node)
                out = {o.index: n for o, n, _ in counts}
                for o, n, why in counts:
                    before = [out[c] for c in o.children]
                    about = {"operation": o.index, "node": o.node, "text": o.text, "site": o.site, "why": why}
                    into = None if not before or min(before) < 0 else sum(before)
                    counted = {"rows_in": into, "rows_out": n if n >= 0 else None}
                    lines.append({"step": step, "write": node.write.index, **about, **counted})
        return pa.Table.from_pylist(lines, schema=_COUNTS)

    def operation_profiles(
        self,
        step: str,
        operations: Sequence[int] | None = None,
        *,
        columns: Sequence[str] | None = None,
        output: str | None = None,
        progress: Progress | None = None,
        functions: bool = False,
    ) -> OperationProfiles:
        """Tell how values are distributed before and after operations of a step, by running all of it again.

        Parameters
        ----------
        step : str
            A step's id, or the data set that it wrote.
        operations : sequence of int, optional
            Their numbers, as `operations(step, parts=True)` tells them; all unless told.
        columns : sequence of str, optional
            Only these, of each operation that has them.
        output : str, optional
            Which data set that it wrote, where there are several.
        progress, functions
            As for `before_after`.

        Returns
        -------
        OperationProfiles
            ``after(number)`` and ``impact(number)`` of an operation, ``table()`` of all, ``verified``. An operation
            that can't be replayed, or that Spark may have let make other rows of the same ones, says why.

        Raises
        ------
        ReplayError
            The step's operations are not stored, or its lineage is untracked; there is no such operation.
        UnknownColumnError
            No operation has such a column.

        Notes
        -----
        PQ12 and PQ13 of Chapman et al., operation by operation.
        """
        from provspark.profile_api import profile_of_version, written

        at = written(self.currents, step, output)
        with self.following(progress, functions) as replayer:
            return replayer.spread(at.node, operations, columns, lambda: profile_of_version(self.graph, at))

    @contextmanager
    def following(self, progress: Progress | None, functions: bool) -> Iterator[Replayer]:
        """What runs replays, which meanwhile tell how far they are, and run the user's functions if they may."""
        replayer = self.replayer
        before = replayer.functions
        replayer.progress, replayer.functions = progress, functions or before
        try:
            yield replayer
        finally:
            replayer.progress, replayer.functions = None, before


def _replayed(replayer: Replayer, asked: Asked, step: str | None, all_sources: bool) -> tuple[WriteNode, Replayed]:
    """Replay the step that made rows, or the only one that read them, or the one that is named."""
    from provspark.replay.crossings import crossed

    made = {n: r for _, n, r in crossed(asked.view.back.links(asked.at, "backward"), asked.labels)}
    chosen = {n: r for n, r in made.items() if step in (None, n.step)}
    if len(chosen) == 1:
        ((node, runs),) = chosen.items()
        return node, replayer.outputs(node, runs)
    read = [
        (v, n, r)
        for v, n, r in crossed(asked.view.ahead.links(asked.at, "forward"), asked.labels)
        if step in (None, n.step)
    ]
    nodes = {n for _, n, _ in read} if not chosen else set(chosen)
    if len(nodes) != 1:
        names = sorted({n.step for n in nodes}) or sorted({n.step for n in made})
        told = f"steps {', '.join(names)} made or read them; name one" if names else "no step made or read them"
        raise ReplayError(f"which step of {asked.at.version.dataset} to replay is not clear: {told}")
    (node,) = nodes
    return node, replayer.inputs(node, {v: r for v, _, r in read}, all_sources=all_sources)


_COUNTS = pa.schema(
    [
        ("step", pa.string()),
        ("write", pa.int64()),
        ("operation", pa.int64()),
        ("node", pa.string()),
        ("text", pa.string()),
        ("site", pa.string()),
        ("rows_in", pa.int64()),
        ("rows_out", pa.int64()),
        ("why", pa.string()),
    ]
)
