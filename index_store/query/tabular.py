"""The base classes of all answers that have a table."""

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
"""Key of a table's schema metadata that holds the question, the stops, the ends and what is trusted, as JSON."""
POSSIBLE = b"provspark.possible"
"""Key of a table's schema metadata that holds the possible edges, as a stream of Arrow's."""
VALUES = b"provspark.values"
"""Key of the schema metadata of tables with rows of the user's; its value says whether these are ``exact``."""
LEAD = ("dataset", "version", "row")
"""The first columns of such a table; before a name that the user's columns have there are underscores."""
FORMER: Mapping[str, str] = {"related_row": "source_row", "related_column": "source_column"}
"""Columns by what the last release called them. These names go with the next one."""


class Readable:
    """An object with one table, which pandas, polars and DuckDB read as it is."""

    __slots__ = ()

    def table(self) -> pa.Table:
        """Return it as a table."""
        raise NotImplementedError

    def to_pandas(self, **options: Any) -> Any:
        """Return a frame of pandas, with renamed columns under both names; options are those of `pyarrow.Table`."""
        return both_names(self._whole()).to_pandas(**options)

    @property
    def schema(self) -> pa.Schema:
        """That of Arrow's C stream, whose readers ask for it first: renamed columns are there under both names."""
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
    """For members of other answers, what to call instead."""

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
        """The table, written out once."""
        try:
            kept = self._kept
        except AttributeError:
            kept = self.table()
            object.__setattr__(self, "_kept", kept)
        return kept

    def _first(self, most: int) -> pa.Table:
        """The first lines of the table; long answers write out no others for them."""
        return self._whole().slice(0, most)

    def _notes(self) -> Iterable[object]:
        """What HTML has below the table."""
        return ()


class FormerTable(Tabular):
    """An answer in whose place the last release returned a `pyarrow.Table`.

    For one more release it has that table's methods. Two are equal if their tables are. Copies by `pickle` keep the
    table alone: what finds further rows stays in its process.
    """

    __slots__ = ()

    @property
    def stops(self) -> tuple[Stop, ...]:
        """Where it is less than it could be."""
        return tuple(Stop(**stop) for stop in said(self._whole(), "stops"))

    @property
    def exact(self) -> bool:
        """Whether it is all that there is, and nothing more: nothing stopped, or is only possible."""
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
        except ConditionError as error:  # the answer is no single table; `hasattr` may ask
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}: {error}") from error
        return getattr(table, name)

    def __getitem__(self, key: Any) -> Any:
        _warn(f"[{key!r}]")
        return self.former_table()[key]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableAnswer(FormerTable):
    """An answer that is no more than a table."""

    instead: ClassVar[Mapping[str, str]] = {
        **FormerTable.instead,
        "rows": "it is no more than a table. Select rows with prov.select(…); the table of an answer that was pickled "
        "can be passed to a question in place of a dataset",
        "values": "it is no more than a table. Pass the table of an answer that was pickled to prov.values(…)",
        "possible": "it is no more than a table: call possible_of(answer)",
        "ends": "it is no more than a table: call ends_of(answer)",
    }
    whole: pa.Table

    def table(self) -> pa.Table:
        """Return it."""
        return self.whole

    def __repr__(self) -> str:
        return brief(listed(self.whole.column_names, 20), len(self))


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


def said(table: pa.Table, name: str) -> list[dict[str, Any]]:
    """Return what the metadata of an answer's table say, by name: stops, ends, trusted, gone, versions."""
    entries: list[dict[str, Any]] = json.loads((table.schema.metadata or {}).get(METADATA, b"{}")).get(name, [])
    return entries


def has_values(table: pa.Table) -> bool:
    """Whether a table is one of `Values`: its columns have the names that the user gave them, whatever these are."""
    if VALUES in (table.schema.metadata or {}):
        return True
    lead = table.column_names[: len(LEAD)]
    return tuple(name.lstrip("_") for name in lead) == LEAD


def former_names(table: pa.Table) -> pa.Table:
    """Return a table with its columns called as in the last release; columns of the user's keep their names."""
    if has_values(table):
        return table
    names = [FORMER.get(name, name) for name in table.column_names]
    return table.rename_columns(names).replace_schema_metadata(table.schema.metadata)


def both_names(table: pa.Table) -> pa.Table:
    """Return a table that has renamed columns under both names; columns of the user's were never renamed."""
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
