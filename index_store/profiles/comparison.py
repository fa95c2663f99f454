"""Comparison of two profiles: how a step changed the distribution of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from provspark.index_store.profiles.profile import ColumnProfile, Profile
from provspark.index_store.query.notebook import listed
from provspark.index_store.query.tabular import Tabular
from provspark.model.wording import counted

__all__ = ["Impact"]

_MEASURES = ("count", "nulls", "distinct", "mean", "deviation")


@dataclass(frozen=True, slots=True, repr=False)
class Impact(Tabular):
    """A dataset that a step read, compared with what the step made of it.

    Parameters
    ----------
    step : str
    before, after : Profile
        Profile of an input, and profile of the output.
    was : mapping
        Former names of renamed columns.
    """

    step: str
    before: Profile
    after: Profile
    was: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __repr__(self) -> str:
        way = f"from {listed([self.before.dataset])} to {listed([self.after.dataset])}"
        return f"<impact of step {listed([self.step])} {way}: {counted(len(self.pairs()), 'column')}>"

    def pairs(self) -> list[tuple[str, ColumnProfile | None, ColumnProfile | None]]:
        """Return each column before and after: first those of the output, then those that were dropped."""
        old = {c.name: c for c in self.before.columns}
        named = {a.name: self.was.get(a.name, a.name) for a in self.after.columns}
        came = [(a.name, old.get(named[a.name]), a) for a in self.after.columns]
        return [*came, *((b.name, b, None) for b in self.before.columns if b.name not in named.values())]

    def table(self) -> pa.Table:
        """Return a row per column and measure: column, measure, before, after, change.

        Measures are count, nulls, distinct, mean, deviation, and the quantiles. The first row has no column: it
        compares the numbers of rows.
        """
        lines: list[tuple[str | None, str, float | None, float | None]] = [
            (None, "rows", self.before.rows, self.after.rows)
        ]
        for name, before, after in self.pairs():
            told_before, told_after = _measures(before), _measures(after)
            for measure in dict.fromkeys([*told_before, *told_after]):
                lines.append((name, measure, told_before.get(measure), told_after.get(measure)))
        columns = list(zip(*lines, strict=True))
        change = [None if b is None or a is None else a - b for _, _, b, a in lines]
        return pa.table(
            {
                "column": pa.array(columns[0], pa.string()),
                "measure": pa.array(columns[1], pa.string()),
                "before": pa.array(columns[2], pa.float64()),
                "after": pa.array(columns[3], pa.float64()),
                "change": pa.array(change, pa.float64()),
            }
        )

    def shares(self) -> pa.Table:
        """Return a row per column and value: column, value, before, after, change, as fractions of all rows.

        Null is a value. Of a column with more than 50 values only the most frequent are known: the fraction of a value
        that may be among the others on one side is null there. A value that appeared or disappeared counts as 0.
        """
        lines = []
        for name, before, after in self.pairs():
            if before is None or after is None:
                continue
            values = dict.fromkeys([*before.shares, *after.shares])
            lines += [(name, value, _share(before, value), _share(after, value)) for value in values]
        change = [None if b is None or a is None else a - b for _, _, b, a in lines]
        return pa.table(
            {
                "column": pa.array([line[0] for line in lines], pa.string()),
                "value": pa.array([line[1] for line in lines], pa.string()),
                "before": pa.array([line[2] for line in lines], pa.float64()),
                "after": pa.array([line[3] for line in lines], pa.float64()),
                "change": pa.array(change, pa.float64()),
            }
        )


def _measures(column: ColumnProfile | None) -> dict[str, float]:
    if column is None:
        return {}
    values = {m: getattr(column, m) for m in _MEASURES}
    values |= dict(zip(("q5", "q25", "q50", "q75", "q95"), column.quantiles, strict=False))
    return {m: v for m, v in values.items() if v is not None}


def _share(column: ColumnProfile, value: str | None) -> float | None:
    share = column.shares.get(value)
    if share is None and (value is None or column.complete):
        return 0.0
    return share
