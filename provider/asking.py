"""How every question is asked: its parameters read, the version, rows and steps that it is about found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provspark.arguments import Edges, Versions, several
from provspark.errors import (
    ArgumentError,
    ConditionError,
    RowOutOfRangeError,
    UnknownDatasetError,
    ValuesUnavailableError,
)
from provspark.index_store.boxes import from_pairs
from provspark.index_store.driver import is_driver
from provspark.index_store.model import Boxes, Dataset, Int64, Kind
from provspark.index_store.query.answer import Answer
from provspark.index_store.query.current import Current, VersionUsed
from provspark.index_store.query.equal import equal_classes, equal_rows
from provspark.index_store.query.graph import Direction, Sighting
from provspark.index_store.query.links import Linker
from provspark.index_store.query.reach import Place, Step
from provspark.index_store.query.relation import compose, identity, image, labelled
from provspark.index_store.query.rowset import Located, RowSet
from provspark.index_store.query.runs import Runs
from provspark.index_store.query.trace import Trace
from provspark.index_store.query.trust import Trust, log_unknown
from provspark.index_store.query.walk import Stand, Stop
from provspark.views import View, Views

if TYPE_CHECKING:
    from provspark.index_store.select import Condition

__all__ = ["Asked", "Asking", "Rows", "Semantics", "Versions", "Which"]

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
    strict: bool
    trust: Iterable[str] | str | None
    versions: Versions


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Rows of a version, the kinds of edges to follow, the steps that count, and what is trusted."""

    view: View
    labels: Runs
    kinds: frozenset[Kind]
    semantics: Semantics
    strict: bool
    trust: Trust
    versions: Versions = "current"
    open_ended: bool = False
    """Whether all rows of the current version are asked about, or those of some values."""

    @property
    def at(self) -> Sighting:
        """The version."""
        return self.view.at

    @property
    def context(self) -> bool:
        """Whether context edges are followed."""
        return "context" in self.kinds

    def linker(self, direction: Direction) -> Linker:
        """What finds the way in a direction, also through what drivers read."""
        return self.view.linker(direction).through("all" if self.strict else "rows")

    @property
    def used(self) -> tuple[VersionUsed, ...]:
        """What an answer says of the version asked about."""
        return (self.view.chosen.used,)

    def told(self, answer: Answer) -> Answer:
        """An answer that says, too, whether there are files that nobody captured."""
        stops = self._unknown(answer.currents)
        if not stops and len(answer.trusted) == len(self.trust.used):
            return answer
        trusted = tuple(sorted({*answer.trusted, *self.trust.used}))
        return replace(answer, stops=tuple(sorted({*answer.stops, *stops})), trusted=trusted)

    def now(self, answer: Answer, to: Dataset | None) -> Answer:
        """An answer about what came of rows, in the current versions of datasets."""
        return self.told(answer.now(self.view.currents, to, self.versions))

    def drawn(self, found: Trace) -> Trace:
        """A trace that says which version was asked about, and whether there are files that nobody captured."""
        used = tuple(dict.fromkeys((*self.used, *found.used)))
        stops = tuple(sorted({*found.stops, *self._unknown(found.currents)}))
        return replace(found, used=used, stops=stops, trusted=tuple(sorted({*found.trusted, *self.trust.used})))

    def _unknown(self, currents: Iterable[Current]) -> set[Stop]:
        """The stops for files that nobody captured, and that the rows asked about may have gone into."""
        written = self.view.back.graph.written.by_name
        foreign = [(c, self._foreign(c)) for c in currents if c.at.version.dataset in written]
        told = [(c, files) for c, files in foreign if files or c.apart]
        since = min(self.at.files.mtimes.tolist(), default=0) if told else 0
        found = [(c.at.node, stop) for c, files in told for stop in c.stops(files, since)]
        if self.open_ended:
            chosen = self.view.chosen
            unknown = chosen.unknown if self.at.version.dataset in written else ()
            found += [(self.at.node, stop) for stop in chosen.stops(unknown)]
        return {s for node, s in found if not self.trust.takes(node, s.what, s.why)}

    def _foreign(self, current: Current) -> list[tuple[str, int]]:
        """Paths and times of the files of a dataset that no captured step wrote, be they in its version or not."""
        at, found = current.at, list(current.unknown)
        loose = self.view.back.links(at, "backward").loose if at.version.format != "jdbc" else None
        if loose:
            files = zip(at.files.paths, at.files.sizes.tolist(), at.files.mtimes.tolist(), strict=True)
            bases = zip(files, at.files.bases.tolist(), at.files.rows.tolist(), strict=False)
            held = loose.has(at.files.bases[:-1])
            more = [f for i, (f, _, rows) in enumerate(bases) if rows and held[i] and i not in current.missing]
            found += [(path, time) for path, _, time in self.view.currents.visible(at.version.dataset, more)]
        return sorted(found)

    def start(self) -> Stand:
        """From the number of each row asked about to the rows that stand for it."""
        if self.semantics == "bag":
            return Stand(self.at, labelled(self.labels))
        return Stand(self.at, from_pairs(*equal_rows(*_readers(self.at), self.labels.rows())))

    def classes(self) -> tuple[Boxes, Stand]:
        """From each row asked about to its class, and from classes to the rows that stand for those in it."""
        if self.semantics == "bag":
            rows = identity(self.labels)
            return rows, Stand(self.at, rows)
        mine, classes, found = equal_classes(*_readers(self.at), self.labels.rows())
        return from_pairs(self.labels.rows(), mine), Stand(self.at, from_pairs(classes, found))


