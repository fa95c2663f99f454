"""JSON forms of answers, one for each class of answer. A class with a table needs no form of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from provspark.index_store.profiles.comparison import Impact
from provspark.index_store.profiles.profile import Profile
from provspark.index_store.query.answer import Answer, ends_of, gone_of, stops_of, trusted_of, versions_of
from provspark.index_store.query.cell_explanations import CellExplanations
from provspark.index_store.query.cell_neighbourhood import CellNeighbourhood
from provspark.index_store.query.column_answer import Cells
from provspark.index_store.query.dataset_relation import Correspondence
from provspark.index_store.query.derivations import Derivations
from provspark.index_store.query.explanations import Explanations
from provspark.index_store.query.neighbourhood import Neighbourhood
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.parameters import answer_class
from provspark.index_store.query.question import Question
from provspark.index_store.query.row_values import Values
from provspark.index_store.query.rowset import Located, RowSet
from provspark.index_store.query.tabular import Tabular
from provspark.index_store.query.tally import distinct_pairs
from provspark.index_store.query.trace import Trace
from provspark.model.datasets import Dataset
from provspark.model.neighbours import CellNode
from provspark.model.progress import check
from provspark.replay.history import History
from provspark.replay.records import Replayed
from provspark.replay.shared_witnesses import SharedRows
from provspark.replay.spread import OperationProfiles
from provspark.replay.why_not import WhyNot
from provspark.web import answer_models as told
from provspark.web import describe, models, operation_forms, profile_forms, replay_forms, replay_models, rows
from provspark.web.answer_lines import AnswerLines
from provspark.web.scope import UserScope
from provspark.web.visible import Visible

__all__ = ["AskedFor", "form_of", "shown"]

Json = models.Model


@dataclass(frozen=True, slots=True)
class AskedFor:
    """Context of a request: the user, the question's arguments, and the requested lines.

    Parameters
    ----------
    scope : UserScope
    arguments : dict
        Arguments of the question, as `provspark.web.question_arguments` returns them.
    at : VersionReference or None
        Version that the question is about.
    words : tuple of str
    checked : bool
        See `AnswerLines`.
    cursor, limit : int
        First line to return, and maximum number of lines.
    """

    scope: UserScope
    arguments: dict[str, Any]
    at: VersionReference | None
    words: tuple[str, ...]
    checked: bool
    cursor: int
    limit: int

    @property
    def visible(self) -> Visible:
        """Access rules for values, names and texts."""
        return self.scope.visible

    def lines(self, table: pa.Table) -> list[dict[str, Any]]:
        """Return the rows of a table as JSON."""
        return AnswerLines(self.visible, self.at, words=self.words, checked=self.checked).of(table)

    def next(self, total: int) -> int | None:
        """Return the cursor of the next page; None on the last page."""
        end = self.cursor + self.limit
        return end if end < total else None


def form_of(question: Question) -> type[Json]:
    """Return the response model of a question, chosen by the class of its answer.

    Raises
    ------
    TypeError
        The class of the answer has no form.
    """
    kind = answer_class(question)
    if not isinstance(kind, type) or _form(kind) is None:
        named = getattr(kind, "__name__", kind)
        raise TypeError(
            f"{question.name}: the API has no form for {named}; return an answer that derives from Tabular, or add a "
            "form to provider/web/answer_forms.py"
        )
    return _form(kind)[0]  # type: ignore[index]


def shown(asked: AskedFor, answer: Any) -> Json:
    """Return an answer as a response model, without masked values."""
    form = _form(type(answer))
    if form is None:
        raise TypeError(f"the API has no form for {type(answer).__name__}; add one to provider/web/answer_forms.py")
    return form[1](asked, answer)


def _form(kind: type) -> tuple[type[Json], _Form] | None:
    return next((_FORMS[base] for base in kind.__mro__ if base in _FORMS), None)


def _table(asked: AskedFor, answer: Any) -> told.AnswerJson:
    """Return any answer that has a table."""
    possible = answer.possible if isinstance(answer, Answer) else None
    table, total = _page(asked, replace(answer, possible_parts=()) if isinstance(answer, Answer) else answer)
    more, most = (None, 0) if possible is None else _page(asked, possible)
    return told.AnswerJson(
        lines=asked.lines(table),
        total=total,
        possible=None if more is None else asked.lines(more),
        exact=getattr(answer, "exact", None),
        next=asked.next(max(total, most)),
        **_about(asked, table),
    )


def _about(asked: AskedFor, table: pa.Table) -> dict[str, Any]:
    """Return the fields of the response that come from the table's metadata."""
    visible = asked.visible
    return {
        "stops": describe.stops(stops_of(table), visible),
        "ends": [
            told.EndJson(dataset=describe.named(e.dataset, visible), version=e.version, step=e.step, rows=e.rows)
            for e in ends_of(table)
        ],
        "trusted": [
            told.TrustedJson(
                by=t.by,
                what=t.what,
                step=t.step,
                dataset=describe.named(t.dataset, visible) if t.dataset else None,
                why=visible.text(t.why),
            )
            for t in trusted_of(table)
        ],
        "gone": describe.gone(gone_of(table), visible),
        "versions": [describe.version_used(u, visible) for u in versions_of(table)],
        "broken": asked.scope.broken,
    }


