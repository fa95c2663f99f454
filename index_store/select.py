"""Former name of `provspark.index_store.values.selection`, kept for one release."""

from __future__ import annotations

import warnings

from provspark.index_store.values.selection import Condition, parse_condition

__all__ = ["Condition", "parse_condition"]

warnings.warn(
    "provspark.index_store.select is deprecated; import from provspark.index_store.values.selection instead",
    DeprecationWarning,
    stacklevel=2,
)
