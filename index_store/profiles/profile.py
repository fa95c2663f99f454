"""Classes of a profile. All are frozen and stored as JSON; statistics of no numbers are None."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from provspark.index_store.query.notebook import listed
from provspark.index_store.query.tabular import Tabular
from provspark.model.errors import near_columns
from provspark.model.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
TOP = 50
"""Maximum number of a column's values that are listed with their counts."""
BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Number of values from `low` to below `high`; the last bin includes `high`."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Share:
    """A value as text, other types as in JSON, and the number of rows that have it."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """One column of a profile.

    Mean, deviation, quantiles and histogram ignore NaN and infinities.
    """

    name: str
    type: str
    count: int
    """Number of values that are not null."""
    nulls: int
    distinct: int | None = None
    """Number of different values except null; None for arrays, maps and structs."""
    unusual: int = 0
    """Number of NaN and infinite values, which are part of `count`."""
    mean: float | None = None
    deviation: float | None = None
    """Of a sample: divided by the count minus one, as in Spark's ``stddev``."""
    low: str | None = None
    high: str | None = None
    quantiles: tuple[float, ...] = ()
    """At 5, 25, 50, 75 and 95 percent, interpolated as in Spark's ``percentile``; empty if there are no numbers."""
    histogram: tuple[Bin, ...] = ()
    top: tuple[Share, ...] = ()
    """The most frequent values, at most 50; equally frequent ones in the order of their text."""

    @property
    def rows(self) -> int:
        """Number of rows of the dataset."""
        return self.count + self.nulls

    @property
    def shares(self) -> dict[str | None, float]:
        """Fraction of the rows that has each value of `top`, or null."""
        shares: dict[str | None, float] = {s.value: s.count / self.rows for s in self.top}
        return shares | ({None: self.nulls / self.rows} if self.nulls else {})

    @property
    def complete(self) -> bool:
        """Whether `top` contains all values."""
        return self.distinct is not None and self.distinct <= len(self.top)


@dataclass(frozen=True, slots=True)
class Correlations:
    """Pearson's correlation of each pair of numeric columns, over the rows in which both are numbers."""

    columns: tuple[str, ...] = ()
    values: tuple[float | None, ...] = ()
    """Of the first with each later column, of the second with each later one …; None if one of the two is constant."""

    def of(self, left: str, right: str) -> float | None:
        """Return the correlation of two columns; None, too, if one of them is not numeric."""
        if left not in self.columns or right not in self.columns:
            return None
        if left == right:
            return 1.0
        i, j = sorted((self.columns.index(left), self.columns.index(right)))
        n = len(self.columns)
        return self.values[i * n - i * (i + 1) // 2 + j - i - 1]


@dataclass(frozen=True, slots=True, repr=False)
class Profile(Tabular):
    """Distribution of the values of a version, or of some of its rows."""

    dataset: str
    version: str
    rows: int
    columns: tuple[ColumnProfile, ...]
    correlations: Correlations = Correlations()
    left_out: tuple[tuple[str, str], ...] = ()
    """Columns whose values can't be read, each with the reason."""

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        about = f"{counted(self.rows, 'row')} of {listed([self.dataset])}"
        return f"<profile of {about}: {counted(len(self), 'column')}>"

    def column(self, name: str) -> ColumnProfile:
        """Return a column by its name; case matters only if two names differ by it.

        Raises
        ------
        UnknownColumnError
            There is no such column; the message suggests similar names.
        """
        matches = [c for c in self.columns if c.name == name] or [
            c for c in self.columns if c.name.lower() == name.lower()
        ]
        if len(matches) != 1:
            raise near_columns(self.dataset, name, [c.name for c in self.columns])
        return matches[0]

    def table(self) -> pa.Table:
        """Return a row per column, without histogram and top values."""
        import pyarrow as pa

        names = ("name", "type", "count", "nulls", "distinct", "unusual", "mean", "deviation", "low", "high")
        data = {("column" if n == "name" else n): [getattr(c, n) for c in self.columns] for n in names}
        for at, q in enumerate(QUANTILES):
            data[f"q{100 * q:g}"] = [c.quantiles[at] if c.quantiles else None for c in self.columns]
        kinds = dict.fromkeys(("column", "type", "low", "high"), pa.string())
        kinds |= dict.fromkeys(("count", "nulls", "distinct", "unusual"), pa.int64())
        return pa.table({n: pa.array(v, kinds.get(n, pa.float64())) for n, v in data.items()})


@dataclass(frozen=True, slots=True)
class Profiles:
    """Profiles of a write's output and inputs."""

    profiles: tuple[Profile, ...] = ()
