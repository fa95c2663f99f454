"""The lines of an answer's table, cell by cell through what may be shown: each column's name says what it holds."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.tabular import FORMER
from provspark.model.datasets import Dataset
from provspark.model.driver_datasets import is_driver
from provspark.web import describe, models
from provspark.web.rows import cells
from provspark.web.visible import HIDDEN, Visible

__all__ = ["COLUMNS", "AnswerLines"]

_log = logging.getLogger(__name__)

AnswerLine = dict[str, Any]


class AnswerLines:
    """Shows lines of one answer.

    Parameters
    ----------
    visible : Visible
    asked : VersionReference, optional
        The version that the question is about.
    words : tuple of str
        Columns of ids, counts and words of ours, beside those of `COLUMNS`.
    checked : bool
        Whether the question named the column whose values the answer counts by, and that column may be asked about.
    """

    def __init__(
        self, visible: Visible, asked: VersionReference | None, *, words: Iterable[str] = (), checked: bool = False
    ) -> None:
        self.visible, self.asked, self.checked = visible, asked, checked
        self._shows = {**COLUMNS, **dict.fromkeys(words, AnswerLines.plain)}

    def of(self, table: pa.Table) -> list[AnswerLine]:
        """Return lines as JSON. A column of a name that is not among `COLUMNS` and `words` is left out."""
        names = [name for name in table.column_names if name not in FORMER.values()]
        unknown = [name for name in names if name not in self._shows]
        if unknown:
            _log.error("columns of an answer are left out, since nothing says what they hold: %s", ", ".join(unknown))
        told = zip(*(cells(table[name]) for name in names), strict=True)
        lines = (dict(zip(names, values, strict=True)) for values in told)
        return [
            {name: self._shows[name](self, line, value) for name, value in line.items() if name in self._shows}
            for line in lines
        ]

    def plain(self, _: AnswerLine, value: Any) -> Any:
        """Ids, counts and words of ours."""
        return value

    def dataset(self, _: AnswerLine, value: Any) -> models.DatasetJson | None:
        """A data set by its name."""
        return None if value is None else describe.named(value, self.visible)

    def datasets(self, _: AnswerLine, value: list[str]) -> list[models.DatasetJson]:
        """Several."""
        return [describe.named(name, self.visible) for name in value]

    def column(self, line: AnswerLine, value: Any) -> Any:
        """A column that was asked about."""
        return self._name(line, value, [self.asked])

    def related_column(self, line: AnswerLine, value: Any) -> Any:
        """A column of the version in the line."""
        if value is None or not line.get("dataset") or not line.get("version"):
            return value if value is None or self.visible.open else HIDDEN
        return self.visible.name_of(line["dataset"], line["version"], value)

    def between(self, line: AnswerLine, value: Any) -> Any:
        """A column, or several, between the operations of the line's write."""
        if isinstance(value, list):
            return [self._name(line, name, []) for name in value]
        return self._name(line, value, [])

    def text(self, line: AnswerLine, value: Any) -> Any:
        """The text of the line's operations."""
        if value is None or self.visible.open:
            return value
        step, write = line.get("step"), line.get("write")
        numbers: list[Any] = line["operations"] if "operations" in line else [line.get("operation")]
        if step is None or write is None or None in numbers:
            return None
        read = bool(line.get("dataset")) and is_driver(Dataset.parse(line["dataset"]))
        return self.visible.step_operations(step, write, numbers, value, read=read)

    def site(self, _: AnswerLine, value: Any) -> Any:
        """A line of a script, or another text with paths in it."""
        return None if value is None else self.visible.path(value)

    def reasons(self, _: AnswerLine, value: Iterable[str]) -> list[str]:
        """Why something was not captured."""
        return [self.visible.text(each) for each in value]

    def failure(self, _: AnswerLine, value: Any) -> Any:
        """What a job's own error says."""
        return None if value is None else self.visible.failure(value)

    def doubt(self, _: AnswerLine, value: Any) -> Any:
        """A reason with operations' texts in it."""
        return value if self.visible.open else None

    def value(self, _: AnswerLine, value: Any) -> Any:
        """A value of the user's data."""
        return value if self.visible.open or (self.visible.values and self.checked) else None

    def _name(self, line: AnswerLine, name: str | None, versions: list[VersionReference | None]) -> str | None:
        """A column's name, unless one of the places that it may be of hides it, or none is known."""
        if name is None or self.visible.open:
            return name
        shown = [self.visible.name_at(at, name) for at in versions if at is not None]
        if line.get("step") is not None and line.get("write") is not None:
            shown.append(self.visible.name_in(line["step"], line["write"], name))
        return next((other for other in shown if other != name), name if shown else HIDDEN)


_Show = Callable[[AnswerLines, AnswerLine, Any], Any]
_PLAIN = (
    *("row", "related_row", "located", "occurrence", "write", "operation", "operations", "path", "witnesses", "count"),
    *("version", "step", "steps", "kind", "dependence", "exact", "gone", "role", "coverage", "versions", "rows"),
    *("dag_id", "run_id", "task_id", "map_index", "try_number", "status", "started", "ended", "node", "name"),
    *("category", "paper_categories", "categories", "contextual", "rows_in", "rows_out"),
)
COLUMNS: dict[str, _Show] = {
    **dict.fromkeys(_PLAIN, AnswerLines.plain),
    "dataset": AnswerLines.dataset,
    **dict.fromkeys(("inputs", "outputs"), AnswerLines.datasets),
    "column": AnswerLines.column,
    "related_column": AnswerLines.related_column,
    **dict.fromkeys(("known_as", "into", "columns_in", "columns_out", "reads", "makes", "drops"), AnswerLines.between),
    "text": AnswerLines.text,
    "site": AnswerLines.site,
    "reasons": AnswerLines.reasons,
    "error": AnswerLines.failure,
    "why": AnswerLines.doubt,
    "value": AnswerLines.value,
}
"""What shows the cells of a column, by its name in answers' tables."""
