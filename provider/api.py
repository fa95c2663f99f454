"""The query API: open a store or a catalogue and ask where rows came from and went to.

>>> import provspark
>>> prov = provspark.open("file:///data/prov")                      # doctest: +SKIP
>>> prov.backward("file:///data/out", rows=[17])                    # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa

from provspark.errors import ConditionError, RowOutOfRangeError, ValuesUnavailableError
from provspark.index_store.boxes import from_pairs
from provspark.index_store.model import Boxes, Dataset, Int64, Kind, Manifest
from provspark.index_store.query.answer import Answer, ask, stops_of
from provspark.index_store.query.equal import equal_rows
from provspark.index_store.query.graph import Direction, Graph, Sighting
from provspark.index_store.query.links import Linker
from provspark.index_store.query.relation import labelled
from provspark.index_store.query.runs import Runs
from provspark.index_store.query.trace import Trace, trace
from provspark.index_store.query.walk import Stop

if TYPE_CHECKING:
    from provspark.index_store.select import Condition

__all__ = ["Provenance", "Stop", "Trace", "open", "stops_of"]

Semantics = Literal["bag", "set"]


def open(url: str) -> Provenance:
    """Open a store, or all stores that a catalogue knows.

    Parameters
    ----------
    url : str
        A store's folder (``/data/prov``, ``file:///data/prov``, ``s3://bucket/prov``), or a catalogue's
        SQLAlchemy URL (``sqlite:////data/catalogue.db``, ``postgresql+psycopg2://…``).

    Raises
    ------
    StoreUnreachableError, StoreFormatError, CatalogueError
    """
    return Provenance(url)


class Provenance:
    """Answers about the steps that were published when it was opened; `refresh` looks again."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._stores: dict[str, Any] = {}
        self._keep: Callable[[Manifest], bool] | None = None
        self.refresh()

    def __repr__(self) -> str:
        return f"provspark.open({self.url!r})"

    def refresh(self) -> None:
        """Take in the steps that were published since."""
        urls = _store_urls(self.url)
        self._stores = {url: self._stores.get(url) or _open_store(url) for url in urls}
        self._use(Graph(self._stores.values()))

    def restricted(self, keep: Callable[[Manifest], bool]) -> Provenance:
        """The same, as if only the steps that `keep` is true for had been published.

        Nothing of the others is in any answer: not their names, counts or reasons. Where they made or read
        files, a path ends.
        """
        out = copy(self)
        out._keep = keep if self._keep is None else lambda m, own=self._keep: own(m) and keep(m)
        out._use(self.graph)
        return out

    def _use(self, graph: Graph) -> None:
        self._linker = Linker(graph if self._keep is None else graph.restricted(self._keep))

    @property
    def graph(self) -> Graph:
        """The writes of all its stores."""
        return self._linker.graph

    def datasets(self) -> pa.Table:
        """One line for each data set, by name.

        Columns: dataset; versions, how many are known; version and rows, of the one that answers to the
        name; step, that wrote it (null for a source); role, ``source`` or ``derived``; coverage of that
        write (null for a source).
        """
        lines = []
        for dataset in self.graph.datasets():
            found = self.graph.sightings(dataset)
            best = found[-1]
            derived = best is best.node.output
            lines.append(
                (
                    str(dataset),
                    len({s.version.id for s in found}),
                    best.version.id,
                    best.version.rows,
                    best.node.step if derived else None,
                    "derived" if dataset in self.graph.written.by_name else "source",
                    best.node.write.coverage if derived else None,
                )
            )
        return _table(_DATASETS, lines)

    def steps(self) -> pa.Table:
        """One line for each step, oldest first.

        Columns: step, dag_id, run_id, task_id, map_index, try_number, status, started, ended, inputs and
        outputs (lists of data sets), coverage (the least of its writes; ``untracked`` where a write went
        uncaptured), reasons (list of why something was not captured), error.
        """
        return _table(_STEPS, [_step_line(m) for m in self.graph.manifests])

    def backward(
        self,
        dataset: str,
        rows: Iterable[int] | None = None,
        *,
        where: Sequence[Condition | tuple[str, str, Any]] | None = None,
        to: str | None = None,
        version: str | None = None,
        kinds: Iterable[Kind] | Kind = ("data",),
        semantics: Semantics = "bag",
    ) -> pa.Table:
        """Find the rows that rows came from.

        Parameters
        ----------
        dataset : str
            Name or path, as ``file:///data/out`` or ``/data/out``.
        rows : iterable of int, optional
            Row ids of the version asked about; all rows when neither `rows` nor `where` is given.
        where : sequence of (column, operator, value), optional
            Selects rows by value instead.
        to : str, optional
            A data set: its rows are answered wherever it is met on the way. Without it, the ultimate
            sources: rows that no captured write made. A row asked about that no write made is its own
            source, of occurrence -1.
        version : str, optional
            A version's id. Without it, the one that the latest succeeded step wrote, or else the latest read.
        kinds : iterable of {"data", "context"}
            Edges to follow. A path is context if any edge of it is; each kind is complete on its own.
        semantics : {"bag", "set"}
            With ``set``, a row's sources are those of all rows of the version that equal it in value.

        Returns
        -------
        pyarrow.Table
            row, dataset, version, occurrence, source_row, kind: distinct and sorted. Where a path ended
            early or was captured only as a whole, `stops_of` tells.

        Raises
        ------
        UnknownDatasetError, UnknownVersionError, RowOutOfRangeError, ConditionError
        UntrackedError
            When nothing was found and a path stopped at something that was not captured.
        ValuesUnavailableError, VersionChangedError
            Where values are needed (`where`, ``set``) and can't be read.

        Notes
        -----
        Both semantics are those of TensProv's why-provenance; row ids are 0 … n-1 within a version.
        """
        return self._ask(dataset, rows, "backward", where, to, version, kinds, semantics).table()

    def forward(
        self,
        dataset: str,
        rows: Iterable[int] | None = None,
        *,
        where: Sequence[Condition | tuple[str, str, Any]] | None = None,
        to: str | None = None,
        version: str | None = None,
        kinds: Iterable[Kind] | Kind = ("data",),
        semantics: Semantics = "bag",
    ) -> pa.Table:
        """Find the rows that rows went into; parameters, result and errors as for `backward`.

        Without `to`, the ultimate results: rows that no captured write read; a row asked about that none
        read is its own result. ``occurrence`` is the reading through which the last step took them. Of a
        step that was tried again with success, only the last try counts, unless files of an earlier one are
        in use.
        """
        return self._ask(dataset, rows, "forward", where, to, version, kinds, semantics).table()

    def trace(
        self,
        dataset: str,
        rows: Iterable[int] | None = None,
        direction: Direction = "backward",
        *,
        where: Sequence[Condition | tuple[str, str, Any]] | None = None,
        to: str | None = None,
        version: str | None = None,
        kinds: Iterable[Kind] | Kind = ("data",),
    ) -> Trace:
        """Draw the way of a set of rows: each version met, with its rows, and the writes between.

        Parameters are those of `backward`. Stops never raise here; they are in the result.
        """
        if direction not in get_args(Direction):
            raise ConditionError(f"no direction {direction!r}; there are 'backward' and 'forward'")
        start = self._find(dataset, version)
        chosen = _kinds(kinds)
        return trace(self._linker, start, self._rows(start, rows, where), direction, to=self._to(to), kinds=chosen)

    def values(
        self,
        dataset: str,
        rows: Iterable[int] | None = None,
        *,
        where: Sequence[Condition | tuple[str, str, Any]] | None = None,
        version: str | None = None,
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """Read values of rows, in the order of their ids.

        Parameters are those of `backward`; `columns` picks some.

        Raises
        ------
        VersionChangedError
            When the files are no longer those of the version.
        ValuesUnavailableError
            When the format or its options do not let rows be read by position.
        """
        from provspark.index_store.values import read_rows

        start = self._find(dataset, version)
        wanted = self._rows(start, rows, where).rows()
        return read_rows(start.version, start.files, wanted, columns)

    def _ask(
        self,
        dataset: str,
        rows: Iterable[int] | None,
        direction: Direction,
        where: Sequence[Condition | tuple[str, str, Any]] | None,
        to: str | None,
        version: str | None,
        kinds: Iterable[Kind] | Kind,
        semantics: Semantics,
    ) -> Answer:
        if semantics not in get_args(Semantics):
            raise ConditionError(f"no semantics {semantics!r}; there are 'bag' and 'set'")
        chosen = _kinds(kinds)
        start = self._find(dataset, version)
        target = self._to(to)
        labels = self._rows(start, rows, where)
        relation = labelled(labels)
        if semantics == "set":
            relation = _with_equals(start, labels)
        return ask(self._linker, start, labels, relation, direction, to=target, kinds=chosen)

    def _find(self, dataset: str, version: str | None) -> Sighting:
        return self.graph.find(Dataset.parse(dataset), version)

    def _to(self, to: str | None) -> Dataset | None:
        return None if to is None else self.graph.find(Dataset.parse(to)).version.dataset

    def _rows(
        self, at: Sighting, rows: Iterable[int] | None, where: Sequence[Condition | tuple[str, str, Any]] | None
    ) -> Runs:
        if rows is not None and where is not None:
            raise ConditionError("rows and where were both given; select rows by one of them")
        if where is not None:
            from provspark.index_store.select import select_rows

            return Runs.of(select_rows(at.version, at.files, where))
        if rows is None:
            return Runs.span(at.version.rows)
        ids = _ids(rows)
        if len(ids) and (ids.min() < 0 or ids.max() >= at.version.rows):
            wrong = int(ids.min()) if ids.min() < 0 else int(ids.max())
            raise RowOutOfRangeError(str(at.version.dataset), wrong, at.version.rows)
        return Runs.of(ids)


_TEXTS = pa.list_(pa.string())
_DATASETS = pa.schema(
    [
        ("dataset", pa.string()),
        ("versions", pa.int64()),
        ("version", pa.string()),
        ("rows", pa.int64()),
        ("step", pa.string()),
        ("role", pa.string()),
        ("coverage", pa.string()),
    ]
)
_STEPS = pa.schema(
    [
        ("step", pa.string()),
        ("dag_id", pa.string()),
        ("run_id", pa.string()),
        ("task_id", pa.string()),
        ("map_index", pa.int64()),
        ("try_number", pa.int64()),
        ("status", pa.string()),
        ("started", pa.string()),
        ("ended", pa.string()),
        ("inputs", _TEXTS),
        ("outputs", _TEXTS),
        ("coverage", pa.string()),
        ("reasons", _TEXTS),
        ("error", pa.string()),
    ]
)


def _table(schema: pa.Schema, lines: list[tuple[Any, ...]]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.names, line, strict=True)) for line in lines], schema)


