"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

from oracle.random_parts import COLUMNS, Operator

SORTS = (COLUMNS, ("-r", "q", "-p"))
"""Orders that leave only equal rows side by side in any order."""


def _sort_frame(i: int, df: Any) -> Any:
    from pyspark.sql import functions as sf

    return df.orderBy(*[sf.col(c.removeprefix("-")).desc() if c[0] == "-" else sf.col(c) for c in SORTS[i]])


SHAPES: dict[str, Operator] = {
    "sort": Operator((len(SORTS),), 1, _sort_frame, lambda i, r: r, group="rows"),
}
