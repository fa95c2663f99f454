"""Questions whose answers are kept as runs, to be combined, or written out later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

import numpy as np
import pyarrow as pa

from provspark.errors import ConditionError, RowOutOfRangeError, UnknownDatasetError, ValuesUnavailableError
from provspark.index_store.boxes import from_pairs
from provspark.index_store.model import Boxes, Int64, Kind
from provspark.index_store.query.answer import Answer, ask
from provspark.index_store.query.derivations import Derivations
from provspark.index_store.query.equal import equal_rows
from provspark.index_store.query.graph import Direction, Sighting
from provspark.index_store.query.near import Neighbourhood, neighbourhood
from provspark.index_store.query.reach import Place, Step, reach
from provspark.index_store.query.relation import gathered, identity, image, labelled
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.runs import Runs
from provspark.index_store.query.together import co_contributory, co_dependency
from provspark.index_store.query.trace import Trace, trace
from provspark.index_store.query.walk import Stand
from provspark.index_store.query.whole import Correspondence
from provspark.views import View, Views

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from provspark.index_store.select import Condition

__all__ = ["Questions", "Rows", "Semantics", "Which"]

Semantics = Literal["bag", "set"]
Rows = Iterable[int] | None


class Which(TypedDict, total=False):
    """What every question takes beside the data set and its row ids; see `Provenance`."""

    where: Sequence[Condition | tuple[str, str, Any]] | None
    version: str | None
    run: str | None
    as_of: datetime | str | None
    kinds: Iterable[Kind] | Kind
    semantics: Semantics


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Rows of a version, the kinds of edges to follow, and the steps that count."""

    view: View
    labels: Runs
    kinds: frozenset[Kind]
    semantics: Semantics

    @property
    def at(self) -> Sighting:
        """The version."""
        return self.view.at

    @property
    def context(self) -> bool:
        """Whether context edges are followed."""
        return "context" in self.kinds

    def start(self) -> Stand:
        """From the number of each row asked about to the rows that stand for it."""
        relation = labelled(self.labels) if self.semantics == "bag" else _with_equals(self.at, self.labels)
        return Stand(self.at, relation)