def _page(asked: AskedFor, answer: Any) -> tuple[pa.Table, int]:
    """Return the requested lines and the total number; answers that can page don't build the whole table."""
    if isinstance(answer, Cells):
        return answer.lines(asked.cursor, asked.limit), answer.count
    if isinstance(answer, Answer):
        total = sum(distinct_pairs(part.boxes) for part in answer.parts)
        return _slice(answer.pages(), asked.cursor, asked.limit), total
    if isinstance(answer, Correspondence):
        return _slice(answer.pages(), asked.cursor, asked.limit), answer.edges
    table = answer.table()
    return table.slice(asked.cursor, asked.limit), table.num_rows


def _slice(pages: Iterator[pa.Table], cursor: int, limit: int) -> pa.Table:
    """Return `limit` lines from line `cursor` of a sequence of tables."""
    parts: list[pa.Table] = []
    for page in pages:
        check()
        parts.append(page.slice(cursor, limit))
        cursor, limit = max(0, cursor - page.num_rows), limit - parts[-1].num_rows
        if limit <= 0:
            break
    metadata = parts[0].schema.metadata
    return pa.concat_tables(p.unify_dictionaries() for p in parts).replace_schema_metadata(metadata)


def _explanations(asked: AskedFor, answer: Explanations) -> told.ExplanationsJson:
    paths = operation_forms.paths(asked.visible, answer, asked.at)
    if isinstance(answer, CellExplanations):
        return told.ExplanationsJson(**{**dict(_table(asked, answer)), "paths": paths})
    lines = _table(asked, answer.answer)
    numbers = {(*place,): i for i, (place, _) in enumerate(answer.paths)}
    table, _ = _page(asked, replace(answer.answer, possible_parts=()))
    places = zip(*(table[n].to_pylist() for n in ("dataset", "version", "occurrence", "kind")), strict=True)
    numbered = [{**line, "path": numbers[place]} for line, place in zip(lines.lines, places, strict=True)]
    return told.ExplanationsJson(**{**dict(lines), "lines": numbered, "paths": paths})


def _rows(asked: AskedFor, answer: RowSet) -> told.AnswerJson:
    """Return a set of rows of one version."""
    count = len(answer)
    numbers = answer.runs.at(np.arange(min(asked.cursor, count), min(asked.cursor + asked.limit, count)))
    table = pa.table({"row": pa.array(numbers, pa.int64())})
    return _of_version(asked, answer, table, count)


def _located(asked: AskedFor, answer: Located) -> told.AnswerJson:
    table = answer.table()
    return _of_version(asked, answer, table.slice(asked.cursor, asked.limit), table.num_rows)


def _of_version(asked: AskedFor, answer: RowSet, table: pa.Table, total: int) -> told.AnswerJson:
    dataset, version = (pa.array([text] * table.num_rows, pa.string()) for text in (answer.dataset, answer.version))
    table = table.add_column(0, "dataset", dataset).add_column(1, "version", version)
    return told.AnswerJson(lines=asked.lines(table), total=total, next=asked.next(total), broken=asked.scope.broken)


def _values(asked: AskedFor, answer: Values) -> told.ValuesJson:
    """Return rows with values, which are read again so that only visible columns are in the response."""
    tables: list[models.RowsJson] = []
    most = 0
    for table in answer.tables.values():
        dataset, version, row = (table.column(i) for i in range(3))
        most = max(most, table.num_rows)
        names = table.column_names[3:]
        part = pa.table({"dataset": dataset, "version": version, "row": row}).slice(asked.cursor, asked.limit)
        for place in part.group_by(["dataset", "version"]).aggregate([]).to_pylist():
            at = asked.scope.prov.graph.find(Dataset.parse(place["dataset"]), place["version"])
            mine = pa.compute.and_(*(pa.compute.equal(part[n], place[n]) for n in ("dataset", "version")))
            numbers = part.filter(mine)["row"].to_numpy()
            tables.append(rows.page(at, numbers, asked.visible, 0, len(numbers), _there(at, names)))
    return told.ValuesJson(tables=tables, next=asked.next(most))