class Asking:
    """Reads the parameters that all questions share."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self._trusted: set[str] = set()

    def asked(self, question: str, dataset: str | RowSet | Answer | pa.Table, rows: Rows, which: Which) -> Asked:
        """Find the version, its rows and the kinds of edges that a question is about.

        Parameters
        ----------
        question : str
            Its name, which decides whether `kinds`, `strict` and `trust` apply; see `Edges.of`.
        """
        if isinstance(dataset, (Answer, pa.Table)):
            dataset = self.rowset(dataset)
        wrong = sorted(which.keys() - Which.__annotations__.keys())
        if wrong:
            raise ArgumentError(f"no parameter {wrong[0]!r}; there are {', '.join(Which.__annotations__)}")
        edges = Edges.of(question, which)
        semantics = which.get("semantics", "bag")
        if semantics not in get_args(Semantics):
            raise ConditionError(f"no semantics {semantics!r}; there are 'bag' and 'set'")
        where, version = which.get("where"), which.get("version")
        if isinstance(dataset, RowSet) and not (rows is None and where is None and version is None):
            raise ConditionError(
                "a set of rows was given, and rows, where or version beside; it has its own. To take it to another "
                "version, use locate()"
            )
        named = dataset.at if isinstance(dataset, RowSet) else dataset
        view = self._views.of(named, version, which.get("run"), which.get("as_of"))
        labels = dataset.runs if isinstance(dataset, RowSet) else _rows(view.at, rows, where)
        self._check_trust(edges.trust)
        open_ended = rows is None and not isinstance(dataset, RowSet)
        trust = Trust(edges.trust)
        return Asked(view, labels, edges.kinds, semantics, edges.strict, trust, edges.versions, open_ended)

    def rowset(self, given: object) -> RowSet:
        """The rows that an answer found, as a set.

        Raises
        ------
        ConditionError
            They are of several versions, or of none.
        """
        if isinstance(given, RowSet):
            return given
        if isinstance(given, Answer):
            found = list(given.found())
        elif isinstance(given, pa.Table) and {"dataset", "version", "source_row"} <= set(given.column_names):
            found = list(self._sets(given))
        else:
            raise ArgumentError(f"rows with their version are a set of rows or an answer, found {type(given).__name__}")
        if len(found) != 1:
            named = "; ".join(f"{one.dataset}, version {one.version}" for one in found[:3])
            of = f"rows of {len(found)} versions ({named})" if found else "no rows"
            raise ConditionError(f"the answer has {of}, where one version is wanted; ask for a dataset with to=…")
        return found[0]

    def _sets(self, lines: pa.Table) -> Iterator[RowSet]:
        """The rows found of each version in the table of an answer."""
        for place in lines.group_by(["dataset", "version"]).aggregate([]).to_pylist():
            at = self._views.graph.find(Dataset.parse(place["dataset"]), place["version"])
            same = pc.and_(pc.equal(lines["dataset"], place["dataset"]), pc.equal(lines["version"], place["version"]))
            yield RowSet(at, Runs.of(lines.filter(same)["source_row"].to_numpy()))

    def located(self, rows: RowSet, version: str | None, run: str | None, as_of: datetime | str | None) -> Located:
        """The same rows in another version."""
        view = self._views.of(rows.dataset, version, run, as_of)
        if is_driver(rows.at.version.dataset) and view.at.key != rows.at.key:
            raise ConditionError(f"each version of {rows.dataset} stands for itself: its rows are in no other one")
        moved = view.currents.located(rows.at, view.chosen)
        for refused, why in moved.refused:
            if refused & rows.runs:
                raise ConditionError(f"rows of {rows.dataset} can't be told in version {view.at.version.id}: {why}")
        whole = identity(rows.runs)
        boxes = whole if moved.boxes is None else compose(whole, moved.boxes)
        return Located(view.at, image(boxes), boxes, RowSet(rows.at, rows.runs & moved.lost))

    def _check_trust(self, entries: Sequence[str]) -> None:
        """Log entries that name nothing known, each once."""
        fresh = [entry for entry in dict.fromkeys(entries) if entry not in self._trusted]
        self._trusted.update(fresh)
        log_unknown(fresh, self._views.graph)

    def places(self, view: View, via: str | Sequence[str]) -> tuple[Place, ...]:
        """Data sets and steps by their names."""
        return tuple(self.place(view, v) for v in several(via, "via"))

    def place(self, view: View, name: str) -> Place:
        """A data set, or else a step, by its name."""
        graph = view.back.graph
        if any(m.step == name for m in graph.manifests):
            return Step(name)
        try:
            return view.known(name)
        except UnknownDatasetError:
            known = [*map(str, graph.datasets()), *(m.step for m in graph.manifests)]
            raise UnknownDatasetError(name, known, len(graph.broken)) from None


def _rows(at: Sighting, rows: Rows, where: Sequence[Condition | tuple[str, str, Any]] | None) -> Runs:
    if rows is not None and where is not None:
        raise ConditionError("rows and where were both given; select rows by one of them")
    every = Runs.span(at.version.rows)
    uncounted = at.version.unit == "file"
    if where is not None:
        from provspark.index_store.select import select_rows

        chosen = Runs.of(select_rows(at.version, at.files, several(where, "where")))
        return every if uncounted and chosen else chosen
    if rows is None:
        return every
    ids = _ids(rows)
    if uncounted and at.version.rows and len(ids) and ids.min() >= 0 and ids.max() >= at.version.rows:
        return every  # which file a row is in is not known
    if len(ids) and (ids.min() < 0 or ids.max() >= at.version.rows):
        wrong = int(ids.min()) if ids.min() < 0 else int(ids.max())
        raise RowOutOfRangeError(str(at.version.dataset), wrong, at.version.rows)
    return Runs.of(ids)


def _readers(at: Sighting) -> tuple[Callable[[Int64], pa.Table], Callable[[], Iterable[tuple[int, pa.Table]]]]:
    """What reads the values of some rows of a version, and of all."""
    from provspark.index_store.values.reading import read_rows, scan_rows

    version, files = at.version, at.files
    columns = [f.name for f in version.fields]
    if not columns:
        raise ValuesUnavailableError(
            f"the columns of {version.dataset} are not known, so its rows can't be compared; ask with semantics='bag'"
        )
    return (
        lambda ids: read_rows(version, files, ids),
        lambda: scan_rows(version, files, columns, lambda bounds: True),
    )


def _ids(rows: Iterable[int]) -> Int64:
    ids = np.asarray(rows if isinstance(rows, (np.ndarray, range)) else several(rows, "rows"))
    if not ids.size:
        return np.zeros(0, dtype=np.int64)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise ConditionError(f"rows must be a list of whole numbers, found {ids.dtype} of shape {ids.shape}")
    return ids.astype(np.int64)