class Questions:
    """The questions of `Provenance`, with the same parameters; `Answer.table` gives what those return."""

    def __init__(self, views: Views) -> None:
        self._views = views

    def select(self, dataset: str | RowSet, rows: Rows = None, **which: Unpack[Which]) -> RowSet:
        """Rows as a set."""
        asked = self.asked(dataset, rows, which)
        return RowSet(asked.at, asked.labels)

    def backward(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        to: str | None = None,
        via: str | Sequence[str] = (),
        **which: Unpack[Which],
    ) -> Answer:
        """See `Provenance.backward`."""
        return self._ask(dataset, rows, "backward", to, via, which)

    def forward(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        to: str | None = None,
        via: str | Sequence[str] = (),
        **which: Unpack[Which],
    ) -> Answer:
        """See `Provenance.forward`."""
        return self._ask(dataset, rows, "forward", to, via, which)

    def co_contributory(
        self, dataset: str | RowSet, rows: Rows = None, *, to: str, via: str | None = None, **which: Unpack[Which]
    ) -> Answer:
        """See `Provenance.co_contributory`."""
        asked = self.asked(dataset, rows, which)
        view = asked.view
        found = co_contributory(
            view.back, asked.start(), view.known(to), view.dataset(via), context=asked.context, ahead=view.ahead
        )
        return Answer.of(asked.at.version, asked.labels, "together", found, asked.kinds)

    def co_dependency(
        self, dataset: str | RowSet, rows: Rows = None, *, to: str, via: str, **which: Unpack[Which]
    ) -> Answer:
        """See `Provenance.co_dependency`."""
        asked = self.asked(dataset, rows, which)
        view = asked.view
        found = co_dependency(
            view.back,
            asked.start(),
            asked.labels,
            view.known(to),
            self.place(view, via),
            context=asked.context,
            ahead=view.ahead,
        )
        return Answer.of(asked.at.version, asked.labels, "together", found, asked.kinds)

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
        """See `Provenance.composition`."""
        from provspark.index_store.query.divide import divide

        asked = self.asked(dataset, rows, which)
        start, labels = asked.start(), asked.labels
        if not each:
            start, labels = Stand(start.at, gathered(image(start.boxes))), Runs.span(1)
        found = reach(asked.view.back, [start], "backward", asked.view.known(source), context=asked.context)
        kept = Answer.of(asked.at.version, labels, "backward", found, asked.kinds)
        table = divide(kept.parts, labels, column)
        return table if each else table.drop_columns(["row"])

    def correspondence(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        to: str,
        via: str | Sequence[str] = (),
        **which: Unpack[Which],
    ) -> Correspondence:
        """See `Provenance.correspondence`."""
        asked = self.asked(dataset, rows, which)
        if asked.semantics == "set":
            raise ConditionError("a correspondence is of rows by their ids; ask it with semantics='bag'")
        view = asked.view
        start = Stand(asked.at, identity(asked.labels))
        places = self.places(view, via)
        found = reach(view.back, [start], "backward", view.known(to), context=asked.context, via=places)
        kept = Answer.of(asked.at.version, asked.labels, "backward", found, asked.kinds)
        return Correspondence.of(asked.at, kept.parts, kept.stops)

    def derivations(self, dataset: str | RowSet, rows: Rows = None, **which: Unpack[Which]) -> Derivations:
        """See `Provenance.derivations`."""
        asked = self.asked(dataset, rows, which)
        if asked.kinds != {"data"}:
            raise ConditionError("derivations are made of data edges; leave kinds out")
        return Derivations.of(asked.view.back, asked.start(), asked.labels)

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
        """See `Provenance.neighbourhood`."""
        if direction not in (*get_args(Direction), "both"):
            raise ConditionError(f"no direction {direction!r}; there are 'backward', 'forward' and 'both'")
        asked = self.asked(dataset, rows, which)
        found: list[Neighbourhood] = []
        for way in get_args(Direction) if direction == "both" else (direction,):
            linker = asked.view.linker(way)
            found.append(
                neighbourhood(linker, asked.at, asked.labels, way, context=asked.context, hops=hops, limit=limit)
            )
        return found[0] if len(found) == 1 else found[0] | found[1]

    def trace(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        direction: Direction = "backward",
        *,
        to: str | None = None,
        **which: Unpack[Which],
    ) -> Trace:
        """See `Provenance.trace`."""
        if direction not in get_args(Direction):
            raise ConditionError(f"no direction {direction!r}; there are 'backward' and 'forward'")
        asked = self.asked(dataset, rows, which)
        linker = asked.view.linker(direction)
        return trace(linker, asked.at, asked.labels, direction, to=asked.view.dataset(to), kinds=asked.kinds)

    def _ask(
        self,
        dataset: str | RowSet,
        rows: Rows,
        direction: Direction,
        to: str | None,
        via: str | Sequence[str],
        which: Which,
    ) -> Answer:
        asked = self.asked(dataset, rows, which)
        start, view = asked.start(), asked.view
        places = self.places(view, via)
        return ask(
            view.linker(direction),
            start.at,
            asked.labels,
            start.boxes,
            direction,
            to=view.dataset(to),
            kinds=asked.kinds,
            via=places,
        )

    def asked(self, dataset: str | RowSet, rows: Rows, which: Which) -> Asked:
        """Find the version, its rows and the kinds of edges that a question is about."""
        wrong = sorted(which.keys() - Which.__annotations__.keys())
        if wrong:
            raise TypeError(f"no parameter {wrong[0]!r}; there are {', '.join(Which.__annotations__)}")
        semantics = which.get("semantics", "bag")
        if semantics not in get_args(Semantics):
            raise ConditionError(f"no semantics {semantics!r}; there are 'bag' and 'set'")
        where, version = which.get("where"), which.get("version")
        if isinstance(dataset, RowSet) and not (rows is None and where is None and version is None):
            raise ConditionError("a set of rows was given, and rows, where or version beside; it has its own")
        named = dataset.at if isinstance(dataset, RowSet) else dataset
        view = self._views.of(named, version, which.get("run"), which.get("as_of"))
        labels = dataset.runs if isinstance(dataset, RowSet) else _rows(view.at, rows, where)
        return Asked(view, labels, _kinds(which.get("kinds", ("data",))), semantics)

    def places(self, view: View, via: str | Sequence[str]) -> tuple[Place, ...]:
        """Data sets and steps by their names."""
        return tuple(self.place(view, v) for v in ((via,) if isinstance(via, str) else via))

    def place(self, view: View, name: str) -> Place:
        """A data set, or else a step, by its name."""
        graph = view.back.graph
        if any(m.step == name for m in graph.manifests):
            return Step(name)
        try:
            return view.known(name)
        except UnknownDatasetError:
            known = [*map(str, graph.datasets()), *(m.step for m in graph.manifests)]
            raise UnknownDatasetError(name, known) from None


def _rows(at: Sighting, rows: Rows, where: Sequence[Condition | tuple[str, str, Any]] | None) -> Runs:
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
