"""Base classes of the answers that have a table."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provspark.index_store.query.notebook import SHOWN, brief, listed, table_html
from provspark.model.errors import AnswerMemberError, ConditionError
from provspark.model.stops import Stop

__all__ = [
    "FORMER",
    "FormerAnswer",
    "FormerTable",
    "Readable",
    "TableAnswer",
    "Tabular",
    "both_names",
    "former_names",
    "has_values",
    "repeated",
    "said",
    "written",
]

METADATA = b"provspark"
"""Key of a table's schema metadata for the question, the stops, the ends and what is trusted, as JSON."""
POSSIBLE = b"provspark.possible"
"""Key of a table's schema metadata for the possible edges, as an Arrow stream."""
VALUES = b"provspark.values"
"""Key of the schema metadata of tables with the user's values. The value is ``exact`` or ``inexact``."""
LEAD = ("dataset", "version", "row")
"""The first columns of such a table, with underscores before a name that a column of the user has."""
FORMER: Mapping[str, str] = {"related_row": "source_row", "related_column": "source_column"}
"""Former names of columns, which the next release removes."""


class Readable:
    """An object with one table, which pandas, polars and DuckDB read directly."""

    __slots__ = ()

    def table(self) -> pa.Table:
        """Return the table."""
        raise NotImplementedError

    def to_pandas(self, **options: Any) -> Any:
        """Return a pandas data frame, with renamed columns under both names; options are those of `pyarrow.Table`."""
        return both_names(self._whole()).to_pandas(**options)

    @property
    def schema(self) -> pa.Schema:
        """Schema of the Arrow C stream, with renamed columns under both names."""
        return both_names(self._whole()).schema

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return both_names(self._whole()).__arrow_c_stream__(requested_schema)

    def _whole(self) -> pa.Table:
        return self.table()


class Tabular(Readable):
    """An answer with one table, whose lines can be counted and iterated over."""

    __slots__ = ("_kept",)
    instead: ClassVar[Mapping[str, str]] = {
        "rows": "select rows with prov.select(…), or ask prov.backward or prov.forward, whose answers have rows",
        "values": "read values with prov.values(dataset, rows), or ask prov.backward or prov.forward, whose answers "
        "have values()",
        "possible": "ask prov.backward or prov.forward, which follow possible edges",
        "ends": "ask prov.backward or prov.forward, whose answers have ends",
        "stops": "ask prov.backward or prov.forward, whose answers have stops",
        "exact": "ask prov.backward or prov.forward, whose answers say whether they are exact",
    }
    """What to call instead of members that only other answers have."""

    def _repr_html_(self) -> str:
        return table_html(self._first(SHOWN), self._notes(), len(self))

    def __repr__(self) -> str:
        return brief(type(self).__name__, len(self))

    def __len__(self) -> int:
        return int(self._whole().num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self._whole().to_batches(max_chunksize=10_000):
            yield from batch.to_pylist()

    def __getattr__(self, name: str) -> Any:
        if name in self.instead:
            raise AnswerMemberError(type(self).__name__, name, self.instead[name])
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _whole(self) -> pa.Table:
        """Return the table, computed once."""
        try:
            kept = self._kept
        except AttributeError:
            kept = self.table()
            object.__setattr__(self, "_kept", kept)
        return kept

    def _first(self, most: int) -> pa.Table:
        """Return the first lines of the table; long answers compute only these."""
        return self._whole().slice(0, most)

    def _notes(self) -> Iterable[object]:
        """Return the lines below the table in HTML."""
        return ()


class FormerTable(Tabular):
    """An answer for which the last release returned a `pyarrow.Table`.

    It has the methods of that table for one more release. Two are equal if their tables are. A pickled copy contains
    only the table, and can't find further rows.
    """

    __slots__ = ()

    @property
    def stops(self) -> tuple[Stop, ...]:
        """Places where the answer is incomplete or less precise."""
        return tuple(Stop(**stop) for stop in said(self._whole(), "stops"))

    @property
    def exact(self) -> bool:
        """Whether the answer is complete and precise: no path stopped, and no row is only possible."""
        table = self._whole()
        if said(table, "stops") or said(table, "ends") or POSSIBLE in (table.schema.metadata or {}):
            return False
        doubtful = pa.array(["possible"])
        kinds = [column for name, column in zip(table.column_names, table.columns, strict=True) if name == "kind"]
        exact = [column for name, column in zip(table.column_names, table.columns, strict=True) if name == "exact"]
        sure = not any(pc.any(pc.is_in(pc.cast(c, pa.string()), doubtful)).as_py() for c in kinds)
        return sure and all(pc.all(column).as_py() is not False for column in exact)

    def former_table(self) -> pa.Table:
        """Return the table that the last release returned for the question."""
        return former_names(self._whole())

    def _notes(self) -> Iterable[object]:
        return self.stops

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, FormerTable) and bool(self._whole().equals(other._whole())))

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> FormerTable:
        return self

    def __deepcopy__(self, memo: object) -> FormerTable:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return TableAnswer, (self._whole(),)

    def __getattr__(self, name: str) -> Any:
        if name in self.instead or name.startswith("_") or not hasattr(pa.Table, name):
            return super().__getattr__(name)
        _warn(f".{name}")
        try:
            table = self.former_table()
        except ConditionError as error:  # the answer is not a single table; `hasattr` may call this
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}: {error}") from error
        return getattr(table, name)

    def __getitem__(self, key: Any) -> Any:
        _warn(f"[{key!r}]")
        return self.former_table()[key]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableAnswer(FormerTable):
    """An answer that consists of a table."""

    instead: ClassVar[Mapping[str, str]] = {
        **FormerTable.instead,
        "rows": "it is only a table. Select rows with prov.select(…). You can pass the table of a pickled answer to a "
        "question in place of a dataset",
        "values": "it is only a table. Pass the table of a pickled answer to prov.values(…)",
        "possible": "it is only a table. Call possible_of(answer)",
        "ends": "it is only a table. Call ends_of(answer)",
    }
    whole: pa.Table

    def table(self) -> pa.Table:
        """Return the table."""
        return self.whole

    def __repr__(self) -> str:
        return brief(listed(self.whole.column_names, 20), len(self))


