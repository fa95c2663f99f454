"""Find values in a logical plan that the script may have computed from rows that it read before.

These are Python functions, and literals or SQL texts that come neither from the script's text nor from its arguments.
Values that Spark and PySpark add to plans do not count: defaults, seeds, positions, names of fields.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from provspark.model.said_constants import said_values
from provspark.tracker.families.limit import METHODS
from provspark.tracker.script import program, script_files
from provspark.tracker.script.leaves import Leaves, key, number
from provspark.tracker.script.pure_functions import query_names
from provspark.tracker.script.row_constants import OF_NUMBERS, MadeRows, reading, shown
from provspark.tracker.script.source import ScriptFile, last_name
from provspark.tracker.script.statements import called, calls, chained, given, header
from provspark.tracker.script.texts import Texts

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm

__all__ = ["Hidden", "hidden"]

_PARAMETER = re.compile(r":\w|\?")


@dataclass(frozen=True, slots=True)
class Hidden:
    """Reason why a plan may contain values that the script read; false if it contains none.

    Attributes
    ----------
    reason : str
        One sentence, with the script's line if it is known, and without the values; "" if there are none.
    made : bool
        Whether the values are rows that the script passed to Spark.
    """

    reason: str = ""
    made: bool = False

    def __bool__(self) -> bool:
        return bool(self.reason)


@dataclass(frozen=True, slots=True)
class _HiddenGroup:
    """Literals of a plan that come from the same place.

    `node` is the plan node and `site` the script's line that made it. `fragment` is PySpark's name for the call, `call`
    its line in the script or a place in Spark, and `text` the SQL text that contains the literals.
    """

    node: str
    fragment: str
    call: str
    text: str
    site: str
    values: tuple[tuple[str, str], ...]


def hidden(jvm: Jvm, plan: Any, made: MadeRows | None = None, *, numbers: frozenset[str] = frozenset()) -> Hidden:
    """Look for values in an analysed logical plan that the script may have read before.

    Parameters
    ----------
    jvm : Jvm
    plan : JavaObject
        An analysed logical plan, before optimisation and rewriting.
    made : MadeRows, optional
        The rows that the script passed to Spark: those that are not constants count as hidden values. Without it, an
        RDD of such rows counts as computed by Python.
    numbers : frozenset of str
        Lines whose results count as constants; see `rows_are_constant`.

    Returns
    -------
    Hidden
    """
    report = json.loads(jvm.new("PlanValues", made.java if made is not None else None).of(plan))
    if report["made"] and not (numbers and report["made"].startswith(OF_NUMBERS)):
        return Hidden(report["made"].removeprefix(OF_NUMBERS), made=True)
    for name, site in report["functions"]:
        return Hidden(f"The query calls the Python function {name}{_at(site)}, which may use any value of the script.")
    with reading(numbers):
        _texts.again(numbers)
        for file in script_files():
            program().source(file)
        for *place, values in report["literals"]:
            node, fragment, call, text, site = place
            reason = _reason(
                _HiddenGroup(node, fragment, call, text, site, tuple((kind, shown) for kind, shown in values))
            )
            if reason:
                return Hidden(reason)
    return Hidden()


_leaves = Leaves(shown())
_texts = Texts(shown())


def _filled(text: str) -> bool:
    """Whether constants fill the parameters of a SQL text with ``VALUES``: the plan shows them only within its rows."""
    if not _PARAMETER.search(text):
        return True
    filling = [(source, v) for source, call in program().calls("sql") for v in given(call)[1:]]
    return all(shown().shows(source, value) for source, value in filling)


def _at(site: str) -> str:
    return f" at {os.path.basename(site)}" if site else ""  # noqa: PTH119 - a text


def _reason(group: _HiddenGroup) -> str:
    for place in (group.site, group.call):
        if _line(place)[1]:
            program().source(_line(place)[0])
    if group.fragment == "view" and ("." in group.call or _texts.shows_view(group.text)):
        return ""
    named = group.fragment == "values" and _texts.values_use_names(group.text)
    if (named or group.fragment == "variable") and not _texts.variables_are_constant():
        return f"The query uses a session variable{_at(group.site)}, which may contain a value of a query."
    if group.fragment == "variable":
        return ""
    if group.text and group.fragment != "parameter":
        if _texts.shows(group.text) and (group.fragment != "values" or _filled(group.text)):
            return ""
        return f"The query contains SQL text{_at(group.site)} that the script's text does not show."
    keys = {f"{kind} {text}" if kind != "number" else number(text) for kind, text in group.values}
    if _shows(group, keys) or keys <= _given():
        return ""
    name = METHODS.get(group.node, group.fragment.strip("_")) or "the query"
    line = group.call if _line(group.call)[1] else group.site
    return f"A value in {name}{_at(line)} is neither in the script's text nor among its arguments."


def _shows(group: _HiddenGroup, keys: set[str]) -> bool:
    """Whether all values of a group are constants of the script's text."""
    file, line = _line(group.call)
    lineless = not line
    file, line = (file, line) if line else _line(group.site)
    source = program().source(file) if line else None
    statement = source.statement(line) if source is not None else None
    if source is None or statement is None:
        return _anywhere(group, keys)
    wanted = _wanted(group)
    nodes = called(statement, wanted, line)
    counts = group.node in METHODS
    around = chained(statement, line) or header(statement)
    left = keys - _defaults(wanted)
    # A number of rows can only come from the call's arguments, not from the object that it is called on.
    for part in [v for node in nodes for v in given(node)] if counts and nodes else nodes or around:
        left -= _leaves.of(source, part, counts=counts)
    for part in around if left and lineless and not counts else ():
        left -= _beyond(source, part, wanted)
    if not left:
        return True
    if nodes and all(_plain(source, node) for node in nodes):
        return True
    values = [v for node in nodes or calls(around, query_names()) for v in given(node)]
    shows = shown().shows
    if not all(shows(source, v) or _condition(source, v) for v in values):
        return False
    return len(left) <= sum(_leaves.unknown(source, v) for v in values)