def _there(at: VersionReference, names: list[str]) -> list[str]:
    known = {f.name for f in at.version.fields}
    return [name for name in names if name in known]


def _derivations(asked: AskedFor, answer: Derivations) -> told.DerivationsJson:
    size = min(asked.cursor + asked.limit + 1, 65_536)
    table = _slice(_batches(answer, size), asked.cursor, asked.limit + 1)
    page = table.slice(0, asked.limit)
    columns = [column.to_pylist() for column in page.columns]
    return told.DerivationsJson(
        occurrences=[
            told.OccurrenceJson(
                step=o.step,
                write=o.write,
                dataset=describe.named(o.dataset, asked.visible),
                version=o.version,
                occurrence=o.occurrence,
            )
            for o in answer.occurrences
        ],
        rows=columns[0],
        sources=[list(line) for line in zip(*columns[1:], strict=True)] if len(columns) > 1 else [[]] * len(columns[0]),
        next=asked.cursor + asked.limit if table.num_rows > asked.limit else None,
        broken=asked.scope.broken,
    )


def _batches(answer: Derivations, size: int) -> Iterator[pa.Table]:
    yield answer.table(0)
    yield from answer.batches(size)


def _graph(asked: AskedFor, answer: Neighbourhood) -> told.GraphJson:
    return _prov(asked, answer.prov_json(text=asked.visible.operation), answer)


def _cell_graph(asked: AskedFor, answer: CellNeighbourhood) -> told.GraphJson:
    def cell(of: CellNode) -> CellNode:
        row = of.row
        return replace(of, column=str(asked.visible.name_of(row.dataset, row.version, of.column)))

    shown = replace(
        answer,
        cells=tuple(map(cell, answer.cells)),
        edges=tuple(replace(e, cell=cell(e.cell), source=cell(e.source)) for e in answer.edges),
        same=tuple((cell(one), cell(other)) for one, other in answer.same),
    )
    return _prov(asked, shown.prov_json(text=asked.visible.operation), answer.near)


def _prov(asked: AskedFor, document: dict[str, Any], near: Neighbourhood) -> told.GraphJson:
    stops = describe.stops(near.stops, asked.visible)
    return told.GraphJson(prov=asked.visible.paths(document), stops=stops, broken=asked.scope.broken)


def _replayed(asked: AskedFor, answer: Replayed) -> replay_models.ReplayJson:
    made = answer.dataset == asked.arguments.get("dataset")
    return replay_forms.replayed(asked.scope, answer, "backward" if made else "forward")


_Form = Callable[[AskedFor, Any], Json]
_FORMS: dict[type, tuple[type[Json], _Form]] = {
    Tabular: (told.AnswerJson, _table),
    Correspondence: (told.AnswerJson, _table),
    RowSet: (told.AnswerJson, _rows),
    Located: (told.AnswerJson, _located),
    Explanations: (told.ExplanationsJson, _explanations),
    Values: (told.ValuesJson, _values),
    Derivations: (told.DerivationsJson, _derivations),
    Trace: (models.TraceJson, lambda asked, answer: describe.traced(asked.scope, answer)),
    Neighbourhood: (told.GraphJson, _graph),
    CellNeighbourhood: (told.GraphJson, _cell_graph),
    Profile: (replay_models.ProfileJson, lambda asked, answer: profile_forms.profile(asked.scope, answer)),
    Impact: (replay_models.ProfilesJson, lambda asked, answer: profile_forms.impact(asked.scope, answer)),
    Replayed: (replay_models.ReplayJson, _replayed),
    History: (replay_models.ReplayJson, lambda asked, answer: replay_forms.history(asked.scope, answer)),
    SharedRows: (replay_models.SharedRowsJson, lambda asked, answer: replay_forms.shared(asked.scope, answer)),
    WhyNot: (replay_models.WhyNotJson, lambda asked, answer: replay_forms.why_not(asked.scope, answer)),
    OperationProfiles: (
        replay_models.OperationSpreadsJson,
        lambda asked, answer: replay_forms.spreads(asked.scope, answer),
    ),
}
"""Response model, and the function that creates it, by class of answer."""
