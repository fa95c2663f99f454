"""Evaluate constant expressions of the script, as far as literals and a few pure functions allow."""

from __future__ import annotations

import ast
import datetime
import decimal
import operator
from collections.abc import Callable, Iterator
from typing import Any

from provspark.tracker.script.shown_values import Shown
from provspark.tracker.script.source import FUNCTIONS, Function, Scope, ScriptFile, arguments

_KnownValues = dict[tuple[Scope, str], Any]
"""Values of names in a comprehension or a function."""

_MOST = 100_000
_MOST_ITEMS = 10_000
_TYPES: dict[str, Callable[..., Any]] = {
    "datetime.date": datetime.date,
    "datetime.datetime": datetime.datetime,
    "datetime.timedelta": datetime.timedelta,
    "datetime.date.fromisoformat": datetime.date.fromisoformat,
    "datetime.datetime.fromisoformat": datetime.datetime.fromisoformat,
    "decimal.Decimal": decimal.Decimal,
}
_BUILTINS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (abs, dict, enumerate, float, frozenset, int, len, list, max, min, round, set, sorted, str)
} | {f.__name__: f for f in (sum, tuple, zip)}
_METHODS = frozenset(
    (
        *("capitalize", "format", "isoformat", "items", "join", "keys", "lower", "lstrip", "removeprefix"),
        *("removesuffix", "replace", "rstrip", "split", "splitlines", "strftime", "strip", "title", "upper", "values"),
    )
)
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_CONVERSIONS: dict[int, Callable[[Any], str]] = {-1: lambda v: v, 114: repr, 115: str, 97: ascii}


class UnknownValueError(ValueError):
    """The script's text alone does not determine the value."""