def _beyond(source: ScriptFile, part: ast.AST, wanted: str) -> set[str]:
    """Return the keys of values that a part of a statement takes from names, the script's functions and defaults.

    PySpark's functions call `lit`, so a literal of `lit` may be any value of the statement.
    """
    keys = set(_leaves.of(source, part)) if wanted in ("", "lit") else set()
    for node in ast.walk(part):
        if isinstance(node, ast.Name) or (isinstance(node, ast.Call) and shown().names.functions(source, node.func)):
            keys |= _leaves.of(source, node)
        if isinstance(node, ast.Call) and wanted in ("", "lit"):
            keys |= _defaults(last_name(node.func))
    return keys


def _wanted(group: _HiddenGroup) -> str:
    if group.fragment == "parameter":
        return "sql"
    if ".DataFrameNaFunctions." in group.call:
        return "fillna"
    return METHODS.get(group.node, group.fragment)


def _line(place: str) -> tuple[str, int]:
    file, _, line = place.split("\n")[0].rpartition(":")
    return (file, int(line)) if line.isdigit() else ("", 0)


def _plain(source: ScriptFile, node: ast.AST) -> bool:
    """Whether all arguments of a call are columns or constants, or one operand of an operator is a constant."""
    if isinstance(node, (ast.BinOp, ast.Compare)):
        return any(_certain(source, side) for side in given(node))
    return isinstance(node, ast.Call) and all(_column(source, v) or _certain(source, v) for v in given(node))


def _certain(source: ScriptFile, node: ast.AST) -> bool:
    """Whether a value is a constant and uses no parameter of a lambda, which may be a column or any other value."""
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    return shown().shows(source, node) and not any(shown().names.is_passed_to_lambda(source, name) for name in names)


def _column(source: ScriptFile, node: ast.AST) -> bool:
    """Whether an expression is certainly a column, such as a call of ``col`` or of a SQL function."""
    if isinstance(node, ast.Call):
        return last_name(node.func) in ("col", "column") or (
            shown().names.dotted(source, node.func).startswith("pyspark.sql.functions.")
            and last_name(node.func) not in ("lit", "expr")
            and all(_column(source, a) or shown().shows(source, a) for a in node.args)
        )
    return False


def _condition(source: ScriptFile, node: ast.AST) -> bool:
    """Whether an expression probably makes a column, not a value."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.BitAnd, ast.BitOr))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _column_methods():
        return True
    return isinstance(node, (ast.Compare, ast.UnaryOp)) or _column(source, node)


@cache
def _column_methods() -> frozenset[str]:
    from pyspark.sql import Column

    return frozenset(name for name in dir(Column) if not name.startswith("_"))


def _anywhere(group: _HiddenGroup, keys: set[str]) -> bool:
    """Whether all values appear in calls of the same name anywhere; used if the line is unknown."""
    wanted = _wanted(group)
    left = keys - _defaults(wanted)
    for source in program().sources():
        for name, named in source.calls.items():
            if name == wanted or (not wanted and name in query_names()):
                for call in named:
                    left -= _leaves.of(source, call, counts=group.node in METHODS)
    return not left


@cache
def _defaults(name: str) -> frozenset[str]:
    """Return the keys of the default arguments of PySpark's function or method of this name."""
    from pyspark.sql import Column, functions

    keys = {""}
    for owner in (functions, Column):
        function = getattr(owner, name, None)
        if callable(function):
            try:
                parameters = inspect.signature(function).parameters.values()
            except (TypeError, ValueError):
                continue
            keys |= {key(p.default) for p in parameters if isinstance(p.default, (str, int, float))}
    return frozenset(keys)


def _given() -> set[str]:
    """Return the keys of the process's arguments and of values marked with `provspark.constant`."""
    keys = set(map(key, said_values()))
    for argument in sys.argv[1:]:
        parts = {argument, *argument.split("="), *argument.split(",")}
        parts |= {piece.strip() for part in parts for piece in part.split(",")}
        for part in parts:
            keys |= {f"text {part}", number(part)}
    return keys
