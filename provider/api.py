"""The query API: open a store or a catalogue and ask where rows came from and went to.

>>> import provspark
>>> prov = provspark.open("file:///data/prov")                      # doctest: +SKIP
>>> prov.backward("file:///data/out", rows=[17])                    # doctest: +SKIP
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from copy import copy
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from provspark import listings as listing
from provspark.index_store.profiles.comparison import Impact
from provspark.index_store.profiles.profile import Profile
from provspark.index_store.query.answer import (
    Answer,
    End,
    about,
    ends_of,
    gone_of,
    possible_of,
    stops_of,
    trusted_of,
    versions_of,
)
from provspark.index_store.query.current_versions import Currents, VersionUsed
from provspark.index_store.query.dataset_relation import Correspondence
from provspark.index_store.query.derivations import Derivations
from provspark.index_store.query.explanations import Explanations
from provspark.index_store.query.gone_rows import Gone
from provspark.index_store.query.graph import Graph
from provspark.index_store.query.neighbourhood import Neighbourhood
from provspark.index_store.query.nodes import Direction
from provspark.index_store.query.rowset import Located, RowSet
from provspark.index_store.query.trace import Trace
from provspark.index_store.query.trust import Trusted
from provspark.index_store.store.broken_steps import Broken
from provspark.model.steps import Manifest
from provspark.model.stops import Stop
from provspark.operation_api import OperationApi
from provspark.profile_api import ProfileApi
from provspark.questions import Questions, Rows, Which
from provspark.stores import location, open_stores, source, uncollected
from provspark.views import Views

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from provspark.index_store.store.store import Store

__all__ = [
    "Answer",
    "Broken",
    "Correspondence",
    "Derivations",
    "End",
    "Explanations",
    "Gone",
    "Impact",
    "Located",
    "Profile",
    "Provenance",
    "RowSet",
    "Stop",
    "Trace",
    "Trusted",
    "VersionUsed",
    "ends_of",
    "gone_of",
    "open",
    "possible_of",
    "stops_of",
    "trusted_of",
    "versions_of",
]

_log = logging.getLogger(__name__)


def open(url: str | os.PathLike[str]) -> Provenance:
    """Open a store, or all stores that a catalogue knows.

    Parameters
    ----------
    url : str or path
        A store's folder (``/data/prov``, ``file:///data/prov``, ``s3://bucket/prov``), or a catalogue's
        SQLAlchemy URL (``sqlite:////data/catalogue.db``, ``postgresql+psycopg2://…``).

    Raises
    ------
    StoreUnreachableError, StoreFormatError, CatalogueError, ArgumentError
    """
    return Provenance(url)


class Provenance(OperationApi, ProfileApi):
    """Answers about the steps that were published when it was opened; `refresh` looks again.

    Parameters of all questions
    ---------------------------
    dataset : str or RowSet
        Name or path, as ``file:///data/out`` or ``/data/out``; or a set of rows that `select` or another question gave.
    rows : iterable of int, optional
        Row ids of the version asked about; all rows when neither `rows` nor `where` is given.
    where : sequence of (column, operator, value), optional
        Selects rows by value instead; all conditions must hold. Operators are ``=``, ``!=``, ``<``, ``<=``, ``>``,
        ``>=``, ``in``, ``like``, ``startswith``, ``is null``, ``is not null``; a column may be ``struct.field``.
    version : str, optional
        A version's id. Default: the current version, which is the newest stored version whose files exist. With `run`
        or `as_of`: the latest one within that limit. If the files can't be listed, and for a database table: the
        version that the last successful step wrote, or else read. `versions_of` returns the version used, and why.
    run : str, optional
        A run's id (``DAG/RUN`` where several DAGs have it), or ``latest``: the version is the one that this run wrote,
        or else read, and ways forward go through its steps only.
    as_of : datetime or str, optional
        What would have been answered then: steps that ended later are left out.
    versions : {"current", "all"}
        For `forward`, forward `trace` and `co_dependency`. ``current`` (default): rows are returned in the current
        version of their dataset; rows that are no longer in it are only counted, see `gone_of`. ``all``: these rows are
        returned as well, with the version in which they were found, and a column ``gone`` marks them.
    kinds : iterable of {"data", "context", "possible"}
        Edges to follow, data edges by default. A path is context if any edge of it is, and possible if any is; each
        kind is complete on its own. Possible edges are kept apart (`possible_of`) unless they are among the kinds. A
        question that can't follow a kind raises `ConditionError`.
    semantics : {"bag", "set"}
        With ``set``, a row stands for all rows of its version that equal it in value.
    strict : bool
        For `backward`, `forward` and `trace`: also follow reads on drivers that returned one number (a count, a mean).
        Other questions raise `ConditionError`.
    trust : sequence of str, or str
        For the same, as a list or separated by commas: tasks, operators, lines of scripts (``clean.py:12``) and kinds
        of stops whose possible edges, ends and stops are left out; `trusted_of` lists them. See docs/stops.md.

    Attributes
    ----------
    ask : Questions
        The same questions, whose answers are kept as runs, to be united, intersected and taken from one another.
    """

    def __init__(self, url: str | os.PathLike[str]) -> None:
        self.url = location(url)
        self._stores: dict[str, Store] = {}
        self._keep: Callable[[Manifest], bool] | None = None
        self._keep_broken: Callable[[Broken], bool] = lambda _: True
        self._whole = Graph(())
        self._use(self._whole)
        self.refresh()

    def __repr__(self) -> str:
        return f"provspark.open({self.url!r})"

    def refresh(self) -> None:
        """Take in the steps that were published since.

        A step that can't be read is logged once, and named in `broken`; the others answer. So does one of several
        stores of a catalogue.

        Raises
        ------
        StoreUnreachableError, StoreFormatError, CatalogueError
        """
        with uncollected():
            named = source(self.url)
            opened = open_stores(named.stores, self._stores)
            renewed = self._whole.renewed(opened.stores.values(), opened.broken, named.declarations)
            self._stores = opened.stores
            if renewed is not self._whole:
                fresh = [b for b in renewed.broken if b not in self._whole.broken]
                self._whole = renewed
                self._use(renewed)
                for broken in fresh:
                    _log.warning("%s Answers leave it out.", broken)

    @property
    def broken(self) -> tuple[Broken, ...]:
        """Steps that can't be read, and stores of a catalogue: answers leave them out."""
        return self.graph.broken

    def restricted(
        self, keep: Callable[[Manifest], bool], broken: Callable[[Broken], bool] = lambda _: False
    ) -> Provenance:
        """The same, as if only the steps that `keep` is true for had been published.

        Nothing of the others is in any answer: not their names, counts or reasons. Where they made or read
        files, a path ends. Steps that can't be read are named where `broken` is true for them.
        """
        out = copy(self)
        out._keep = keep if self._keep is None else lambda m, own=self._keep: own(m) and keep(m)
        own_broken = self._keep_broken
        out._keep_broken = lambda b: own_broken(b) and broken(b)
        out._use(self.graph)
        return out

    def _use(self, graph: Graph) -> None:
        self._views = Views(graph if self._keep is None else graph.restricted(self._keep, self._keep_broken))
        self.ask = Questions(self._views)

    @property
    def currents(self) -> Currents:
        """The current versions of its datasets."""
        return self._views.currents

    @property
    def graph(self) -> Graph:
        """The writes of all its stores."""
        return self._views.graph

    def datasets(self) -> pa.Table:
        """One line for each data set, by name.

        Columns: dataset; versions, how many are known; version and rows, of the one that answers to the
        name; step, that wrote it (null for a source); role, ``source`` or ``derived``; coverage of that
        write (null for a source).
        """
        return listing.datasets(self.currents)

    def steps(self) -> pa.Table:
        """One line for each step, oldest first.

        Columns: step, dag_id, run_id, task_id, map_index, try_number, status, started, ended, inputs and
        outputs (lists of data sets), coverage (the least of its writes; ``untracked`` where a write went
        uncaptured), reasons (list of why something was not captured), error.
        """
        return listing.steps(self.graph)

    def unfinished(self) -> pa.Table:
        """One line for each step that was begun and is not published: its process still runs, or was killed.

        Columns as those of `steps`; status is ``unfinished``, outputs are those that were sealed so far. `provspark
        repair` publishes steps that were killed. Empty if these answers are restricted to some steps.
        """
        return listing.unfinished(self._stores.values() if self._keep is None else ())

    def select(self, dataset: str | RowSet, rows: Rows = None, **which: Unpack[Which]) -> RowSet:
        """Select rows as a set, for ``|``, ``&``, ``-`` and for further questions."""
        return self.ask.select(dataset, rows, **which)

    def locate(
        self,
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
        return self.ask.locate(rows, version, run=run, as_of=as_of)

    def backward(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        to: str | None = None,
        via: str | Sequence[str] = (),
        **which: Unpack[Which],
    ) -> pa.Table:
        """Find the rows that rows came from.

        Parameters
        ----------
        to : str, optional
            A data set: its rows are answered wherever it is met on the way. Without it, the ultimate
            sources: rows that no captured write made. A row asked about that no write made is its own
            source, of occurrence -1.
        via : str or sequence of str, optional
            Data sets or steps that a path has to go through, in the order in which it comes to them.
        dataset, rows, **which
            See `Provenance`.

        Returns
        -------
        pyarrow.Table
            row, dataset, version, occurrence, source_row, kind: distinct and sorted. `stops_of` returns where a path
            ended early or was captured only as a whole, `possible_of` the possible edges, `ends_of` the data sets on
            drivers that rows reached, `trusted_of` what is left out because it is trusted.

        Raises
        ------
        UnknownDatasetError, UnknownVersionError, UnknownRunError, RowOutOfRangeError, ConditionError
        UntrackedError
            When nothing was found and a path stopped at something that was not captured.
        ValuesUnavailableError, VersionChangedError
            Where values are needed (`where`, ``set``) and can't be read.

        Notes
        -----
        Both semantics are those of TensProv's why-provenance; row ids are 0 … n-1 within a version.
        """
        return self.ask.backward(dataset, rows, to=to, via=via, **which).table()

    def forward(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        to: str | None = None,
        via: str | Sequence[str] = (),
        **which: Unpack[Which],
    ) -> pa.Table:
        """Find the rows that rows went into; parameters, result and errors as for `backward`.

        Each row is returned once, with the current version of its dataset and its row id in that version. Rows that are
        no longer in a current version are left out; `gone_of` counts them, by the step after which their files were
        missing. See `versions`.

        Without `to`, the ultimate results: rows that no captured write read; a row asked about that none
        read is its own result. ``occurrence`` is the reading through which the last step took them. Of a
        step that was tried again with success, only the last try counts, unless files of an earlier one are
        in use.
        """
        return self.ask.forward(dataset, rows, to=to, via=via, **which).table()

    def co_contributory(
        self, dataset: str | RowSet, rows: Rows = None, *, to: str, via: str | None = None, **which: Unpack[Which]
    ) -> pa.Table:
        """Find the rows of a data set that stand in one derivation with rows: what they were used with.

        Order lines used with an order are the lines joined with it, not those that only share its group.

        Parameters
        ----------
        to : str
            The data set whose rows are wanted; it may be `dataset` itself, where that is read more than once.
        via : str, optional
            Derivations of this data set's rows only; without it, of any that was captured.
        dataset, rows, **which
            See `Provenance`.

        Returns
        -------
        pyarrow.Table
            As of `backward`. A pair is context if any edge of the ways to both, or from where they meet, is.

        Notes
        -----
        TensProv's Q10. Errors as for `backward`.
        """
        return self.ask.co_contributory(dataset, rows, to=to, via=via, **which).table()

    def co_dependency(
        self, dataset: str | RowSet, rows: Rows = None, *, to: str, via: str, **which: Unpack[Which]
    ) -> pa.Table:
        """Find the rows of a data set that share a witness with rows; a row is not told as its own.

        Parameters
        ----------
        to : str
            The data set whose rows are wanted; it may be `dataset` itself.
        via : str
            The data set, or the step, whose rows are the witnesses.
        dataset, rows, **which
            See `Provenance`.

        Returns
        -------
        pyarrow.Table
            As of `backward`; ``occurrence`` is the reading through which the last step took the witness.

        Notes
        -----
        TensProv's Q11. Errors as for `backward`.
        """
        return self.ask.co_dependency(dataset, rows, to=to, via=via, **which).table()

    def composition(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        source: str,
        column: str,
        each: bool = True,
        **which: Unpack[Which],
    ) -> pa.Table:
        """Tell how the witnesses of rows divide over a column of a source, whether the rows have it or not.

        Parameters
        ----------
        source : str
            The data set of the witnesses.
        column : str
            A column of it, or ``struct.field``.
        each : bool
            For each row; with False for all rows together, each witness once.
        dataset, rows, **which
            See `Provenance`.

        Returns
        -------
        pyarrow.Table
            row (with `each`), value, witnesses: the number of distinct rows of `source`, over all occurrences.

        Raises
        ------
        UnknownColumnError, ValuesUnavailableError, VersionChangedError
            The column can't be read. Other errors as for `backward`.
        """
        return self.ask.composition(dataset, rows, source=source, column=column, each=each, **which)

    def correspondence(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        to: str,
        via: str | Sequence[str] = (),
        **which: Unpack[Which],
    ) -> Correspondence:
        """Relate all rows of a data set to all rows of another that they came from, as a boolean sparse matrix.

        Parameters
        ----------
        to, via, dataset, rows, **which
            As for `backward`.

        Returns
        -------
        Correspondence
            ``edges``, ``counts()``, ``using(set of rows)``, ``sources()``, ``table()``, ``matrix()``.

        Examples
        --------
        How many rows of a report use at least one row without consent::

            no = prov.select("/data/people", where=[("consent", "=", False)])
            len(prov.correspondence("/data/report", to="/data/people").using(no))
        """
        return self.ask.correspondence(dataset, rows, to=to, via=via, **which)

    def derivations(self, dataset: str | RowSet, rows: Rows = None, **which: Unpack[Which]) -> Derivations:
        """List the ways in which rows came about, each as one row of every occurrence of an input.

        It is of the steps that made the rows, and nothing of it is multiplied out before it is asked for.

        Returns
        -------
        Derivations
            ``slice``, ``project``, ``batches(size)``, ``table(limit)``.

        Raises
        ------
        UntrackedError
            A step that made some of the rows was not captured exactly. Other errors as for `backward`.

        Notes
        -----
        The non-zeros of TensProv's order n+1 tensor.
        """
        return self.ask.derivations(dataset, rows, **which)

    def neighbourhood(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        direction: Direction | Literal["both"] = "backward",
        *,
        hops: int | None = None,
        limit: int = 10_000,
        **which: Unpack[Which],
    ) -> Neighbourhood:
        """Collect the rows around rows and the edges between them, for exports.

        Parameters
        ----------
        direction : {"backward", "forward", "both"}
        hops : int, optional
            Steps to go through at most.
        limit : int
            Edges to tell at most.
        dataset, rows, **which
            See `Provenance`; semantics is ``bag``.

        Returns
        -------
        Neighbourhood
            ``prov_json()``, ``node_link()``, ``graphml()``, ``networkx()``.

        Raises
        ------
        ConditionError
            There are more than `limit` edges.
        """
        return self.ask.neighbourhood(dataset, rows, direction, hops=hops, limit=limit, **which)

    def trace(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        direction: Direction = "backward",
        *,
        to: str | None = None,
        **which: Unpack[Which],
    ) -> Trace:
        """Draw the way of a set of rows: each version met, with its rows, and the writes between.

        Parameters are those of `backward`. Stops never raise here; they are in the result.
        """
        return self.ask.trace(dataset, rows, direction, to=to, **which)

    def values(
        self,
        dataset: str | RowSet | Answer | pa.Table,
        rows: Rows = None,
        *,
        columns: Sequence[str] | None = None,
        **which: Unpack[Which],
    ) -> pa.Table:
        """Read values of rows, in the order of their ids.

        Parameters are those of `backward`; `columns` picks some. `dataset` may also be an answer, or an
        answer's table, if all its rows are of one version: the values returned are those of the rows found.

        Raises
        ------
        VersionChangedError
            When the files are no longer those of the version.
        ValuesUnavailableError
            When the format or its options do not let rows be read by position.
        """
        from provspark.index_store.values import read_rows

        asked = self.ask.asked("values", dataset, rows, which)
        table = read_rows(asked.at.version, asked.at.files, asked.labels.rows(), columns)
        return table.replace_schema_metadata(about(asked.at.version, "", (), used=asked.used))
