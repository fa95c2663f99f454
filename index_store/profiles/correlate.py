"""Correlations of many columns at once, as products of matrices."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from provspark.index_store.profiles.model import Correlations

__all__ = ["correlate"]

_MOST = 256
"""Numeric columns that are correlated; more columns get no correlations."""
_CELLS = 50_000_000
"""Numbers that are held at once; longer columns get no correlations."""


def correlate(columns: Mapping[str, npt.NDArray[np.float64]]) -> Correlations:
    """Correlate each two columns over the rows in which both are finite.

    Where there are too many columns or numbers the answer is empty.
    """
    names = tuple(columns)
    cells = sum(len(v) for v in columns.values())
    if not 2 <= len(names) <= _MOST or not 0 < cells <= _CELLS:
        return Correlations()
    x = np.stack([columns[n] for n in names])
    there = np.isfinite(x)
    x = np.where(there, x, 0.0)
    with np.errstate(all="ignore"):
        number = there.sum(axis=1)
        x = np.where(there, x - (x.sum(axis=1) / number)[:, None], 0.0)
        scale = np.abs(x).max(axis=1)
        x = x / np.where(scale > 0, scale, 1.0)[:, None]
        seen = there.astype(np.float64)
        n = seen @ seen.T
        sums = x @ seen.T
        squares = (x * x) @ seen.T
        spread = squares - sums * sums / n
        together = x @ x.T - sums * sums.T / n
        found = together / np.sqrt(spread * spread.T)
    constant = spread <= 1e-12 * np.maximum(squares, 1e-300)
    found = np.where(constant | constant.T | (n < 2), np.nan, np.clip(found, -1.0, 1.0))
    upper = found[np.triu_indices(len(names), 1)].tolist()
    return Correlations(names, tuple(None if v != v else v for v in upper))
