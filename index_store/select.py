"""Old name of `provspark.index_store.values.selection`, for one release."""

from __future__ import annotations

import warnings

from provspark.index_store.values.selection import Condition, parse_condition

__all__ = ["Condition", "parse_condition"]

warnings.warn(
    "provspark.index_store.select moved; import from provspark.index_store.values.selection",
    DeprecationWarning,
    stacklevel=2,
)
