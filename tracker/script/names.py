"""Resolve the names in a program: to its functions, classes and modules, or to values of libraries."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from provspark.tracker.script.calls import argument, as_called, default, listed
from provspark.tracker.script.program import Program
from provspark.tracker.script.source import FUNCTIONS, Function, Scope, ScriptFile, last_name

__all__ = ["Names"]

_COMMANDS = frozenset(("argument", "command", "option"))


class Names:
    """Resolver of the names in a program's files.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self.program = program

    def functions(self, source: ScriptFile, func: ast.AST) -> list[tuple[ScriptFile, Function]]:
        """Return the program's functions that an expression may refer to."""
        if isinstance(func, ast.Name):
            owner = source.owner(func)
            return self._defined(owner, func.id) if owner is not None else []
        if isinstance(func, ast.Attribute):
            module = self.module(source, func.value)
            if module is not None:
                return self._defined(module.module, func.attr)
            if self.is_own(source, func.value):
                bindings = self.program.stored(func.attr)
                return [(s, b.node) for s, b in bindings if isinstance(b.node, FUNCTIONS)]
        return []

    def _defined(self, owner: Scope, name: str) -> list[tuple[ScriptFile, Function]]:
        functions = []
        for binding in owner.bindings.get(name, ()):
            if isinstance(binding.node, FUNCTIONS):
                functions.append((owner.source, binding.node))
            elif binding.kind == "import" and binding.attribute:
                module = self.program.module(binding.module, owner.source)
                if module is not None and module is not owner.source:
                    functions += self._defined(module.module, binding.attribute)
        return functions

    def module(self, source: ScriptFile, node: ast.AST) -> ScriptFile | None:
        """Return the program's module that a dotted name refers to, or None."""
        name = self.dotted(source, node)
        return self.program.module(name, source) if name else None

    def dotted(self, source: ScriptFile, node: ast.AST) -> str:
        """Return the full name of an imported expression, in a library or in the program, or ""."""
        if isinstance(node, ast.Attribute):
            above = self.dotted(source, node.value)
            return f"{above}.{node.attr}" if above else ""
        if not isinstance(node, ast.Name):
            return ""
        owner = source.owner(node)
        if owner is None:
            return ""
        bindings = owner.bindings[node.id]
        if len({(b.module, b.attribute) for b in bindings}) != 1 or bindings[0].kind != "import":
            return ""
        return f"{bindings[0].module}.{bindings[0].attribute}" if bindings[0].attribute else bindings[0].module

    def is_class(self, source: ScriptFile, func: ast.AST) -> bool:
        """Whether an expression refers to a class of the program."""
        return self.class_of(source, func) is not None

    @staticmethod
    def is_cls(source: ScriptFile, func: ast.AST) -> bool:
        """Whether an expression is the ``cls`` of a class method."""
        scope = source.scope_of.get(func)
        return isinstance(func, ast.Name) and func.id == "cls" and isinstance(scope, Scope) and bool(scope.owner("cls"))

    def is_own(self, source: ScriptFile, node: ast.AST) -> bool:
        """Whether an expression is ``self``, ``cls`` or a class of the program."""
        return (isinstance(node, ast.Name) and node.id in ("self", "cls")) or self.is_class(source, node)

    def foreign(self, source: ScriptFile, node: ast.AST) -> str:
        """Return the full name of an expression imported from a library, or ""."""
        name = self.dotted(source, node)
        above = name
        while "." in above:
            above = above.rpartition(".")[0]
            if self.program.module(above, source) is not None:
                return ""
        return name

    def class_of(self, source: ScriptFile, node: ast.AST) -> Scope | None:
        """Return the scope of the program's class that a name refers to, or None."""
        scope = source.scope_of.get(node)
        if not isinstance(node, ast.Name) or not isinstance(scope, Scope):
            return None
        owner = scope.owner(node.id)
        for binding in owner.bindings[node.id] if owner is not None else ():
            if isinstance(binding.node, ast.ClassDef):
                inner = source.scope_of.get(binding.node)
                return inner if isinstance(inner, Scope) else None
            module = self.program.module(binding.module, source) if binding.kind == "import" else None
            for there in module.module.bindings.get(binding.attribute, ()) if module is not None else ():
                if isinstance(there.node, ast.ClassDef) and module is not None:
                    return module.scope_of.get(there.node)
        return None

    @staticmethod
    def is_passed_to_lambda(source: ScriptFile, name: ast.Name) -> bool:
        """Whether a name is a parameter of a lambda."""
        owner = source.owner(name)
        return owner is not None and isinstance(owner.node, ast.Lambda)

    def passed(self, source: ScriptFile, function: Function, name: str) -> list[tuple[ScriptFile, ast.AST]]:
        """Return the expressions that calls of a function pass for a parameter, as far as the text shows them."""
        return [part for part in self.passed_for(source, function, name) if part is not None]

    def passed_for(self, source: ScriptFile, function: Function, name: str) -> list[tuple[ScriptFile, ast.AST] | None]:
        """Return the same, with a None for each value that the text does not show."""
        if any(last_name(getattr(d, "func", d)) in _COMMANDS for d in function.decorator_list):
            return []  # click and typer call it with the process's arguments
        scope = source.scope_of.get(source.up.get(function, function))
        method = isinstance(scope, Scope) and isinstance(scope.node, ast.ClassDef)
        called = function.name
        if method and called == "__init__" and isinstance(scope, Scope):
            called = getattr(scope.node, "name", called)
        named = scope.node if called != function.name and isinstance(scope, Scope) else function
        calls = [(at, c) for at, c in self.program.calls(called) if self._means(at, c.func, named)]
        calls += [(at, c) for at, c in self._applied(called) if self._means(at, c.func, named)]
        if named is not function:  # methods of the class may also call it as `cls`
            calls += [(at, c) for at, c in self.program.calls("cls") if named in at.above(c)]
        values: list[tuple[ScriptFile, ast.AST] | None] = [None] if not calls or self.handed_on(called, named) else []
        for at, call in calls:
            value = argument(function, call, name, method=method)
            if value is None:
                values.append(None)
            else:
                values += [(source if value is default(function, name) else at, part) for part in listed(value)]
        return values

    def _means(self, source: ScriptFile, func: ast.AST, named: ast.AST) -> bool:
        """Whether an expression may refer to a function or class of the program; an attribute always may."""
        scope = source.scope_of.get(func)
        if not isinstance(func, ast.Name) or not isinstance(scope, Scope):
            return True
        owner = scope.owner(func.id)
        bindings = owner.bindings[func.id] if owner is not None else []
        return any(b.node is named or b.kind == "import" for b in bindings)

    def _applied(self, name: str) -> Iterator[tuple[ScriptFile, ast.Call]]:
        """Yield the calls that ``transform`` and ``partial`` make of the function passed to them."""
        for method in ("transform", "partial"):
            for source, call in self.program.calls(method):
                if call.args and last_name(call.args[0]) == name:
                    yield source, as_called(call)

    def handed_on(self, name: str, named: ast.AST) -> bool:
        """Whether a function of the program is used other than in a call, so that other code may call it."""
        for source in self.program.sources():
            for (_, used), uses in source.uses.items():
                if used == name and any(not _called(source, u, named) and self._means(source, u, named) for u in uses):
                    return True
        return False


def _called(source: ScriptFile, name: ast.Name, named: ast.AST) -> bool:
    """Whether a use of a function or class is a call, including those by ``transform`` and ``partial``."""
    above = source.up.get(name)
    if isinstance(above, ast.Attribute) and isinstance(named, ast.ClassDef):
        return True
    if not isinstance(above, ast.Call):
        return False
    return above.func is name or (above.args[:1] == [name] and last_name(above.func) in ("transform", "partial"))