def _step_line(m: Manifest) -> tuple[Any, ...]:
    reasons = [str(u) for u in m.untracked] + [str(w.reason) for w in m.writes if w.reason]
    found = {w.coverage for w in m.writes} | ({"untracked"} if m.untracked else set())
    coverage = next((c for c in ("untracked", "coarse", "exact") if c in found), None)
    inputs = sorted({str(v.dataset) for w in m.writes for v in w.inputs})
    outputs = sorted({str(w.output.dataset) for w in m.writes})
    k = m.key
    key = (m.step, k.dag_id, k.run_id, k.task_id, k.map_index, k.try_number)
    return (*key, m.status, m.started, m.ended, inputs, outputs, coverage, reasons, m.error)


def _store_urls(url: str) -> list[str]:
    scheme = url.split(":", 1)[0].split("+", 1)[0]
    if scheme in ("sqlite", "postgresql", "postgres", "mysql", "mssql", "oracle") and ":" in url:
        from provspark.index_store.catalogue import Catalogue

        with Catalogue.open(url) as catalogue:
            return catalogue.stores()
    return [url]


def _open_store(url: str) -> Any:
    from provspark.index_store.store import Store

    return Store.open(url)


def _with_equals(start: Sighting, labels: Runs) -> Boxes:
    """From each row asked about to all rows that equal it in value."""
    from provspark.index_store.values.reading import read_rows, scan_rows

    version, files = start.version, start.files
    columns = [f.name for f in version.fields]
    if not columns:
        raise ValuesUnavailableError(
            f"the columns of {version.dataset} are not known, so its rows can't be compared; ask with semantics='bag'"
        )
    out, rows = equal_rows(
        lambda ids: read_rows(version, files, ids),
        lambda: scan_rows(version, files, columns, lambda bounds: True),
        labels.rows(),
    )
    return from_pairs(out, rows)


def _kinds(kinds: Iterable[Kind] | Kind) -> frozenset[Kind]:
    chosen: frozenset[Kind] = frozenset((kinds,) if isinstance(kinds, str) else kinds)
    wrong = sorted(map(str, chosen - set(get_args(Kind))))
    if wrong or not chosen:
        raise ConditionError(f"no kind of edge {', '.join(wrong) or 'given'}; there are 'data' and 'context'")
    return chosen


def _ids(rows: Iterable[int]) -> Int64:
    ids = np.asarray(rows if isinstance(rows, (np.ndarray, range)) else list(rows))
    if not ids.size:
        return np.zeros(0, dtype=np.int64)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise ConditionError(f"rows must be a list of whole numbers, found {ids.dtype} of shape {ids.shape}")
    return ids.astype(np.int64)
