"""What all answers have in common that are told as a table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from provspark.index_store.query.notebook import table_html

__all__ = ["FORMER", "FormerAnswer", "TableAnswer", "Tabular", "both_names", "former_names"]

FORMER: Mapping[str, str] = {"related_row": "source_row", "related_column": "source_column"}
"""Columns by what the last release called them. These names go with the next one."""


class Tabular:
    """An answer with one table: its lines can be counted, iterated over, and read by pandas, polars and DuckDB.

    For one more release it also has the methods of the `pyarrow.Table` that questions used to return.
    """

    __slots__ = ()

    def table(self) -> pa.Table:
        """Return the answer as a table."""
        raise NotImplementedError

    def former_table(self) -> pa.Table:
        """Return the table that the last release returned for the question."""
        return former_names(self.table())

    def to_pandas(self) -> Any:
        """Return the answer as a frame of pandas."""
        return self.table().to_pandas()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return table_html(self.table(), getattr(self, "stops", ()))

    def __len__(self) -> int:
        return int(self.table().num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self.table().to_batches(max_chunksize=10_000):
            yield from batch.to_pylist()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(pa.Table, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        _warn(f".{name}")
        return getattr(self.former_table(), name)

    def __getitem__(self, key: Any) -> Any:
        _warn(f"[{key!r}]")
        return self.former_table()[key]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableAnswer(Tabular):
    """An answer that is no more than a table."""

    whole: pa.Table

    def table(self) -> pa.Table:
        """Return it."""
        return self.whole

    def __repr__(self) -> str:
        return f"<{len(self):,} lines of {', '.join(self.whole.column_names)}>"


class FormerAnswer:
    """An answer of ``prov.ask``: its tables have the columns' former names."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def table(self) -> pa.Table:
        """Return the answer as a table."""
        return former_names(self.answer.table())

    def pages(self, *args: Any) -> Iterator[pa.Table]:
        """Return the table in parts."""
        return map(former_names, self.answer.pages(*args))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.answer, name)

    def __or__(self, other: FormerAnswer) -> FormerAnswer:
        return FormerAnswer(self.answer | getattr(other, "answer", other))

    def __and__(self, other: FormerAnswer) -> FormerAnswer:
        return FormerAnswer(self.answer & getattr(other, "answer", other))

    def __sub__(self, other: FormerAnswer) -> FormerAnswer:
        return FormerAnswer(self.answer - getattr(other, "answer", other))


def former_names(table: pa.Table) -> pa.Table:
    """Return a table with its columns called as in the last release."""
    return table.rename_columns([FORMER.get(name, name) for name in table.column_names])


def both_names(table: pa.Table) -> pa.Table:
    """Return a table that has renamed columns under both names."""
    for name, former in FORMER.items():
        if name in table.column_names and former not in table.column_names:
            table = table.append_column(former, table[name])
    return table


def _warn(call: str) -> None:
    warnings.warn(
        f"an answer is no longer a pyarrow.Table, and answer{call} goes with the next release: write "
        f"answer.table(){call}, whose columns {' and '.join(FORMER.values())} are called {' and '.join(FORMER)}",
        DeprecationWarning,
        stacklevel=3,
    )