class FormerAnswer:
    """An answer of ``prov.ask``, whose tables have the former names of columns."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def table(self) -> pa.Table:
        """Return the answer as a table."""
        return former_names(self.answer.table())

    def to_pandas(self, **options: Any) -> Any:
        """Return the answer as a pandas data frame."""
        return self.table().to_pandas(**options)

    def pages(self, *args: Any) -> Iterator[pa.Table]:
        """Return the table page by page."""
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
    """Return an answer's table, computed once, or the given table."""
    return answer._whole() if isinstance(answer, Tabular) else answer


def repeated(word: str, count: int) -> pa.Array:
    """Return a column that repeats one string."""
    return pa.DictionaryArray.from_arrays(np.zeros(count, dtype=np.int32), pa.array([word]))


def said(table: pa.Table, name: str) -> list[dict[str, Any]]:
    """Return an entry of the metadata of an answer's table: stops, ends, trusted, gone or versions."""
    entries: list[dict[str, Any]] = json.loads((table.schema.metadata or {}).get(METADATA, b"{}")).get(name, [])
    return entries


def has_values(table: pa.Table) -> bool:
    """Return whether a table is one of `Values`, whose columns have the user's names."""
    if VALUES in (table.schema.metadata or {}):
        return True
    lead = table.column_names[: len(LEAD)]
    return tuple(name.lstrip("_") for name in lead) == LEAD


def former_names(table: pa.Table) -> pa.Table:
    """Return a table with the column names of the last release. Columns of the user keep their names."""
    if has_values(table):
        return table
    names = [FORMER.get(name, name) for name in table.column_names]
    return table.rename_columns(names).replace_schema_metadata(table.schema.metadata)


def both_names(table: pa.Table) -> pa.Table:
    """Return a table with renamed columns under both names. Columns of the user were not renamed."""
    if has_values(table):
        return table
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
