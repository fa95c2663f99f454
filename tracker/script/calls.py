"""Match the arguments of calls in the text with the parameters of the program's functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from provspark.tracker.script.source import FUNCTIONS, Function, last_name


def passed_values(call: ast.Call) -> list[ast.AST]:
    """Return all arguments of a call."""
    return [*(a.value if isinstance(a, ast.Starred) else a for a in call.args), *(k.value for k in call.keywords)]


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes in a function, without those of nested functions, lambdas and classes."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            yield child
            yield from own_nodes(child)


def is_enum(node: ast.AST) -> bool:
    """Whether a class is an enumeration."""
    names = {last_name(base) for base in node.bases} if isinstance(node, ast.ClassDef) else set()
    return bool(names & {"Enum", "Flag", "IntEnum", "IntFlag", "StrEnum"})


def as_called(call: ast.Call) -> ast.Call:
    """Return the call of the function that ``frame.transform(function, …)`` or ``partial(function, …)`` makes."""
    function, rest = call.args[0], call.args[1:]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "transform":
        rest = [call.func.value, *rest]
    return ast.Call(func=function, args=rest, keywords=call.keywords)


def _places(function: Function, *, method: bool) -> list[str]:
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    plain = any(last_name(d) == "staticmethod" for d in function.decorator_list)
    return names[1:] if method and not plain and names[:1] in (["self"], ["cls"]) else names


def default(function: Function, name: str) -> ast.expr | None:
    """Return the default of a parameter, or None."""
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    defaults = dict(zip(reversed(names), reversed(function.args.defaults), strict=False))
    for argument, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        if value is not None:
            defaults[argument.arg] = value
    return defaults.get(name)


def argument(function: Function, call: ast.Call, name: str, *, method: bool) -> ast.expr | list[ast.expr] | None:
    """Return the argument that a call passes for a parameter, or its default; None if the text shows neither."""
    spread = [a.value for a in call.args if isinstance(a, ast.Starred)]
    named = next((k.value for k in call.keywords if k.arg == name), None)
    if named is not None:
        return named
    spread += [k.value for k in call.keywords if k.arg is None]
    if spread:
        return [*spread, *(a for a in call.args if not isinstance(a, ast.Starred))]  # it may be any of these
    places = _places(function, method=function.name == "__init__" or (method and isinstance(call.func, ast.Attribute)))
    if function.args.vararg is not None and function.args.vararg.arg == name:
        return call.args[len(places) :]
    if function.args.kwarg is not None and function.args.kwarg.arg == name:
        known = {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
        return [k.value for k in call.keywords if k.arg not in known]
    if name in places and places.index(name) < len(call.args):
        return call.args[places.index(name)]
    return default(function, name)


def listed(value: ast.expr | list[ast.expr]) -> list[ast.expr]:
    """Return the result of `argument` as a list."""
    return value if isinstance(value, list) else [value]


def receives(function: Function, call: ast.Call, passed: ast.AST) -> str | None:
    """Return the name of the parameter that receives an argument, or None."""
    names = _places(function, method=True)
    for i, argument in enumerate(call.args):
        if argument is passed and i < len(names):
            return names[i]
    return next((k.arg for k in call.keywords if k.value is passed), None)
