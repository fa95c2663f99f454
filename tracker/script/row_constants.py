"""Decide whether rows that the script passes to Spark are constants of its text.

Other rows may derive from rows that the script read before: a later write of them has possible edges.
"""

from __future__ import annotations

import ast
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from provspark.model.said_constants import is_said
from provspark.tracker.script import CallPlace, program, script_place
from provspark.tracker.script.shown_values import Shown
from provspark.tracker.script.source import ScriptFile, deep

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm

__all__ = [
    *("MAKERS", "MadeRows", "Maker", "not_constant", "rows_are_constant", "script_place", "shown"),
]


@dataclass(frozen=True, slots=True)
class Maker:
    """A PySpark function that makes rows from values passed by the script.

    Attributes
    ----------
    module, owner, name : str
        Where PySpark defines it; `owner` is the class, or "" for a function of the module.
    values : tuple of str
        The parameters that contain values, in order. The others describe the rows: schemas, names, partitions.
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
"""All functions that make rows from values on the driver, by the name to use in `rows_are_constant`."""

OF_NUMBERS = "\2"
"""Prefix of the reason why rows are not constants, if they derive only from constants and single numbers read."""

_reading = threading.RLock()
_shown = Shown(program())


def shown() -> Shown:
    """Return this process's analysis of which values of the script are constants."""
    return _shown


def rows_are_constant(
    maker: str, place: CallPlace | None = None, data: Any = None, *, numbers: frozenset[str] = frozenset()
) -> bool:
    """Return whether the script's text shows that the rows of a call are constants.

    Parameters
    ----------
    maker : str
        A key of `MAKERS`.
    place : CallPlace, optional
        Place of the call in the script. The default is the running call, whose frame must be on the stack.
    data : object, optional
        The rows themselves, which may have been marked with `provspark.constant`.
    numbers : frozenset of str
        Lines (``file:line``, as frames name files) whose reads each returned one number, to count as constants as well.
        Rows that are constant only with them derive from these numbers.

    Returns
    -------
    bool
        False if the text can't be read or does not contain the call.
    """
    if data is not None and is_said(data):
        return True
    place = place or script_place()
    if place is None:
        return False
    with reading(numbers):
        source = program().source(place.file)
        if source is None:
            return False
        calls = _calls(source, place, MAKERS[maker])
        return bool(calls) and all(_constant(source, call, called) for call, called in calls)


@contextmanager
def reading(numbers: frozenset[str]) -> Iterator[None]:
    """Lock the script's text for analysis by one thread, with `numbers` as constants (see `rows_are_constant`)."""
    with _reading, deep(), _shown.counting(numbers):
        yield


def _calls(source: ScriptFile, place: CallPlace, maker: Maker) -> list[tuple[ast.Call, Maker]]:
    """Return the calls of a maker at a place, or else of makers that call it, as pandas on Spark's do."""
    calls = [(call, maker) for call in calls_at(source, place, maker.name)]
    for other in MAKERS.values() if not calls else ():
        for call in calls_at(source, place, other.name):
            if other.module != _PANDAS or _shown.names.dotted(source, call.func) == f"{_PANDAS}.{other.name}":
                calls.append((call, other))
    return calls


def calls_at(source: ScriptFile, place: CallPlace, name: str) -> list[ast.Call]:
    """Return the calls of a name that end at a place; if the place has no end or none matches, all of its line."""
    calls = source.calls.get(name, [])
    exact = [c for c in calls if (c.end_lineno, c.end_col_offset) == place.end]
    return exact or [c for c in calls if c.lineno <= place.line <= (c.end_lineno or c.lineno)]


def _constant(source: ScriptFile, call: ast.Call, maker: Maker) -> bool:
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return all(_shown.shows(source, part) for part in (*call.args, *(k.value for k in call.keywords)))
    values: list[ast.expr] = call.args[: len(maker.values)]
    values += [k.value for k in call.keywords if k.arg in maker.values]
    if maker.name == "sql":
        values += [k.value for k in call.keywords if k.arg not in maker.values]  # inserted into the text
    return all(_shown.shows(source, value) for value in values)


class MadeRows:
    """Registry of the rows that the script made, for the plans of one SparkContext.

    Parameters
    ----------
    jvm : Jvm
    """

    def __init__(self, jvm: Jvm) -> None:
        self.java: Any = jvm.new("ScriptRows")

    def note(self, jdf: Any, why: str) -> None:
        """Register the rows of a Java Dataset returned by a maker: local rows, rows of an RDD, a range.

        Parameters
        ----------
        jdf : JavaObject
        why : str
            Why they are not constants (`not_constant`); "" if they are.
        """
        self.java.note(jdf.queryExecution().analyzed(), why)

    def note_rdd(self, rdd: Any, why: str) -> None:
        """Register the rows of a JavaRDD; see `note`."""
        self.java.noteRdd(rdd.rdd(), why)

    def of_rdd(self, rdd: Any) -> str:
        """Return why the rows from which a JavaRDD was made are not constants, or ""."""
        return str(self.java.above(rdd.rdd()))

    def within(self, plan: Any) -> str:
        """Return the reason for the first rows in a logical plan that are not constants, or ""."""
        return str(self.java.within(plan))


def not_constant(
    maker: str, place: CallPlace | None = None, data: Any = None, *, numbers: frozenset[str] = frozenset()
) -> str:
    """Return "" if the rows are constants without `numbers`, otherwise a reason that names the line, but no values.

    The reason starts with `OF_NUMBERS` if they are constants with `numbers`. For parameters, see `rows_are_constant`.
    """
    place = place or script_place()
    if rows_are_constant(maker, place, data):
        return ""
    if numbers and rows_are_constant(maker, place, data, numbers=numbers):
        return OF_NUMBERS + not_constant(maker, place, data)
    at = f" at {os.path.basename(place.file)}:{place.line}" if place is not None else ""  # noqa: PTH119 - a text
    return f"The script's text does not show the values of the rows that {maker.split('.')[-1]}{at} makes."
