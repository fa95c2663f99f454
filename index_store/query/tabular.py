"""The base class of all answers that have a table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from provspark.index_store.query.notebook import table_html
from provspark.model.errors import ConditionError

__all__ = ["FORMER", "FormerAnswer", "TableAnswer", "Tabular", "both_names", "former_names", "repeated", "written"]

FORMER: Mapping[str, str] = {"related_row": "source_row", "related_column": "source_column"}
"""Columns by what the last release called them. These names go with the next one."""


class Tabular:
    """An answer with one table: its lines can be counted, iterated over, and read by pandas, polars and DuckDB.

    For one more release it also has the methods of the `pyarrow.Table` that questions used to return.
    """

    __slots__ = ("_kept",)

    def table(self) -> pa.Table:
        """Return the answer as a table."""
        raise NotImplementedError

    def former_table(self) -> pa.Table:
        """Return the table that the last release returned for the question."""
        return former_names(self._whole())

    def to_pandas(self, **options: Any) -> Any:
        """Return a frame of pandas, with renamed columns under both names; options are those of `pyarrow.Table`."""
        return both_names(self._whole()).to_pandas(**options)

    @property
    def schema(self) -> pa.Schema:
        """That of Arrow's C stream, whose readers ask for it first: renamed columns are there under both names."""
        return both_names(self._whole()).schema

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return both_names(self._whole()).__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return table_html(self._whole(), getattr(self, "stops", ()))

    def __len__(self) -> int:
        return int(self._whole().num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self._whole().to_batches(max_chunksize=10_000):
            yield from batch.to_pylist()

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Tabular) and bool(self._whole().equals(other._whole())))

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Tabular:
        return self

    def __deepcopy__(self, memo: object) -> Tabular:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return TableAnswer, (self._whole(),)  # what finds further rows stays in its process

    def _whole(self) -> pa.Table:
        """The table, written out once."""
        try:
            kept = self._kept
        except AttributeError:
            kept = self.table()
            object.__setattr__(self, "_kept", kept)
        return kept

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(pa.Table, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        _warn(f".{name}")
        try:
            table = self.former_table()
        except ConditionError as error:  # the answer is no single table; `hasattr` may ask
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}: {error}") from error
        return getattr(table, name)

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

    def to_pandas(self, **options: Any) -> Any:
        """Return the answer as a frame of pandas."""
        return self.table().to_pandas(**options)

    def pages(self, *args: Any) -> Iterator[pa.Table]:
        """Return the table in parts."""
        return map(former_names, self.answer.pages(*args))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.answer, name)

    def __repr__(self) -> str:
        return repr(self.answer)

    def __or__(self, other: FormerAnswer) -> FormerAnswer:
        return FormerAnswer(self.answer | getattr(other, "answer", other))

    def __and__(self, other: FormerAnswer) -> FormerAnswer:
        return FormerAnswer(self.answer & getattr(other, "answer", other))

    def __sub__(self, other: FormerAnswer) -> FormerAnswer:
        return FormerAnswer(self.answer - getattr(other, "answer", other))


def written(answer: pa.Table | Tabular) -> pa.Table:
    """Return an answer's table, which is written out once, or the table that is given."""
    return answer._whole() if isinstance(answer, Tabular) else answer


def repeated(word: str, count: int) -> pa.Array:
    """Return a column of one word."""
    return pa.DictionaryArray.from_arrays(np.zeros(count, dtype=np.int32), pa.array([word]))


def former_names(table: pa.Table) -> pa.Table:
    """Return a table with its columns called as in the last release."""
    names = [FORMER.get(name, name) for name in table.column_names]
    return table.rename_columns(names).replace_schema_metadata(table.schema.metadata)


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
