"""Rows with their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.notebook import brief, listed, table_html
from provspark.index_store.query.tabular import LEAD, VALUES, FormerTable, repeated, said
from provspark.model.arrays import Int64
from provspark.model.errors import ConditionError
from provspark.model.stops import Stop
from provspark.model.wording import counted

__all__ = ["Values", "values_of"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Values(FormerTable):
    """Rows of one or several datasets, each with its values.

    Parameters
    ----------
    tables : mapping
        For each dataset a table of ``dataset``, ``version``, ``row`` and the dataset's columns. If the dataset has a
        column with one of these names, the name of ours starts with an underscore.
    """

    instead: ClassVar[Mapping[str, str]] = {
        **FormerTable.instead,
        "rows": "pass the values to a question in place of a dataset, or use rows of the answer that they come from",
    }
    tables: Mapping[str, pa.Table]

    def table(self) -> pa.Table:
        """Return the table of the only dataset.

        Raises
        ------
        ConditionError
            The rows are of several datasets.
        """
        if len(self.tables) > 1:
            raise ConditionError(
                f"The rows are of {len(self.tables)} datasets ({', '.join(list(self.tables)[:3])}), each with its own "
                f"columns. Use `tables`, or ask again with to=DATASET."
            )
        return next(iter(self.tables.values())) if self.tables else _EMPTY.empty_table()

    @property
    def stops(self) -> tuple[Stop, ...]:
        """Stops of the answer that the rows come from."""
        return tuple(dict.fromkeys(Stop(**s) for table in self.tables.values() for s in said(table, "stops")))

    @property
    def exact(self) -> bool:
        """Whether the answer that the rows come from is exact; true for selected rows."""
        return all((table.schema.metadata or {}).get(VALUES) != b"inexact" for table in self.tables.values())

    def values(self) -> Values:
        """Return itself."""
        return self

    def __len__(self) -> int:
        return sum(table.num_rows for table in self.tables.values())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for table in self.tables.values():
            for batch in table.to_batches(max_chunksize=10_000):
                yield from batch.to_pylist()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Values):
            return len(self.tables) <= 1 and FormerTable.__eq__(self, other)
        same = self.tables.keys() == other.tables.keys()
        return same and all(table.equals(other.tables[name]) for name, table in self.tables.items())

    __hash__ = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Values, (dict(self.tables),)

    def _repr_html_(self) -> str:
        return "".join(table_html(table) for table in self.tables.values()) or table_html(_EMPTY.empty_table())

    def columns_only(self) -> pa.Table:
        """Return the table without the columns for dataset, version and row."""
        table = self.table()
        return table.select(range(len(LEAD), table.num_columns))

    def former_table(self) -> pa.Table:
        """Return only the values, each row once, sorted by row id, as the last release did."""
        table = self.table()
        _, first = np.unique(table.column(len(LEAD) - 1).to_numpy(), return_index=True)
        return self.columns_only().take(first)

    def __repr__(self) -> str:
        rows = listed(f"{counted(t.num_rows, 'row')} of {listed([name])}" for name, t in self.tables.items())
        return brief(f"values of {rows or 'no row'}")


_EMPTY = pa.schema([("dataset", pa.string()), ("version", pa.string()), ("row", pa.int64())])
"""A schema instead of a table, because `pyarrow.array` imports pandas, which takes time."""


def values_of(
    rows: Iterable[tuple[VersionReference, Int64, Sequence[str] | None]],
    about: Mapping[bytes, str | bytes],
    *,
    exact: bool = True,
) -> Values:
    """Read the values of rows of versions, in the given order, including repeated rows.

    Parameters
    ----------
    rows : iterable of (version, row ids, columns)
        None for all columns of a version.
    about : mapping
        Metadata of the tables.
    exact : bool
        Whether the answer that the rows come from is exact.

    Raises
    ------
    UnknownColumnError, VersionChangedError, ValuesUnavailableError
    """
    from provspark.index_store.values import read_rows

    parts: dict[str, list[tuple[list[pa.Array], pa.Table]]] = {}
    for at, numbers, columns in rows:
        values = read_rows(at.version, at.files, numbers, columns)
        name = str(at.version.dataset)
        lead = [repeated(name, len(numbers)), repeated(at.version.id, len(numbers)), pa.array(numbers, pa.int64())]
        parts.setdefault(name, []).append((lead, values))
    told = {**about, VALUES: b"exact" if exact else b"inexact"}
    return Values({name: _joined(name, some).replace_schema_metadata(told) for name, some in parts.items()})


def _joined(dataset: str, parts: Sequence[tuple[list[pa.Array], pa.Table]]) -> pa.Table:
    """Return the rows of all versions of a dataset as one table."""
    ours = _free([name for _, values in parts for name in values.column_names])
    tables = [pa.table([*lead, *v.columns], names=[*ours, *v.column_names]) for lead, v in parts]
    try:
        return tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise ConditionError(
            f"The rows are of {len(tables)} versions of {dataset} whose columns have different types ({error}). Read "
            f"the values of each version separately, or pass columns of equal types."
        ) from None


def _free(taken: Sequence[str]) -> list[str]:
    names = []
    for name in LEAD:
        while name in taken:
            name = f"_{name}"
        names.append(name)
    return names
