"""Joins with the nearest rows, which are not replayed: Spark may return any of several equally near rows."""

from __future__ import annotations

REFUSED = {
    "NearestByJoin": "the stored query does not determine which of several equally near rows Spark returned; "
    "join on a range, rank the rows with a window function, and keep the first ones"
}
