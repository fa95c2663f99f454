"""Pairwise correlations of many columns, computed with products of matrices."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from provspark.index_store.profiles.profile import Correlations
from provspark.model.arrays import Floats

__all__ = ["correlate"]

_MOST = 256
"""Maximum number of numeric columns; with more there are no correlations."""
_CELLS = 50_000_000
"""Maximum number of values; with more there are no correlations."""
_AT_ONCE = 2_000_000
_NOTHING = 1e-12
"""A spread of at most this fraction of the squares is that of a constant, due to rounding."""


def correlate(columns: Mapping[str, Floats]) -> Correlations:
    """Correlate each pair of columns over the rows in which both are finite.

    The result is empty if there are too many columns or values.
    """
    names, values = tuple(columns), list(columns.values())
    cells = sum(len(v) for v in values)
    if not 2 <= len(names) <= _MOST or not 0 < cells <= _CELLS:
        return Correlations()
    middle, scale = np.array([_middle_and_scale(v) for v in values]).T
    size = len(names)
    n, sums, squares, together = (np.zeros((size, size)) for _ in range(4))
    step = max(1, _AT_ONCE // size)
    for at in range(0, len(values[0]), step):
        x = (np.stack([v[at : at + step] for v in values]) - middle[:, None]) / scale[:, None]
        there = np.isfinite(x)
        if there.all():
            n += x.shape[1]
            sums += x.sum(axis=1)[:, None]
            squares += (x * x).sum(axis=1)[:, None]
            together += x @ x.T
            continue
        x, seen = np.where(there, x, 0.0), there.astype(np.float64)
        n += seen @ seen.T
        sums += x @ seen.T
        squares += (x * x) @ seen.T
        together += x @ x.T
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = squares - sums * sums / n
        correlation = (together - sums * sums.T / n) / np.sqrt(spread * spread.T)
    constant = ~(spread > _NOTHING * squares)
    correlation = np.where(constant | constant.T | (n < 2), np.nan, np.clip(correlation, -1.0, 1.0))
    upper = correlation[np.triu_indices(size, 1)].tolist()
    return Correlations(names, tuple(None if v != v else v for v in upper))


def _middle_and_scale(values: Floats) -> tuple[float, float]:
    """Return an offset and a divisor that make the numbers small, so that squaring them loses little precision."""
    usual = values[np.isfinite(values)]
    if not len(usual):
        return 0.0, 1.0
    middle = float(usual.min() / 2 + usual.max() / 2)
    scale = float(np.abs(usual - middle).max())
    return middle, scale if 0 < scale < np.inf else 1.0
