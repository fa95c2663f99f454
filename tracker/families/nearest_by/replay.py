"""Joins with the nearest rows are not replayed: Spark leaves open which of several rows that are as near come out."""

from __future__ import annotations

REFUSED = {
    "NearestByJoin": "which of the rows that are as near come out is not in its text; "
    "join on a range, rank the rows by a window and keep the first ones"
}