class ScriptValues:
    """Evaluates expressions of a program that `Shown` has found to be constants.

    Parameters
    ----------
    shown : Shown
    """

    def __init__(self, shown: Shown) -> None:
        self._shown = shown

    def of(self, source: ScriptFile, node: ast.AST) -> Any:
        """Return the value of a constant expression.

        Raises
        ------
        UnknownValueError
            The text does not determine the value, or evaluating it failed.
        """
        try:
            return self._of(source, node, 0, {})
        except UnknownValueError:
            raise
        except Exception as e:  # the script's expression itself fails
            raise UnknownValueError(type(e).__name__) from e

    def _of(self, source: ScriptFile, node: ast.AST, depth: int, known: _KnownValues) -> Any:
        if depth > 50:
            raise UnknownValueError("too deep")

        def go(part: ast.AST) -> Any:
            return self._of(source, part, depth + 1, known)

        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return [go(part) for part in node.elts]
        if isinstance(node, ast.Dict):
            return {go(k): go(v) for k, v in zip(node.keys, node.values, strict=True) if k is not None}
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -go(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return self._operated(go(node.left), node.op, go(node.right), node)
        if isinstance(node, ast.JoinedStr):
            return "".join(str(go(part)) for part in node.values)
        if isinstance(node, ast.FormattedValue):
            value = _CONVERSIONS[node.conversion](go(node.value))
            return format(value, go(node.format_spec) if node.format_spec is not None else "")
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            return go(node.value)[go(node.slice)]
        if isinstance(node, ast.Name):
            return self._name(source, node, depth, known)
        if isinstance(node, ast.Call):
            return self._call(source, node, go, depth)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            return [self._of(source, node.elt, depth + 1, each) for each in self._items(source, node, depth, known)]
        if isinstance(node, ast.DictComp):
            each_of = self._items(source, node, depth, known)
            pairs = ((self._of(source, part, depth + 1, e) for part in (node.key, node.value)) for e in each_of)
            return dict(tuple(pair) for pair in pairs)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
            return _COMPARISONS[type(node.ops[0])](go(node.left), go(node.comparators[0]))
        raise UnknownValueError(type(node).__name__)

    @staticmethod
    def _operated(left: Any, op: ast.operator, right: Any, node: ast.BinOp) -> Any:
        if isinstance(left, list) and isinstance(node.left, ast.Tuple):
            left = tuple(left)
        if isinstance(right, list) and isinstance(node.right, ast.Tuple):
            right = tuple(right)
        if isinstance(op, ast.Mult):
            sizes = [len(v) if hasattr(v, "__len__") else 1 for v in (left, right)]
            counts = [v for v in (left, right) if isinstance(v, int)]
            if max(sizes) > 1 and max(counts, default=0) * max(sizes) > _MOST:
                raise UnknownValueError("too long")
        return _OPERATORS[type(op)](left, right)

    def _items(self, source: ScriptFile, node: ast.AST, depth: int, known: _KnownValues) -> Iterator[_KnownValues]:
        """Yield the values of a comprehension's names, item by item."""
        scope = source.scope_of[node]

        def within(generators: list[ast.comprehension], names: _KnownValues) -> Iterator[_KnownValues]:
            if not generators:
                yield names
                return
            first, *rest = generators
            items = list(self._of(source, first.iter, depth + 1, names))
            if len(items) > _MOST_ITEMS:
                raise UnknownValueError("too long")
            for item in items:
                each = {**names, **_bound_to(scope, first.target, item)}
                if all(self._of(source, test, depth + 1, each) for test in first.ifs):
                    yield from within(rest, each)

        return within(node.generators, known)  # type: ignore[attr-defined]

    def _name(self, source: ScriptFile, node: ast.Name, depth: int, known: _KnownValues) -> Any:
        owner = source.owner(node)
        if owner is not None and (owner, node.id) in known:
            return known[owner, node.id]
        bindings = owner.bindings[node.id] if owner is not None else []
        if owner is None or len(bindings) != 1 or not self._shown.binds(owner, node.id):
            raise UnknownValueError("name")
        if bindings[0].kind == "import" and bindings[0].attribute:
            module = self._shown.program.module(bindings[0].module, source)
            there = module.module.bindings.get(bindings[0].attribute, []) if module is not None else []
            if module is None or len(there) != 1 or there[0].kind != "value":
                raise UnknownValueError("import")
            return self._of(module, there[0].node, depth + 1, {})
        if bindings[0].kind == "parameter" and isinstance(bindings[0].at, FUNCTIONS):
            return self._parameter(owner.source, bindings[0].at, node.id, depth)
        if bindings[0].kind != "value":
            raise UnknownValueError(bindings[0].kind)
        return self._of(owner.source, bindings[0].node, depth + 1, {})

    def _parameter(self, source: ScriptFile, function: Function, name: str, depth: int) -> Any:
        """Return the only value passed for a parameter; if all calls pass lists, the items of all lists."""
        passed = [self._of(at, part, depth + 1, {}) for at, part in self._shown.names.passed(source, function, name)]
        if passed and all(isinstance(value, list) for value in passed):
            return [item for value in passed for item in value]
        if len(passed) != 1:
            raise UnknownValueError("parameter")
        return passed[0]

    def _called(self, source: ScriptFile, node: ast.Call, go: Callable[[ast.AST], Any], depth: int) -> Any:
        """Return the result of a lambda of the program, or of a function that consists of a ``return``."""
        scope = source.scope_of.get(node.func)
        owner = scope.owner(node.func.id) if isinstance(node.func, ast.Name) and isinstance(scope, Scope) else None
        bindings = owner.bindings[node.func.id] if owner is not None and isinstance(node.func, ast.Name) else []
        function = bindings[0].node if len(bindings) == 1 else None
        if owner is None or not isinstance(function, (ast.Lambda, *FUNCTIONS)):
            raise UnknownValueError("call")
        body = function.body if isinstance(function, ast.Lambda) else _returned(function)
        names = [argument.arg for argument in arguments(function.args)]
        inside = owner.source.scope_of.get(function)
        if body is None or not isinstance(inside, Scope) or len(names) != len(node.args) or node.keywords:
            raise UnknownValueError("call")
        known = {(inside, name): go(value) for name, value in zip(names, node.args, strict=True)}
        return self._of(owner.source, body, depth + 1, known)

    def _call(self, source: ScriptFile, node: ast.Call, go: Callable[[ast.AST], Any], depth: int) -> Any:
        name = self._shown.names.dotted(source, node.func)
        function = _TYPES.get(name)
        scope = source.scope_of.get(node.func)
        if function is None and isinstance(node.func, ast.Name) and isinstance(scope, Scope):
            function = _BUILTINS.get(node.func.id) if scope.owner(node.func.id) is None else None
            if node.func.id == "range" and scope.owner("range") is None:
                function = _ranged
        if function is None and name == "textwrap.dedent":
            return go(node.args[0])
        if function is None and isinstance(node.func, ast.Attribute) and not name and node.func.attr in _METHODS:
            function = getattr(go(node.func.value), node.func.attr)
        if any(isinstance(a, ast.Starred) for a in node.args):
            raise UnknownValueError("call")
        if function is None:
            return self._called(source, node, go, depth)
        result = function(*map(go, node.args), **{str(k.arg): go(k.value) for k in node.keywords})
        return list(result) if isinstance(result, (enumerate, zip, type({}.keys()), type({}.values()))) else result


def _bound_to(scope: Scope, target: ast.AST, item: Any) -> _KnownValues:
    """Return the values of the names in a loop's target."""
    if isinstance(target, ast.Name):
        return {(scope, target.id): item}
    if isinstance(target, (ast.Tuple, ast.List)):
        pairs = zip(target.elts, item, strict=True)
        return {name: value for part, each in pairs for name, value in _bound_to(scope, part, each).items()}
    raise UnknownValueError("target")


def _returned(function: Function) -> ast.expr | None:
    """Return the expression that a function returns if its body contains nothing else but a docstring."""
    last = function.body[-1]
    documented = [s for s in function.body[:-1] if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return last.value if isinstance(last, ast.Return) and not documented else None


def _ranged(*bounds: int) -> list[int]:
    numbers = range(*bounds)
    if len(numbers) > _MOST:
        raise UnknownValueError("too long")
    return list(numbers)


def scalars(value: Any) -> list[Any]:
    """Return all scalar values nested in a value.

    >>> scalars({"a": [1, (2, None)]})
    ['a', 1, 2, None]
    """
    if isinstance(value, dict):
        return [one for pair in value.items() for part in pair for one in scalars(part)]
    if isinstance(value, (list, tuple, set, frozenset)) or type(value) in (type({}.items()),):
        return [one for part in value for one in scalars(part)]
    return [value]
