"""Collect the literals that may become part of an expression's value, such as a Spark condition."""

from __future__ import annotations

import ast
import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from provspark.tracker.script.calls import own_nodes
from provspark.tracker.script.pure_functions import reads
from provspark.tracker.script.shown_values import Shown
from provspark.tracker.script.source import FUNCTIONS, ScriptFile, last_name
from provspark.tracker.script.statements import given
from provspark.tracker.script.values import ScriptValues, UnknownValueError, scalars

_COUNTS = frozenset(("limit", "offset", "sample", "repartition", "coalesce", "print", "range", "show"))
"""Calls whose numbers are counts or positions, not values of rows."""
_DEEPEST = 400


class Leaves:
    """Collector of literals in the text, which follows names and functions of the program.

    Parameters
    ----------
    shown : Shown
    """

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._values = ScriptValues(shown)
        self._known: dict[ast.AST, frozenset[str]] = {}
        self._changes = -1

    def of(self, source: ScriptFile, node: ast.AST, *, counts: bool = False) -> frozenset[str]:
        """Return the keys (see `key`) of all literals in an expression or statement.

        Parameters
        ----------
        source : ScriptFile
        node : ast.AST
        counts : bool
            Whether to include the numbers passed to `limit` and similar calls.
        """
        if self._changes != self._shown.program.changes:
            self._known.clear()
            self._changes = self._shown.program.changes
        if counts:
            return self._gathered(source, node, counts=True)
        if node not in self._known:
            self._known[node] = self._gathered(source, node, counts=False)
        return self._known[node]

    def unknown(self, source: ScriptFile, node: ast.AST) -> bool:
        """Whether an expression is a constant whose value the text does not determine, such as the current date."""
        if not self._shown.shows(source, node):
            return False
        try:
            self._values.of(source, node)
        except UnknownValueError:
            return True
        return False

    def _gathered(self, source: ScriptFile, node: ast.AST, *, counts: bool) -> frozenset[str]:
        keys: set[str] = set()
        self._gather(source, node, keys, set(), 0, counts)
        return frozenset(keys)

    def _gather(
        self, source: ScriptFile, node: ast.AST, keys: set[str], seen: set[object], depth: int, counts: bool
    ) -> None:
        if depth > _DEEPEST or node in seen:
            return
        seen.add(node)

        def go(part: ast.AST, at: ScriptFile = source) -> None:
            self._gather(at, part, keys, seen, depth + 1, counts)

        if isinstance(node, ast.expr) and self._evaluated(source, node, keys):
            return
        if self._chosen(source, node):
            return  # constants, but data decides which one
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            for at, part in self._behind(source, node):
                go(part, at)
            return
        if isinstance(node, ast.Attribute) and last_name(node.value) in ("self", "cls"):
            for at, binding in self._shown.program.stored(node.attr):
                if binding.kind in ("value", "item"):
                    go(binding.node, at)
            return
        if isinstance(node, ast.Subscript) and not self._shown.shows(source, node.value):
            go(node.value)  # an index selects a value, but is not part of it
            return
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and reads(node.func.attr):
                for argument in node.args if counts else ():
                    go(argument)
                return
            for at, function in self._shown.names.functions(source, node.func):
                returns = [n for n in own_nodes(function) if isinstance(n, ast.Return)]
                for part in returns:
                    if part.value is not None and (len(returns) == 1 or self._shown.decides(at, part)):
                        go(part.value, at)
            if not counts and last_name(node.func) in _COUNTS:
                go(node.func)
                for argument in node.args:
                    if not isinstance(argument, ast.Constant):
                        go(argument)
                return
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            return
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.stmt):
                go(child)

    def _evaluated(self, source: ScriptFile, node: ast.expr, keys: set[str]) -> bool:
        if isinstance(node, ast.Constant):
            keys.add(key(node.value))
            return True
        if isinstance(node, (ast.Attribute, ast.Name)) and not isinstance(node.ctx, ast.Load):
            return False
        if not self._shown.shows(source, node):
            return False
        try:
            keys.update(map(key, scalars(self._values.of(source, node))))
        except UnknownValueError:
            return False
        return True

    def _chosen(self, source: ScriptFile, node: ast.AST) -> bool:
        """Whether an expression selects among constants by a value that is not constant."""
        shows = self._shown.shows
        if isinstance(node, ast.IfExp):
            return not shows(source, node.test)
        if isinstance(node, ast.Subscript):
            return shows(source, node.value) and not shows(source, node.slice)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return any(not shows(source, test) for part in node.generators for test in part.ifs)
        if isinstance(node, ast.Name):
            return isinstance(node.ctx, ast.Load) and self._shown.is_changed(source, node)
        return False

    @staticmethod
    def _beside(source: ScriptFile, function: ast.AST) -> list[tuple[ScriptFile, ast.AST]]:
        """Return the other arguments of a call that a lambda is passed to: it may be called with them."""
        call = source.up.get(function)
        call = source.up.get(call) if isinstance(call, ast.keyword) else call
        return [(source, value) for value in given(call) if value is not function] if isinstance(call, ast.Call) else []

    def _behind(self, source: ScriptFile, name: ast.Name) -> list[tuple[ScriptFile, ast.AST]]:
        """Return the expressions that a name may be bound to."""
        owner = source.owner(name)
        nodes: list[tuple[ScriptFile, ast.AST]] = []
        bindings = owner.bindings[name.id] if owner is not None else []
        for binding in bindings:
            if len(bindings) > 1 and owner is not None and not self._shown.decides(owner.source, binding.at):
                continue  # data decides which binding applies
            if binding.kind in ("value", "item"):
                nodes.append((source, binding.node))
            elif binding.kind == "parameter" and isinstance(binding.at, FUNCTIONS):
                nodes += self._shown.names.passed(source, binding.at, name.id)
            elif binding.kind == "any":
                nodes += self._beside(owner.source if owner is not None else source, binding.at)
            elif binding.kind == "import" and binding.attribute:
                module = self._shown.program.module(binding.module, source)
                for there in module.module.bindings.get(binding.attribute, ()) if module is not None else ():
                    if module is not None and there.kind == "value":
                        nodes.append((module, there.node))
        return nodes


def key(value: Any) -> str:
    """Return a key that is the same for equal literals in Python's text and in Spark's plan. It ignores signs.

    >>> key(3) == key(-3.0) == key(Decimal("3.00"))
    True
    >>> key("3") == key(3)
    False
    """
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, (int, float, Decimal)):
        return number(str(value))
    if isinstance(value, datetime.datetime):
        seconds = int(value.replace(microsecond=0).timestamp())
        return f"micros {seconds * 1_000_000 + value.microsecond}"
    if isinstance(value, datetime.timedelta):
        return f"micros {round(value / datetime.timedelta(microseconds=1))}"
    if isinstance(value, bytes):
        return f"binary 0x{value.hex().upper()}"
    return f"text {value}"


def number(text: str) -> str:
    """Return the key of a number given as text."""
    try:
        return f"number {abs(Decimal(text)).normalize()}"
    except InvalidOperation:
        return f"number {text}"
