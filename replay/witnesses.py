"""Joins that combine the witnesses of both sides."""

from __future__ import annotations

from provspark.replay.columns import FOCUS, GATHERED, HIDDEN, NONE, PARENT, WITNESS
from provspark.replay.contract import Frame

_MARK = "__left_row"


def _renamed(frame: Frame) -> Frame:
    return frame.withColumnsRenamed({name: f"{name}_right" for name in HIDDEN})


def pairs(left: Frame, right: Frame, condition: str, how: str) -> Frame:
    """Join two sides. Each pair has the witnesses of both rows."""
    from pyspark.sql import functions as sf

    joined = left.join(_renamed(right), sf.expr(condition), how)
    both = {
        name: f"concat(coalesce({name}, {NONE[name]}), coalesce({name}_right, {NONE[name]}))"
        for name in (WITNESS, PARENT)
    }
    both[FOCUS] = f"coalesce({FOCUS}, false) OR coalesce({FOCUS}_right, false)"
    return joined.withColumns({name: sf.expr(sql) for name, sql in both.items()})


def semi(left: Frame, right: Frame, condition: str) -> Frame:
    """Return the left rows that match a right row, with the witnesses of all matching rows."""
    from pyspark.sql import functions as sf

    names = [n for n in left.columns if n not in HIDDEN]
    marked = left.withColumn(_MARK, sf.monotonically_increasing_id())
    columns = [sf.first(sf.col(f"`{n.replace('`', '``')}`")).alias(n) for n in names]
    met = pairs(marked, right, condition, "inner")
    return met.groupBy(_MARK).agg(*columns, *(sf.expr(e) for e in GATHERED)).drop(_MARK)


def anti(left: Frame, right: Frame, condition: str) -> Frame:
    """Return the left rows that match no right row."""
    from pyspark.sql import functions as sf

    return left.join(_renamed(right), sf.expr(condition), "left_anti")
