"""Base class of an open store or catalogue, which resolves the parameters that questions share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypedDict, get_args

import pyarrow as pa
import pyarrow.compute as pc

from provspark.index_store.query.answer import Answer
from provspark.index_store.query.arguments import Edges, Versions, several
from provspark.index_store.query.column_answer import Cells
from provspark.index_store.query.column_walk import Settle
from provspark.index_store.query.current_versions import Current, Currents, VersionUsed
from provspark.index_store.query.equal_rows import equal_classes, equal_rows
from provspark.index_store.query.explanations import Explanations
from provspark.index_store.query.foreign_files import in_current, on_the_way, since
from provspark.index_store.query.graph import Graph
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import Direction, VersionReference
from provspark.index_store.query.parameter_types import (
    Conditions,
    Kinds,
    Moment,
    Rows,
    RunId,
    TrustedPlaces,
    VersionId,
)
from provspark.index_store.query.reachable_rows import ReachTarget, StepTarget
from provspark.index_store.query.relation import compose, gathered, identity, image, labelled
from provspark.index_store.query.row_choice import chosen_rows
from provspark.index_store.query.row_walks import follow
from provspark.index_store.query.rowset import Located, RowSet, only
from provspark.index_store.query.tabular import LEAD, FormerAnswer, Tabular, has_values
from provspark.index_store.query.trace import Trace
from provspark.index_store.query.trust import Trust, log_unknown
from provspark.index_store.query.views import View, Views
from provspark.index_store.query.walk import Stand
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.pairs import from_pairs
from provspark.model.datasets import Dataset
from provspark.model.driver_datasets import is_driver
from provspark.model.errors import (
    ArgumentError,
    ConditionError,
    UnknownDatasetError,
    ValuesUnavailableError,
)
from provspark.model.runs import Runs
from provspark.model.stops import Stop
from provspark.model.writes import Kind

if TYPE_CHECKING:
    from provspark.index_store.store.store import Store
    from provspark.model.progress import Progress

__all__ = ["Asked", "Asking", "Rows", "Semantics", "Versions", "Which"]

Semantics = Literal["bag", "set"]


class Which(TypedDict, total=False):
    """The parameters that questions share.

    Parameters
    ----------
    dataset : str or RowSet
        Name or path, for example ``file:///data/out``, ``/data/out`` or ``out``; or a set of rows that `select` or
        another question returned. A relative path that is not the name of a dataset is resolved against the working
        directory. This applies wherever a question takes the name of a dataset.
    rows : iterable of int, optional
        Row ids in the selected version. Default: all rows.
    where : sequence of (column, operator, value), optional
        Select rows by value; all conditions must hold. Operators are ``=``, ``!=``, ``<``, ``<=``, ``>``,
        ``>=``, ``in``, ``like``, ``startswith``, ``is null``, ``is not null``; a column may be ``struct.field``.
    version : str, optional
        A version's id. Default: the current version, which is the newest stored version whose files exist. With `run`
        or `as_of`: the latest one within that limit. If the files can't be listed, and for a database table: the
        version that the last successful step wrote, or read if none wrote it. `versions_of` returns the version used,
        and why.
    run : str, optional
        The id of a run, or ``latest``: use the version that this run wrote (if none, the one that it read), and when
        tracing forward follow only the steps of this run. Pass ``DAG/RUN`` if several DAGs have a run with this id.
    as_of : datetime or str, optional
        Answer as of this time: ignore steps that ended later.
    versions : {"current", "all"}
        ``current``: only rows in the current version of each dataset; ``all``: also rows that are no longer in it, with
        the version in which each was found and a column ``gone`` that is true for them. With ``current``, `gone_of`
        counts the rows that are left out. For `forward`, forward `trace` and `co_dependency`.
    kinds : iterable of {"data", "context", "possible"}
        Edges to follow: ``data`` (the default), where the output row exists because of the input row; ``context``,
        where only a value was computed from the input row; ``possible``, where the output row may have come from the
        input row, through code that capture can't see into. A path is possible if any of its edges is possible, and
        context if any of its edges is context. Each kind is complete on its own. Without ``possible`` among the
        kinds, possible edges are not in the table; `possible_of` returns them. A question that can't follow a kind
        raises `ConditionError`.
    semantics : {"bag", "set"}
        With ``bag``, rows are separate. With ``set``, rows of a version that have the same values count as one row.
    strict : bool
        Also follow single numbers that the script collected on the driver, such as a count or a mean. For `backward`,
        `forward` and `trace`; other questions raise `ConditionError`.
    trust : sequence of str, or str
        Tasks, operators, script lines (``clean.py:12``) and kinds of stops that you trust: uncertain or missing lineage
        there is not reported. A list, or separated by commas. `trusted_of` returns what was left out. For the same
        questions as `strict`. See docs/stops.md.
    """

    where: Conditions | None
    version: VersionId | None
    run: RunId | None
    as_of: Moment | None
    kinds: Kinds
    semantics: Semantics
    strict: bool
    trust: TrustedPlaces | None
    versions: Versions


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The selected rows of a question, the kinds of edges to follow, the steps in scope, and what is trusted."""

    view: View
    labels: Runs
    kinds: frozenset[Kind]
    semantics: Semantics
    strict: bool
    trust: Trust
    versions: Versions = "current"
    selects: Literal["rows", "all", "where"] = "rows"
    """How rows were selected: by row id or as a set, all rows of the version, or by value."""

    @property
    def at(self) -> VersionReference:
        """The version of the selected rows."""
        return self.view.at

    @property
    def context(self) -> bool:
        """Whether context edges are followed."""
        return "context" in self.kinds

    def linker(self, direction: Direction) -> Linker:
        """Return the linker for a direction, which also follows reads on drivers."""
        return self.view.linker(direction).through("all" if self.strict else "rows")

    @property
    def stops(self) -> set[Stop]:
        """Stops for existing files that are not part of the selected version, and for files that it lacks."""
        return self._beside(())

    @property
    def used(self) -> tuple[VersionUsed, ...]:
        """The version of the selected rows, as answers report it."""
        return (self.view.chosen.used,)

    def told(self, answer: Answer) -> Answer:
        """Return an answer with the stops for files beside its versions, and with the rows of missing files."""
        stops, lost = self._beside(answer.currents) | self._claimed(answer.parts), self._lost()
        if not stops and not lost and len(answer.trusted) == len(self.trust.used):
            return answer
        return replace(
            answer,
            stops=tuple(sorted({*answer.stops, *stops})),
            trusted=tuple(sorted({*answer.trusted, *self.trust.used})),
            older=(*answer.older, *lost),
            names=self.view.currents,
        )

    def now(self, answer: Answer, to: Dataset | None) -> Answer:
        """Return a forward answer in the current versions of datasets, with the stops of `told` and of its path."""
        moved = self.told(answer.now(self.view.currents, to, self.versions))
        stops = self._on_the_way(to)
        return replace(moved, stops=tuple(sorted({*moved.stops, *stops}))) if stops else moved

    def drawn(self, trace: Trace, to: Dataset | None) -> Trace:
        """Return a trace with the version of the selected rows, and the stops and missing rows of its versions."""
        ways = self._on_the_way(to) if trace.direction == "forward" else set()
        return replace(
            trace,
            used=tuple(dict.fromkeys((*self.used, *trace.used))),
            stops=tuple(sorted({*trace.stops, *self._beside(trace.currents), *ways})),
            trusted=tuple(sorted({*trace.trusted, *self.trust.used})),
            gone=tuple(sorted({*trace.gone, *self.view.currents.gone(self._lost())})),
        )

    def _lost(self) -> list[Stand]:
        """Return the rows of missing files, if the question is about all rows of a version."""
        chosen = self.view.chosen
        return [Stand(chosen.at, gathered(chosen.lost), gone=True)] if chosen.missing and self.selects == "all" else []

    def _beside(self, currents: Iterable[Current]) -> set[Stop]:
        """Return the stops for files beside current versions, and for selected rows whose files are missing."""
        derived = self.view.currents.derived
        back, chosen = self.view.back, self.view.chosen
        foreign = [(c, in_current(back, self.view.currents, c)) for c in currents if derived(c.at.version.dataset)]
        told = [(c, files) for c, files in foreign if files or c.apart]
        stops = [(c.at.node, stop) for c, files in told for stop in c.stops(files, self._since)]
        if self.selects != "rows":
            stops += [
                (self.at.node, s) for s in chosen.stops(chosen.unknown if derived(self.at.version.dataset) else ())
            ]
        if chosen.missing and (self.selects == "where" or self.labels & chosen.lost):
            stops.append((self.at.node, chosen.lacking()))
        return {s for node, s in stops if not self.trust.takes(node, s.what, s.why)}

    def _claimed(self, parts: Iterable[Stand]) -> set[Stop]:
        """Return the stops for related rows of files that can't be linked to the writes that made them."""
        stops = set()
        for part in parts if self.view.currents.graph.nodes else ():
            for refused in self.view.back.links(part.at, "backward").refused:
                node, why = refused.target.node, refused.why
                if image(part.boxes) & refused.rows and not self.trust.takes(node, "unlinked", why):
                    stops.add(Stop("unlinked", node.step, str(node.write.output.dataset), why))
        return stops

    def _on_the_way(self, to: Dataset | None) -> set[Stop]:
        """Return the stops for files on the forward path that a captured step read, but none wrote."""
        read = on_the_way(self.view.ahead, self.view.back, self.view.currents, self.at, to)
        stops = [(at.node, stop) for at, files in read for stop in Current(at, "version").stops(files, self._since)]
        return {s for node, s in stops if not self.trust.takes(node, s.what, s.why)}

    @property
    def _since(self) -> int:
        return since(self.at.files, self.labels)

    def start(self) -> Stand:
        """Relate the label of each selected row to the row, or with set semantics to all rows that equal it."""
        if self.semantics == "bag":
            return Stand(self.at, labelled(self.labels))
        return Stand(self.at, from_pairs(*equal_rows(*_readers(self.at), self.labels.rows())))

    def classes(self) -> tuple[Boxes, Stand]:
        """Relate each selected row to its class of equal rows, and each class to its rows."""
        if self.semantics == "bag":
            rows = identity(self.labels)
            return rows, Stand(self.at, rows)
        mine, classes, members = equal_classes(*_readers(self.at), self.labels.rows())
        return from_pairs(self.labels.rows(), mine), Stand(self.at, from_pairs(classes, members))


