"""Whether rows that the script hands to Spark are constants of its text.

Rows that are not may derive from what the script read before: a later write of them has possible edges.
"""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from provspark.said import is_said
from provspark.tracker.script import Place, program, script_place
from provspark.tracker.script.shown import Shown
from provspark.tracker.script.source import Source

if TYPE_CHECKING:
    from provspark.tracker.jvm import Jvm

__all__ = ["MAKERS", "MadeRows", "Maker", "rows_are_constant", "script_place", "shown"]


@dataclass(frozen=True, slots=True)
class Maker:
    """A function that makes rows of values which the script hands over.

    Attributes
    ----------
    module, owner, name : str
        Where PySpark defines it; `owner` is the class, or "" for a function of the module.
    values : tuple of str
        The parameters that hold values, in their order. All others describe the rows: schemas, names, partitions.
    """

    module: str
    owner: str
    name: str
    values: tuple[str, ...]


_PANDAS = "pyspark.pandas"
MAKERS: dict[str, Maker] = {
    f"{maker.owner}.{maker.name}" if maker.owner else f"ps.{maker.name}": maker
    for maker in (
        Maker("pyspark.sql", "SparkSession", "createDataFrame", ("data",)),
        Maker("pyspark.sql", "SparkSession", "range", ("start", "end", "step")),
        Maker("pyspark.sql", "SparkSession", "sql", ("sqlQuery", "args")),
        Maker("pyspark", "SparkContext", "parallelize", ("c",)),
        Maker("pyspark", "SparkContext", "range", ("start", "end", "step")),
        Maker("pyspark.sql.tvf", "TableValuedFunction", "range", ("start", "end", "step")),
        Maker(_PANDAS, "", "DataFrame", ("data", "index")),
        Maker(_PANDAS, "", "Series", ("data", "index")),
        Maker(_PANDAS, "", "Index", ("data",)),
        Maker(_PANDAS, "", "MultiIndex", ("levels", "codes")),
        Maker(_PANDAS, "", "DatetimeIndex", ("data",)),
        Maker(_PANDAS, "", "TimedeltaIndex", ("data",)),
        Maker(_PANDAS, "", "CategoricalIndex", ("data",)),
        Maker(_PANDAS, "", "from_pandas", ("pobj",)),
        Maker(_PANDAS, "", "range", ("start", "end", "step")),
        Maker(_PANDAS, "", "date_range", ("start", "end", "periods")),
        Maker(_PANDAS, "", "timedelta_range", ("start", "end", "periods")),
        Maker(_PANDAS, "", "to_datetime", ("arg",)),
        Maker(_PANDAS, "", "to_timedelta", ("arg",)),
    )
}
"""Everything that makes rows of values in the driver, by the name to use in `rows_are_constant`."""

_shown = Shown(program())


def shown() -> Shown:
    """Return what decides, for this process, whether its script shows a value."""
    return _shown


def rows_are_constant(maker: str, place: Place | None = None, data: Any = None) -> bool:
    """Return whether the script's text shows that the rows of a call are constants.

    Parameters
    ----------
    maker : str
        A key of `MAKERS`.
    place : Place, optional
        Where the call was written; the call under way by default. Call it while the script's frame is on the stack.
    data : object, optional
        The rows themselves: `provspark.constant` may have been called with them.

    Returns
    -------
    bool
        False where the text can't be read, or doesn't show the call.
    """
    if data is not None and is_said(data):
        return True
    place = place or script_place()
    source = program().source(place.file) if place is not None else None
    if place is None or source is None:
        return False
    found = MAKERS[maker]
    calls = calls_at(source, place, found.name)
    return bool(calls) and all(_constant(source, call, found) for call in calls)


def calls_at(source: Source, place: Place, name: str) -> list[ast.Call]:
    """Return the calls of a name at a place: one where Python knows columns, all of the line otherwise."""
    calls = source.calls.get(name, [])
    exact = [c for c in calls if (c.end_lineno, c.end_col_offset) == place.end]
    return exact or [c for c in calls if c.lineno <= place.line <= (c.end_lineno or c.lineno)]


def _constant(source: Source, call: ast.Call, maker: Maker) -> bool:
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return all(_shown.shows(source, part) for part in (*call.args, *(k.value for k in call.keywords)))
    values: list[ast.expr] = call.args[: len(maker.values)]
    values += [k.value for k in call.keywords if k.arg in maker.values]
    if maker.name == "sql":
        values += [k.value for k in call.keywords if k.arg not in maker.values]  # put into the text
    return all(_shown.shows(source, value) for value in values)


class MadeRows:
    """Rows that the script made of values which its text does not show, for the plans of one SparkContext.

    Parameters
    ----------
    jvm : Jvm
    """

    def __init__(self, jvm: Jvm) -> None:
        self._java: Any = jvm.new("MadeRows")

    def note(self, jdf: Any, maker: str, place: Place | None) -> None:
        """Note that the local rows of a Java Dataset, or its range, are not constants."""
        self._java.note(jdf.queryExecution().analyzed(), _why(maker, place))

    def note_rdd(self, rdd: Any, maker: str, place: Place | None) -> None:
        """Note that the rows of a JavaRDD are not constants."""
        self._java.noteRdd(rdd.rdd(), _why(maker, place))

    def within(self, plan: Any) -> str:
        """Return what made such rows in a logical plan, or ""."""
        return str(self._java.within(plan))

    def made_of_constants(self, plan: Any) -> bool:
        """Return whether a logical plan has no such rows."""
        return not self.within(plan)


def _why(maker: str, place: Place | None) -> str:
    at = f" at {os.path.basename(place.file)}:{place.line}" if place is not None else ""  # noqa: PTH119 - a text
    return f"{maker}{at} makes rows of values that the script's text does not show"
