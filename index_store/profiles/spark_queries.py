"""Profiles of datasets that are too large for the driver: Spark counts, and the driver collects the counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from provspark.index_store.profiles.computation import readable, text_of
from provspark.index_store.profiles.profile import BINS, QUANTILES, TOP, Bin, ColumnProfile, Profile, Share
from provspark.model.datasets import Field, Version
from provspark.model.errors import VersionChangedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["aggregated"]

_EQUAL = 10_000
"""Number of equally frequent values that are ordered by their text."""
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_NO_ENDS = ("boolean", "void")
_NESTED = ("array", "map", "struct")


def aggregated(version: Version, frame: DataFrame) -> Profile:
    """Profile a version by Spark queries: one for all columns, and two for each column.

    The result is that of `profile_of` without correlations. If more than 10,000 values are as frequent as the last
    one listed, those are listed that come first as Spark writes them.

    Raises
    ------
    VersionChangedError
        The number of rows differs from the recorded one.
    """
    fields, left_out = readable(version, None)
    frame = frame.selectExpr(*(f"{_plain(f)} AS c{i}" for i, f in enumerate(fields)))
    sums = [f"{sql} AS {name}{i}" for i, f in enumerate(fields) for name, sql in _sums(f, f"c{i}")]
    (row,) = _rows(frame.selectExpr("count(*) AS every", *sums))
    if row["every"] != version.rows:
        raise VersionChangedError(
            f"{version.dataset} has {row['every']} rows now, but had {version.rows} at capture. Restore its files."
        )
    told = []
    for i, field in enumerate(fields):
        whole = ColumnProfile(field.name, field.type, row[f"count{i}"], version.rows - row[f"count{i}"])
        if not _is(field, _NESTED):
            mine = {name: row[f"{name}{i}"] for name, _ in _sums(field, "")}
            whole = _column(frame.selectExpr(f"c{i} AS v").where("v IS NOT NULL"), field, whole, mine)
        told.append(whole)
    return Profile(str(version.dataset), version.id, version.rows, tuple(told), left_out=left_out)


def _is(field: Field, kinds: Sequence[str]) -> bool:
    return field.type.split("<")[0].split("(")[0] in kinds


def _plain(field: Field) -> str:
    name = "`" + field.name.replace("`", "``") + "`"
    return f"{name} + cast(0 AS {field.type})" if field.type in ("float", "double") else name  # -0.0 equals 0.0


def _number(column: str) -> str:
    """Return SQL for a number; null if it is NaN or infinite."""
    value = f"cast({column} AS double)"
    return f"if(isnan({value}) OR abs({value}) = double('Infinity'), NULL, {value})"


def _sums(field: Field, column: str) -> list[tuple[str, str]]:
    """Return what the query over all columns computes of one column."""
    sums = [("count", f"count({column})")]
    if not _is(field, (*_NO_ENDS, *_NESTED)):
        real = f"if(isnan({column}), NULL, {column})" if field.type in ("float", "double") else column
        sums += [("low", f"min({real})"), ("high", f"max({real})")]
    if _is(field, _NUMBERS):
        usual = _number(column)
        sums += [(n, f"{n}({usual})") for n in ("avg", "stddev_samp", "min", "max")] + [("usual", f"count({usual})")]
    return sums


def _column(values: DataFrame, field: Field, told: ColumnProfile, row: dict[str, Any]) -> ColumnProfile:
    counts = values.groupBy("v").count()
    distinct, top = _top(counts)
    low, high = row.get("low"), row.get("high")
    told = replace(told, distinct=distinct, top=top, low=_text(low), high=_text(high))
    if not _is(field, _NUMBERS):
        return told
    usual = row["usual"]
    told = replace(told, unusual=told.count - usual)
    if not usual:
        return told
    told = replace(told, mean=_finite(row["avg"]), deviation=_finite(row["stddev_samp"]))
    with np.errstate(over="ignore"):
        width = np.float64(row["max"]) - np.float64(row["min"])
    if not np.isfinite(width):
        return told
    edges = np.histogram_bin_edges([row["min"], row["max"]], bins=BINS if width else 1).tolist()
    quantiles, bins = _ordered(counts, usual, edges)
    return replace(told, quantiles=quantiles, histogram=bins)


def _top(counts: DataFrame) -> tuple[int, tuple[Share, ...]]:
    """Return the number of different values, and the most frequent ones."""
    most = counts.orderBy(*_falling()).limit(TOP).select("count")
    (total,) = _rows(counts.selectExpr("count(*) AS n"))
    least = min((r["count"] for r in _rows(most)), default=0)
    near = _rows(counts.where(f"count >= {least}").orderBy(*_falling()).limit(_EQUAL))
    shares = [Share(text_of(r["v"]), r["count"]) for r in near]
    return total["n"], tuple(sorted(shares, key=lambda s: (-s.count, s.value))[:TOP])


def _falling() -> list[Any]:
    from pyspark.sql import functions as sf

    return [sf.col("count").desc(), sf.expr("cast(v AS string)")]


def _ordered(counts: DataFrame, usual: int, edges: list[float]) -> tuple[tuple[float, ...], tuple[Bin, ...]]:
    """Return quantiles and bins of numbers, computed from their counts in ascending order."""
    places = [q * (usual - 1) for q in QUANTILES]
    numbers = counts.selectExpr(f"{_number('v')} AS v", "count").where("v IS NOT NULL")
    running = numbers.selectExpr("v", "count", "sum(count) OVER (ORDER BY v ROWS UNBOUNDED PRECEDING) AS upto")
    picks = [
        f"min(if(upto > {min(int(place) + more, usual - 1)}, v, NULL)) AS p{i}_{more}"
        for i, place in enumerate(places)
        for more in (0, 1)
    ]
    below = [f"sum(if(v < {edge!r}D, count, 0L)) AS b{i}" for i, edge in enumerate(edges)]
    (row,) = _rows(running.selectExpr(*picks, *below))
    quantiles = tuple(
        float(np.quantile([row[f"p{i}_0"], row[f"p{i}_1"]], place - int(place))) for i, place in enumerate(places)
    )
    ends = [*(row[f"b{i}"] for i in range(len(edges) - 1)), usual]
    bins = zip(edges, edges[1:], ends, ends[1:], strict=False)
    return quantiles, tuple(Bin(low, high, after - before) for low, high, before, after in bins)


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def _text(value: object) -> str | None:
    return None if value is None else text_of(value)


def _rows(frame: DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = frame.toArrow().to_pylist()
    return rows
