"""Whether a plan holds values that capture can't see into, and which the script may have taken from what it read.

Such are Python functions, and literals or SQL texts that neither the script's text nor its arguments show. What Spark
and PySpark put into plans themselves does not count: defaults, seeds, positions, names of fields.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from provspark.said import said_values
from provspark.tracker.constants import MadeRows, shown
from provspark.tracker.script import program, script_files
from provspark.tracker.script.leaves import Leaves, key, number
from provspark.tracker.script.source import Source, deep, last_name
from provspark.tracker.script.texts import Texts

if TYPE_CHECKING:
    from provspark.tracker.jvm import Jvm

__all__ = ["Hidden", "hidden"]

_OPERATORS: dict[str, tuple[type[ast.AST], ...]] = {
    "eq": (ast.Eq,),
    "ne": (ast.NotEq,),
    "gt": (ast.Gt, ast.Lt),
    "lt": (ast.Lt, ast.Gt),
    "ge": (ast.GtE, ast.LtE),
    "le": (ast.LtE, ast.GtE),
    "add": (ast.Add,),
    "sub": (ast.Sub,),
    "mul": (ast.Mult,),
    "truediv": (ast.Div,),
    "mod": (ast.Mod,),
    "pow": (ast.Pow,),
    "and": (ast.BitAnd,),
    "or": (ast.BitOr,),
    "getitem": (ast.Subscript,),
}
_ALIASES = {"ge": "between", "le": "between", "eq": "eqNullSafe", "getitem": "getItem", "fillna": "fill"}
"""Methods that call others."""
_NUMBERED = {"GlobalLimit": "limit", "LocalLimit": "limit", "Offset": "offset", "Tail": "tail"}
"""Nodes whose literals are numbers of rows, by the method that makes them."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """Why a plan may hold values that the script read; false if it holds none.

    Attributes
    ----------
    reason : str
        One sentence, with the script's line where it is known and without the values; "" if there is none.
    """

    reason: str = ""

    def __bool__(self) -> bool:
        return bool(self.reason)


@dataclass(frozen=True, slots=True)
class _Group:
    """Literals that were written at one place.

    `fragment` is PySpark's name for the call, `call` its line or a place in Spark, `text` the SQL text they are in,
    `site` the line that made the plan's node, `node`.
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
        A logical plan, analysed and neither optimised nor rewritten.
    made : MadeRows, optional
        What is known of rows that the script handed over: those that are not constants are hidden, too. Without it, an
        RDD that holds rows handed over counts as computed by Python.
    numbers : frozenset of str
        Lines that count as constants, too: see `rows_are_constant`.

    Returns
    -------
    Hidden
    """
    with deep(), shown().counting(numbers) if numbers else nullcontext():
        _texts.again(numbers)
        return _hidden(jvm, plan, made)


def _hidden(jvm: Jvm, plan: Any, made: MadeRows | None) -> Hidden:
    for file in script_files():
        program().source(file)
    found = json.loads(jvm.new("Hidden", made.java if made is not None else None).of(plan))
    if found["made"]:
        return Hidden(found["made"])
    for name, site in found["functions"]:
        return Hidden(f"The query calls the Python function {name}{_at(site)}, which may use any value of the script.")
    for node, fragment, call, text, site, values in found["literals"]:
        group = _Group(node, fragment, call, text, site, tuple((kind, shown) for kind, shown in values))
        reason = _reason(group)
        if reason:
            return Hidden(reason)
    return Hidden()


_leaves = Leaves(shown())
_texts = Texts(shown())


def _at(site: str) -> str:
    return f" at {os.path.basename(site)}" if site else ""  # noqa: PTH119 - a text


def _reason(group: _Group) -> str:
    for place in (group.site, group.call):
        if _line(place)[1]:
            program().source(_line(place)[0])
    if group.fragment == "view" and ("." in group.call or _texts.shows_view(group.text)):
        return ""
    if group.text and group.fragment != "parameter":
        if _texts.shows(group.text):
            return ""
        return f"The query contains SQL text{_at(group.site)} that the script's text does not show."
    keys = {f"{kind} {text}" if kind != "number" else number(text) for kind, text in group.values}
    if _shows(group, keys) or keys <= _given():
        return ""
    name = _NUMBERED.get(group.node, group.fragment.strip("_")) or "the query"
    line = group.call if _line(group.call)[1] else group.site
    return f"A value in {name}{_at(line)} is neither in the script's text nor among its arguments."


def _shows(group: _Group, keys: set[str]) -> bool:
    """Whether the script's text shows all values of a group."""
    file, line = _line(group.call)
    lineless = not line
    file, line = (file, line) if line else _line(group.site)
    source = program().source(file) if line else None
    statement = source.statement(line) if source is not None else None
    if source is None or statement is None:
        return _anywhere(group, keys)
    wanted = _wanted(group)
    nodes = _called(statement, wanted, line)
    counts = group.node in _NUMBERED
    parts = nodes or _chained(statement, line) or _header(statement)
    left = keys - _defaults(wanted)
    for part in parts:
        left -= _leaves.of(source, part, counts=counts)
    for part in (_chained(statement, line) or _header(statement)) if left and lineless else ():
        left -= _beyond(source, part, wanted)
    return not left or (bool(nodes) and all(_plain(source, node) for node in nodes))


