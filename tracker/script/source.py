"""One file of the script as a syntax tree, with its scopes and their bindings."""

from __future__ import annotations

import ast
import linecache
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Union

Bound = Literal["value", "item", "parameter", "any", "import", "function", "class", "unknown"]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DEEPEST = 5_000
Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]  # noqa: UP007 - also at run time on 3.10


@dataclass(frozen=True, slots=True)
class Binding:
    """What a name is bound to: an expression, an item of one, a parameter, an import …"""

    kind: Bound
    node: ast.AST
    """The expression, or the function, class or parameter itself."""
    at: ast.AST
    """The statement that binds the name."""
    module: str = ""
    attribute: str = ""


@dataclass(eq=False, slots=True)
class Scope:
    """A module, class, function, lambda or comprehension."""

    node: ast.AST
    above: Scope | None
    source: ScriptFile
    bindings: dict[str, list[Binding]] = field(default_factory=lambda: defaultdict(list))
    outer: dict[str, bool] = field(default_factory=dict)
    """Names declared ``global`` (True) or ``nonlocal`` (False)."""

    def owner(self, name: str) -> Scope | None:
        """Return the scope that binds a name used in this scope, or None."""
        if self.outer.get(name):
            return self.source.module
        scope: Scope | None = self if name not in self.outer else self.above
        while scope is not None:
            if scope.bindings.get(name) and (scope is self or not isinstance(scope.node, ast.ClassDef)):
                return scope
            scope = scope.above
        return None


_SETS = frozenset(("__setattr__", "object", "patch", "setattr", "setitem"))
"""Functions that set the attribute named by an argument."""