class Asking:
    """Base class of an open store or catalogue: the steps in scope, and what questions need of them."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self._trusted: set[str] = set()

    @property
    def graph(self) -> Graph:
        """Graph of the writes of all stores."""
        return self._views.graph

    @property
    def currents(self) -> Currents:
        """Current versions of the datasets."""
        return self._views.currents

    def stores(self) -> Collection[Store]:
        """Return the stores; none if this object shows only some steps."""
        raise NotImplementedError

    def settling(self, progress: Progress | None, functions: bool) -> AbstractContextManager[Settle]:
        """Return a context manager for a function that replays rows, to find which cells a value was computed from."""
        raise NotImplementedError

    def asked(self, question: str, dataset: str | RowSet | Answer | pa.Table, rows: Rows, which: Which) -> Asked:
        """Resolve the version, the selected rows and the edges of a question.

        Parameters
        ----------
        question : str
            Name of the question, which decides whether `kinds`, `strict`, `trust` and `versions` apply; see `Edges.of`.
        """
        if isinstance(dataset, (Tabular, FormerAnswer, pa.Table)):
            dataset = self.rowset(dataset)
        wrong = sorted(which.keys() - Which.__annotations__.keys())
        if wrong:
            raise ArgumentError(f"Unknown parameter {wrong[0]!r}. Use one of: {', '.join(Which.__annotations__)}")
        edges = Edges.of(question, which)
        semantics = which.get("semantics", "bag")
        if semantics not in get_args(Semantics):
            raise ConditionError(f"semantics must be 'bag' or 'set', found {semantics!r}")
        where, version = which.get("where"), which.get("version")
        if isinstance(dataset, RowSet) and not (rows is None and where is None and version is None):
            raise ConditionError(
                "A set of rows already has its rows and version. Leave out rows, where and version, or convert the set "
                "to another version with locate()."
            )
        named = dataset.at if isinstance(dataset, RowSet) else dataset
        view = self._views.of(named, version, which.get("run"), which.get("as_of"))
        labels = dataset.runs if isinstance(dataset, RowSet) else chosen_rows(view.chosen, rows, where)
        self._check_trust(edges.trust)
        selects: Literal["rows", "all", "where"] = "rows"
        if rows is None and not isinstance(dataset, RowSet):
            selects = "all" if where is None else "where"
        trust = Trust(edges.trust)
        return Asked(view, labels, edges.kinds, semantics, edges.strict, trust, edges.versions, selects)

    def follow(
        self,
        dataset: str | RowSet,
        rows: Rows,
        direction: Direction,
        to: str | None,
        via: str | Sequence[str],
        which: Which,
    ) -> Answer:
        """Answer `backward` or `forward`."""
        asked = self.asked(direction, dataset, rows, which)
        start, view = asked.start(), asked.view
        places, place = self.places(view, via), view.dataset(to)
        answer = follow(
            asked.linker(direction),
            start.at,
            asked.labels,
            start.boxes,
            direction,
            to=place,
            kinds=asked.kinds,
            via=places,
            trust=asked.trust,
            used=asked.used,
        )
        return asked.now(answer, place) if direction == "forward" else asked.told(answer)

    def rowset(self, given: object) -> RowSet:
        """Return the related rows of an answer as a set.

        Raises
        ------
        ConditionError
            The rows are of several versions, or there are none.
        """
        if isinstance(given, RowSet):
            return given
        if isinstance(given, FormerAnswer):
            given = given.answer
        if isinstance(given, Cells | Explanations):
            return given.rows
        if isinstance(given, Answer):
            return only(given.found())
        table = given.table() if isinstance(given, Tabular) else given
        names = _row_columns(table) if isinstance(table, pa.Table) else []
        if not isinstance(table, pa.Table) or not names:
            raise ArgumentError(
                f"Expected a RowSet, an Answer or the table of an answer, found {type(given).__name__}. Pass what "
                f"prov.select(…) or a question returns."
            )
        return only(list(self._sets(table.select(names).rename_columns(["dataset", "version", "row"]))))

    def _sets(self, lines: pa.Table) -> Iterator[RowSet]:
        """Yield the rows of each version in a table with the columns dataset, version and row."""
        for place in lines.group_by(["dataset", "version"]).aggregate([]).to_pylist():
            dataset = Dataset.parse(place["dataset"])
            known = [s for s in self._views.graph.references(dataset) if s.version.id == place["version"]]
            at = self._views.graph.find(dataset, place["version"])
            if len({s.key for s in known}) > 1:
                raise ConditionError(
                    f"Version {at.version.id} of {dataset} was read with different options (such as multiLine), so its "
                    f"row ids in a table are ambiguous. Pass the answer itself instead of its table."
                )
            same = pc.and_(pc.equal(lines["dataset"], place["dataset"]), pc.equal(lines["version"], place["version"]))
            yield RowSet(at, Runs.of(lines.filter(same)["row"].to_numpy()))

    def located(self, rows: RowSet, version: str | None, run: str | None, as_of: datetime | str | None) -> Located:
        """Return the same rows in another version, together with those that it lacks."""
        view = self._views.of(rows.dataset, version, run, as_of)
        rows = RowSet(view.back.graph.own(rows.at), rows.runs)
        if is_driver(rows.at.version.dataset) and view.at.key != rows.at.key:
            raise ConditionError(
                f"Rows of {rows.dataset} can't be located in another version: rows that a script collected on the "
                f"driver exist only in the version that returned them. Use them in that version."
            )
        moved = view.currents.located(rows.at, view.chosen)
        for refused, why in moved.refused:
            if refused & rows.runs:
                raise ConditionError(f"Rows of {rows.dataset} can't be located in version {view.at.version.id}: {why}")
        whole = identity(rows.runs)
        boxes = whole if moved.boxes is None else compose(whole, moved.boxes)
        return Located(view.at, image(boxes), boxes, RowSet(rows.at, rows.runs & moved.lost))

    def _check_trust(self, entries: Sequence[str]) -> None:
        """Log a warning for each entry that matches nothing, once for each entry."""
        fresh = [entry for entry in dict.fromkeys(entries) if entry not in self._trusted]
        self._trusted.update(fresh)
        log_unknown(fresh, self._views.graph)

    def places(self, view: View, via: str | Sequence[str]) -> tuple[ReachTarget, ...]:
        """Return the datasets and steps with these names."""
        return tuple(self.place(view, v) for v in several(via, "via"))

    def place(self, view: View, name: str) -> ReachTarget:
        """Return the step with this id, or else the dataset with this name."""
        graph = view.back.graph
        if any(m.step == name for m in graph.manifests):
            return StepTarget(name)
        try:
            return view.known(name)
        except UnknownDatasetError:
            known = [*map(str, graph.datasets()), *(m.step for m in graph.manifests)]
            raise UnknownDatasetError(str(name), known, len(graph.broken)) from None


def _row_columns(table: pa.Table) -> list[int]:
    """Return the indexes of the columns dataset, version and row in the table of an answer, or of values.

    The table may have the last release's column names. The list is empty if it lacks these columns.
    """
    names = table.column_names
    if has_values(table):
        known = tuple(name.lstrip("_") for name in names[: len(LEAD)]) == LEAD
        return list(range(len(LEAD))) if known else []
    row = next((name for name in ("related_row", "source_row") if name in names), "")
    if not row or not {"dataset", "version"} <= set(names):
        return []
    return [names.index(name) for name in ("dataset", "version", row)]


def _readers(at: VersionReference) -> tuple[Callable[[Int64], pa.Table], Callable[[], Iterable[tuple[int, pa.Table]]]]:
    """Return a function that reads the values of some rows of a version, and one that reads all."""
    from provspark.index_store.values.row_reader import read_rows, scan_rows

    version, files = at.version, at.files
    columns = [f.name for f in version.fields]
    if not columns:
        raise ValuesUnavailableError(
            f"The columns of {version.dataset} are not known, so its rows can't be compared. Ask with semantics='bag'."
        )
    return (
        lambda ids: read_rows(version, files, ids),
        lambda: scan_rows(version, files, columns, lambda bounds: True),
    )