def _beyond(source: Source, part: ast.AST, wanted: str) -> set[str]:
    """Return keys of what a part of a statement takes from elsewhere: names, functions of the script, defaults.

    Functions of PySpark call `lit`, so any value of the statement may be one's.
    """
    found = set(_leaves.of(source, part)) if wanted in ("", "lit") else set()
    for node in ast.walk(part):
        if isinstance(node, ast.Name) or (isinstance(node, ast.Call) and shown().functions(source, node.func)):
            found |= _leaves.of(source, node)
        if isinstance(node, ast.Call) and wanted in ("", "lit"):
            found |= _defaults(last_name(node.func))
    return found


def _wanted(group: _Group) -> str:
    if group.fragment == "parameter":
        return "sql"
    if ".DataFrameNaFunctions." in group.call:
        return "fillna"
    return _NUMBERED.get(group.node, group.fragment)


def _line(place: str) -> tuple[str, int]:
    file, _, line = place.split("\n")[0].rpartition(":")
    return (file, int(line)) if line.isdigit() else ("", 0)


def _header(statement: ast.stmt) -> list[ast.AST]:
    """Return the parts of a statement that are not statements themselves."""
    return [child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt)]


def _within(statement: ast.stmt) -> list[ast.AST]:
    return [node for part in _header(statement) for node in ast.walk(part)]


def _called(statement: ast.stmt, name: str, line: int) -> list[ast.AST]:
    """Return the calls or operators of a name in a statement: those of a line if there are some."""
    found = [part for node in _within(statement) for part in _named(node, name)]
    exact = [n for n in found if _starts(n) == line]
    return exact or [n for n in found if getattr(n, "lineno", 0) <= line <= (getattr(n, "end_lineno", 0) or 0)] or found


def _named(node: ast.AST, name: str) -> list[ast.AST]:
    """Return the node if it is a call or an operator of this name; of a subscript, the index."""
    bare = name.strip("_")
    bare = bare[1:] if bare[:1] == "r" and bare[1:] in _OPERATORS else bare
    kinds = _OPERATORS.get(bare, ())
    if isinstance(node, ast.Call):
        return [node] if last_name(node.func) in (name, _ALIASES.get(bare)) else []
    if isinstance(node, ast.Subscript):
        return [node.slice] if ast.Subscript in kinds else []
    operators = [node.op] if isinstance(node, ast.BinOp) else node.ops if isinstance(node, ast.Compare) else []
    return [node] if any(isinstance(op, kinds) for op in operators) else []


def _starts(node: ast.AST) -> int:
    """Return the line that Python gives to a call: of a method, its name's."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.end_lineno or 0
    return getattr(node, "lineno", 0)


def _chained(statement: ast.stmt, line: int) -> list[ast.AST]:
    """Return what is given to the method of a chain that stands at a line, if the chain takes several lines."""
    if statement.end_lineno == statement.lineno:
        return []
    calls = [n for n in _within(statement) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    outer = [n for n in calls if _starts(n) == line]
    return [part for n in outer for part in (*n.args, *n.keywords)]


def _plain(source: Source, node: ast.AST) -> bool:
    """Whether all values that a call or operator is given are shown, though some can't be worked out."""
    shows = shown().shows
    if isinstance(node, ast.BinOp):
        return shows(source, node.left) or shows(source, node.right)
    if isinstance(node, ast.Compare):
        return shows(source, node.left) or all(shows(source, part) for part in node.comparators)
    if not isinstance(node, ast.Call):
        return False
    values = [a.value if isinstance(a, ast.Starred) else a for a in node.args] + [k.value for k in node.keywords]
    return all(_column(source, value) or shows(source, value) for value in values)


def _column(source: Source, node: ast.AST) -> bool:
    """Whether an expression is a column by its text."""
    if isinstance(node, ast.Call):
        return last_name(node.func) in ("col", "column") or (
            shown().dotted(source, node.func).startswith("pyspark.sql.functions.")
            and last_name(node.func) not in ("lit", "expr")
            and all(_column(source, a) or shown().shows(source, a) for a in node.args)
        )
    return False


def _anywhere(group: _Group, keys: set[str]) -> bool:
    """Whether calls of the same name show all values, where the line is not known."""
    wanted = _wanted(group)
    left = keys - _defaults(wanted)
    for source in program().sources():
        for name, calls in source.calls.items():
            if name == wanted or (not wanted and name in _names()):
                for call in calls:
                    left -= _leaves.of(source, call, counts=group.node in _NUMBERED)
    return not left


@cache
def _names() -> frozenset[str]:
    """Return the names of all that builds queries in PySpark."""
    from pyspark.sql import Column, DataFrame, GroupedData, SparkSession, functions
    from pyspark.sql.window import Window, WindowSpec

    owners = (Column, DataFrame, GroupedData, SparkSession, functions, Window, WindowSpec)
    return frozenset(name for owner in owners for name in dir(owner) if not name.startswith("_")) | {"fill", "replace"}


@cache
def _defaults(name: str) -> frozenset[str]:
    """Return the values that PySpark passes on by itself where a call leaves them out."""
    from pyspark.sql import Column, functions

    found = {""}
    for owner in (functions, Column):
        function = getattr(owner, name, None)
        if callable(function):
            try:
                parameters = inspect.signature(function).parameters.values()
            except (TypeError, ValueError):
                continue
            found |= {key(p.default) for p in parameters if isinstance(p.default, (str, int, float))}
    return frozenset(found)


def _given() -> set[str]:
    """Return keys of what the process was given: its arguments, and values that `provspark.constant` said."""
    found = set(map(key, said_values()))
    for argument in sys.argv[1:]:
        parts = {argument, *argument.split("="), *argument.split(",")}
        parts |= {piece.strip() for part in parts for piece in part.split(",")}
        for part in parts:
            found |= {f"text {part}", number(part)}
    return found
