"""Rows of an answer's table as JSON. The name of a column decides how its cells are masked."""

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
    """Converter from rows of one answer's table to JSON.

    Parameters
    ----------
    visible : Visible
    asked : VersionReference, optional
        Version that the question is about.
    words : tuple of str
        Further columns that need no masking (ids, counts, fixed words), in addition to `COLUMNS`.
    checked : bool
        Whether the column `value` may be shown: the request named the column of its values, and that column is not
        masked.
    """

    def __init__(
        self, visible: Visible, asked: VersionReference | None, *, words: Iterable[str] = (), checked: bool = False
    ) -> None:
        self.visible, self.asked, self.checked = visible, asked, checked
        self._shows = {**COLUMNS, **dict.fromkeys(words, AnswerLines.plain)}

    def of(self, table: pa.Table) -> list[AnswerLine]:
        """Return lines as JSON, without columns whose names are in neither `COLUMNS` nor `words`."""
        names = [name for name in table.column_names if name not in FORMER.values()]
        unknown = [name for name in names if name not in self._shows]
        if unknown:
            _log.error(
                "Response omits columns without a masking rule: %s. Add them to COLUMNS or to the question's words.",
                ", ".join(unknown),
            )
        told = zip(*(cells(table[name]) for name in names), strict=True)
        lines = (dict(zip(names, values, strict=True)) for values in told)
        return [
            {name: self._shows[name](self, line, value) for name, value in line.items() if name in self._shows}
            for line in lines
        ]

    def plain(self, _: AnswerLine, value: Any) -> Any:
        """Return an id, a count or a fixed word unchanged."""
        return value

    def dataset(self, _: AnswerLine, value: Any) -> models.DatasetJson | None:
        """Return the dataset with this name."""
        return None if value is None else describe.named(value, self.visible)

    def datasets(self, _: AnswerLine, value: list[str]) -> list[models.DatasetJson]:
        """Return the datasets with these names."""
        return [describe.named(name, self.visible) for name in value]

    def column(self, line: AnswerLine, value: Any) -> Any:
        """Return the name of a column of the question's version."""
        return self._name(line, value, [self.asked])

    def related_column(self, line: AnswerLine, value: Any) -> Any:
        """Return the name of a column of the version in the line."""
        if value is None or not line.get("dataset") or not line.get("version"):
            return value if value is None or self.visible.open else HIDDEN
        return self.visible.name_of(line["dataset"], line["version"], value)

    def between(self, line: AnswerLine, value: Any) -> Any:
        """Return the name of one or several columns between the operations of the line's write."""
        if isinstance(value, list):
            return [self._name(line, name, []) for name in value]
        return self._name(line, value, [])

    def text(self, line: AnswerLine, value: Any) -> Any:
        """Return the text of the line's operations; None if it may contain masked values."""
        if value is None or self.visible.open:
            return value
        step, write = line.get("step"), line.get("write")
        numbers: list[Any] = line["operations"] if "operations" in line else [line.get("operation")]
        if step is None or write is None or None in numbers:
            return None
        read = bool(line.get("dataset")) and is_driver(Dataset.parse(line["dataset"]))
        return self.visible.step_operations(step, write, numbers, value, read=read)

    def site(self, _: AnswerLine, value: Any) -> Any:
        """Return a script line, or another text that contains paths."""
        return None if value is None else self.visible.path(value)

    def reasons(self, _: AnswerLine, value: Iterable[str]) -> list[str]:
        """Return the reasons why something was not captured."""
        return [self.visible.text(each) for each in value]

    def failure(self, _: AnswerLine, value: Any) -> Any:
        """Return the error message of a job."""
        return None if value is None else self.visible.failure(value)

    def doubt(self, _: AnswerLine, value: Any) -> Any:
        """Return a reason that quotes operations; None if anything is masked."""
        return value if self.visible.open else None

    def value(self, _: AnswerLine, value: Any) -> Any:
        """Return a value of the user's data; None if it may not be shown."""
        return value if self.visible.open or (self.visible.values and self.checked) else None

    def _name(self, line: AnswerLine, name: str | None, versions: list[VersionReference | None]) -> str | None:
        """Return a column's name; a placeholder if its version or write hides the name, or if neither is known."""
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
"""Method that converts a cell, by the name of its column in the answer's table."""