class ScriptFile:
    """A parsed file.

    Parameters
    ----------
    file : str
        File name as in code objects.
    text : str
    """

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.tree = ast.parse(text, file)
        self.rebinds = False
        """Whether it may bind its own names in ways that the text does not show: by ``exec`` or ``globals()``."""
        self.rebinds_others = False
        """Whether it may bind names of other modules and classes in such ways."""
        self.stored_items: list[ast.Subscript] = []
        """Assignments and deletions of items."""
        self.up: dict[ast.AST, ast.AST] = {}
        """The parent of each node."""
        self.scope_of: dict[ast.AST, Scope] = {}
        """The scope around each name and attribute, and the scope of each function, class, lambda or comprehension."""
        self.module = Scope(self.tree, None, self)
        self.uses: dict[tuple[Scope, str], list[ast.Name]] = defaultdict(list)
        """Uses of each name, by the scope that binds it."""
        self.calls: dict[str, list[ast.Call]] = defaultdict(list)
        """Calls by the last part of the called name."""
        self.attributes: dict[str, list[ast.Attribute]] = defaultdict(list)
        """Uses of attributes, by name."""
        self.stored: dict[str, list[Binding]] = defaultdict(list)
        """Values assigned to attributes, by name."""
        self.imports: set[str] = set()
        self.classes: list[Scope] = []
        self._names: list[ast.Name] = []
        self._statements: dict[int, ast.stmt] = {}
        _Reader(self).visit(self.tree)
        for name in self._names:
            owner = self.scope_of[name].owner(name.id)
            if owner is not None:
                self.uses[owner, name.id].append(name)

    @classmethod
    def read(cls, file: str) -> ScriptFile | None:
        """Read a file or a notebook's cell; None if its text is missing or is not Python."""
        text = "".join(linecache.getlines(file))
        try:
            with deep():
                return cls(file, text) if text else None
        except (SyntaxError, ValueError, RecursionError):
            return None

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes around a node, from its parent outwards."""
        while node in self.up:
            node = self.up[node]
            yield node

    def owner(self, name: ast.AST) -> Scope | None:
        """Return the scope that binds a name; None for unbound names and other nodes."""
        scope = self.scope_of.get(name) if isinstance(name, ast.Name) else None
        return scope.owner(name.id) if isinstance(scope, Scope) and isinstance(name, ast.Name) else None

    def bindings(self, name: ast.AST) -> list[Binding]:
        """Return the bindings of a name; none for other nodes."""
        owner = self.owner(name)
        return owner.bindings[name.id] if owner is not None and isinstance(name, ast.Name) else []

    def statement(self, line: int) -> ast.stmt | None:
        """Return the innermost statement that contains this line, or None."""
        if not self._statements:
            for node in ast.walk(self.tree):  # breadth first: a line's last statement is the innermost
                if isinstance(node, ast.stmt):
                    self._statements.update(dict.fromkeys(range(node.lineno, (node.end_lineno or 0) + 1), node))
        return self._statements.get(line)

    def bind(self, scope: Scope, name: str, binding: Binding) -> None:
        """Add a binding of a name in a scope."""
        if name in scope.outer:
            scope = self.module if scope.outer[name] else (scope.above or scope)
        scope.bindings[name].append(binding)

    def used(self, name: ast.Name, scope: Scope) -> None:
        """Record the use of a name in a scope."""
        self.scope_of[name] = scope
        self._names.append(name)


class _Reader(ast.NodeVisitor):
    """Visitor that fills a `ScriptFile`'s tables in one walk."""

    def __init__(self, source: ScriptFile) -> None:
        self._source = source
        self._scope = source.module

    def generic_visit(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            self._source.up[child] = node
            self.visit(child)

    def _within(self, node: ast.AST, children: list[ast.AST]) -> None:
        before = self._scope
        self._scope = Scope(node, before, self._source)
        self._source.scope_of[node] = self._scope
        if isinstance(node, ast.ClassDef):
            self._source.classes.append(self._scope)
        for child in children:
            self._source.up[child] = node
            self.visit(child)
        self._scope = before

    # -- scopes

    def _function(self, node: Function) -> None:
        self._bind(node.name, "function", node, node)
        outside = [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        for child in outside:
            self._source.up[child] = node
            self.visit(child)
        before = self._scope
        self._scope = Scope(node, before, self._source)
        self._source.scope_of[node] = self._scope
        self._declared(node)
        for argument in arguments(node.args):
            self._bind(argument.arg, "parameter", argument, node)
            self._source.up[argument] = node
        for statement in node.body:
            self._source.up[statement] = node
            self.visit(statement)
        self._scope = before

    def _declared(self, node: ast.AST) -> None:
        for child in ast.walk(node):
            if isinstance(child, (ast.Global, ast.Nonlocal)):
                self._scope.outer.update(dict.fromkeys(child.names, isinstance(child, ast.Global)))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        before = self._scope
        self._scope = Scope(node, before, self._source)
        self._source.scope_of[node] = self._scope
        for argument in arguments(node.args):
            self._bind(argument.arg, "any", argument, node)
        self._source.up[node.body] = node
        self.visit(node.body)
        self._scope = before

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bind(node.name, "class", node, node)
        self._within(node, [*node.decorator_list, *node.bases, *node.keywords, *node.body])

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, _COMPREHENSIONS):
            self._within(node, list(ast.iter_child_nodes(node)))
        elif type(node).__name__ in ("MatchAs", "MatchStar", "MatchMapping"):
            self._matched(node)
        else:
            super().visit(node)

    # -- what binds names

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._target(target, node.value, "value", node)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._target(node.target, node.value, "value", node)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._target(node.target, node.value, "value", node)
        self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        scope = self._scope
        while isinstance(self._scope.node, _COMPREHENSIONS) and self._scope.above is not None:
            self._scope = self._scope.above
        self._target(node.target, node.value, "value", node)
        self._scope = scope
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        self._target(node.target, node.iter, "item", node)
        self.generic_visit(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> None:
        self._target(node.target, node.iter, "item", node)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._target(node.target, node.iter, "item", node)
        self.generic_visit(node)

    def visit_withitem(self, node: ast.withitem) -> None:
        if node.optional_vars is not None:
            self._target(node.optional_vars, node.context_expr, "unknown", node)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._bind(node.name, "unknown", node, node)
        self.generic_visit(node)

    def _matched(self, node: ast.AST) -> None:
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        if name:
            self._bind(name, "unknown", node, node)
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            module = alias.name if alias.asname else alias.name.split(".")[0]
            self._import(alias.asname or module, module, "", node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self._import(alias.asname or alias.name, "." * node.level + (node.module or ""), alias.name, node)

    def _import(self, name: str, module: str, attribute: str, node: ast.AST) -> None:
        dot = "." if module.strip(".") and attribute else ""
        self._source.imports |= {module, module + dot + attribute}
        self._source.bind(self._scope, name, Binding("import", node, node, module, attribute))

    def _target(self, target: ast.AST, value: ast.AST, kind: Bound, at: ast.AST) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id, kind, value, at)
        elif isinstance(target, (ast.Tuple, ast.List)):
            pairs = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) and kind == "value"
            for i, part in enumerate(target.elts):
                self._target(part, value.elts[i] if pairs else value, kind if pairs else _item(kind), at)  # type: ignore[attr-defined]
        elif isinstance(target, ast.Starred):
            self._target(target.value, value, _item(kind), at)
        elif isinstance(target, ast.Attribute):
            self._source.stored[target.attr].append(Binding(kind, value, at))

    def _bind(self, name: str, kind: Bound, node: ast.AST, at: ast.AST) -> None:
        self._source.bind(self._scope, name, Binding(kind, node, at))

    # -- what is used

    def visit_Name(self, node: ast.Name) -> None:
        self._source.used(node, self._scope)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._source.scope_of[node] = self._scope
        self._source.attributes[node.attr].append(node)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = last_name(node.func)
        self._source.calls[name].append(node)
        texts = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        if name in _SETS and texts and len(node.args) > 1:
            self._source.stored[texts[0].rpartition(".")[2]].append(Binding("value", node.args[-1], node))
        changes = name in ("update", "setdefault") and isinstance(node.func, ast.Attribute)
        if name == "exec" and len(node.args) == 1:
            self._source.rebinds = True
        if changes:
            self._names_changed(node.func.value)  # type: ignore[attr-defined]
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self._source.stored_items.append(node)
            self._names_changed(node.value)
        self.generic_visit(node)

    def _names_changed(self, names: ast.AST) -> None:
        """Record the change of a dictionary that may contain a module's or class's names."""
        if isinstance(names, ast.Call) and last_name(names.func) in ("globals", "locals", "vars"):
            self._source.rebinds |= not names.args
            self._source.rebinds_others |= bool(names.args)
        elif isinstance(names, ast.Attribute) and names.attr == "__dict__":
            self._source.rebinds_others = True


def _item(kind: Bound) -> Bound:
    return "item" if kind == "value" else kind


@contextmanager
def deep() -> Iterator[None]:
    """Raise the recursion limit: the tree of a chain of methods is as deep as the chain is long."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def arguments(args: ast.arguments) -> list[ast.arg]:
    """Return all parameters of a function, in order."""
    rest = [a for a in (args.vararg, args.kwarg) if a is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *rest]


def last_name(node: ast.AST) -> str:
    """Return the last part of a dotted name, or "".

    >>> last_name(ast.parse("a.b.c", mode="eval").body)
    'c'
    """
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
