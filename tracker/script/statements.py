"""Find PySpark calls and operators in a statement of the script, with their arguments."""

from __future__ import annotations

import ast

from provspark.tracker.script.source import last_name

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
"""Methods of PySpark that call another one, by the name of the called one."""


def header(statement: ast.stmt) -> list[ast.AST]:
    """Return the direct parts of a statement that are not statements themselves."""
    return [child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt)]


def _within(statement: ast.stmt) -> list[ast.AST]:
    return [node for part in header(statement) for node in ast.walk(part)]


def called(statement: ast.stmt, name: str, line: int) -> list[ast.AST]:
    """Return the calls or operators of a name in a statement; only those of the given line if there are any."""
    parts = [part for node in _within(statement) for part in _named(node, name)]
    exact = [n for n in parts if _starts(n) == line]
    return exact or [n for n in parts if getattr(n, "lineno", 0) <= line <= (getattr(n, "end_lineno", 0) or 0)] or parts


def _named(node: ast.AST, name: str) -> list[ast.AST]:
    """Return the node if it is a call or an operator of this name, and the index of a matching subscript."""
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
    """Return the line that Python reports for a call: for a method, the line of its name."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.end_lineno or 0
    return getattr(node, "lineno", 0)


def chained(statement: ast.stmt, line: int) -> list[ast.AST]:
    """Return the arguments of the method at a line of a chain of calls that spans several lines."""
    if statement.end_lineno == statement.lineno:
        return []
    calls = [n for n in _within(statement) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    outer = [n for n in calls if _starts(n) == line]
    return [part for n in outer for part in (*n.args, *n.keywords)]


def calls(parts: list[ast.AST], names: frozenset[str]) -> list[ast.AST]:
    """Return the calls of any of these names."""
    nodes = [node for part in parts for node in ast.walk(part)]
    return [node for node in nodes if isinstance(node, ast.Call) and last_name(node.func) in names]


def given(node: ast.AST) -> list[ast.expr]:
    """Return the arguments of a call or the operands of an operator."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Call):
        values = [a.value if isinstance(a, ast.Starred) else a for a in node.args]
        return values + [k.value for k in node.keywords]
    return []
