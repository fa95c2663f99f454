"""Decides whether the script's text shows a value: whether it is made of constants alone.

A value is shown if everything that may flow into it is: literals, arguments of the process, the clock, chance. It is
followed through names, functions of the program and what is added to lists; a name that is bound more than once, or a
list that is added to, counts only where nothing but constants decides how often.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from provspark.tracker.script.calls import argument, as_called, default, is_enum, listed, own_nodes, passed_values
from provspark.tracker.script.changes import Changes
from provspark.tracker.script.outside_values import Outside
from provspark.tracker.script.program import Program
from provspark.tracker.script.pure_functions import (
    BUILTINS,
    DESCRIBING,
    SESSIONS,
    SETTINGS,
    pure_call,
    pure_value,
    reads,
)
from provspark.tracker.script.source import FUNCTIONS, Binding, Function, Scope, ScriptFile, last_name

_COMMANDS = frozenset(("argument", "command", "option"))
_DEEPEST = 400


class Shown:
    """What a program shows.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.changes = Changes(self)
        self._outside = Outside(self)
        self._numbers: frozenset[str] = frozenset()
        self._by_numbers: dict[frozenset[str], dict[object, bool]] = {self._numbers: {}}
        self._assumed: set[object] = set()
        self._depth = 0
        self._changes = -1

    @property
    def _known(self) -> dict[object, bool]:
        return self._by_numbers[self._numbers]

    @contextmanager
    def counting(self, numbers: frozenset[str]) -> Iterator[None]:
        """Take calls at these lines (``file:line``) for constants, too: what they read is one number."""
        before, self._numbers = self._numbers, numbers
        self._by_numbers.setdefault(numbers, {})
        try:
            yield
        finally:
            self._numbers = before

    def shows(self, source: ScriptFile, node: ast.AST) -> bool:
        """Whether an expression's value is made of constants alone."""
        return self._decide(node, lambda: self._expression(source, node))

    def binds(self, scope: Scope, name: str) -> bool:
        """Whether all that a name is bound to, as seen from a scope, is shown."""
        return self._decide((scope, name, "used"), lambda: self._bound(scope, name))

    def decides(self, source: ScriptFile, at: ast.AST) -> bool:
        """Whether constants alone decide whether, and how often, a statement runs within its function."""
        return self._decide(("decides", at), lambda: self.changes.decided(source, at))

    def _decide(self, key: object, work_out: Callable[[], bool]) -> bool:
        if self._depth == 0:
            if self._changes != self.program.changes:
                self._changes = self.program.changes
                for known in self._by_numbers.values():
                    known.clear()
            if key in self._known:
                return self._known[key]
        if self._depth > _DEEPEST:
            return False
        self._depth += 1
        try:
            shown = work_out()
        finally:
            self._depth -= 1
            if self._depth == 0:
                assumed, self._assumed = self._assumed, set()
        if self._depth == 0:  # what was assumed holds only if all of it does
            if shown:
                self._known.update(dict.fromkeys(assumed, True))
            self._known[key] = shown
        return shown

    def _all(self, source: ScriptFile, nodes: Iterator[ast.AST] | list[ast.expr]) -> bool:
        return all(self.shows(source, node) for node in nodes)

    def _assume(self, key: object) -> bool | None:
        """Return what is known; True for what is being worked out, for a value may be made of itself."""
        if key in self._assumed:
            return True
        return self._known.get(key)

    def once(self, key: object, work_out: Callable[[], bool]) -> bool:
        """Return what is known of a key, or work it out; True while that is under way."""
        known = self._assume(key)
        if known is not None:
            return known
        self._assumed.add(key)
        return self._found(key, work_out())

    def _found(self, key: object, shown: bool) -> bool:
        if not shown:
            self._known[key] = False
        return shown

    def _expression(self, source: ScriptFile, node: ast.AST) -> bool:
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return self._name(source, node)
        if isinstance(node, ast.Attribute):
            return self._attribute(source, node)
        if isinstance(node, ast.Call):
            return self._call(source, node)
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.stmt)):
            return False
        # Any other expression is made of its parts: displays, operators, subscripts, comprehensions, lambdas.
        return self._all(source, _parts(node))

    # -- names

    @staticmethod
    def is_passed_to_lambda(source: ScriptFile, name: ast.Name) -> bool:
        """Whether a name is a parameter of a lambda."""
        owner = source.owner(name)
        return owner is not None and isinstance(owner.node, ast.Lambda)

    def _name(self, source: ScriptFile, node: ast.Name) -> bool:
        scope = source.scope_of.get(node)
        if not isinstance(scope, Scope):
            return False
        return self._bound(scope, node.id)

    def _bound(self, scope: Scope, name: str) -> bool:
        owner = scope.owner(name)
        if owner is None:
            for binding in scope.source.module.bindings.get("*", ()):
                module = self.program.module(binding.module, scope.source)
                if module is not None and name in module.module.bindings:
                    return self._bound(module.module, name)
            return name in ("__name__", "__file__") or (hasattr(builtins, name) and name in BUILTINS)
        key = (owner, name)
        known = self._assume(key)
        if known is not None:
            return known
        self._assumed.add(key)
        bindings = owner.bindings[name]
        source = owner.source
        shown = all(self._binding(source, owner, b) for b in bindings)
        uses = source.uses.get(key, ())
        if shown and len(bindings) > 1:
            shown = all(self.changes.decided(source, b.at) for b in bindings)
        if shown and any(self.changes.mutable(source, b) for b in bindings):
            shown = all(self.changes.unchanged(source, use) for use in uses)
        if shown:
            shown = all(self.changes.is_last(source, b.at, uses) for b in bindings if b.kind == "item")
        return self._found(key, shown and not self._rebound(owner))

    def is_changed(self, source: ScriptFile, node: ast.Name) -> bool:
        """Whether a name is bound to constants, and data is put into them, or takes some away."""
        owner = source.owner(node)
        if owner is None or self.binds(owner, node.id):
            return False
        values = [b.node for b in owner.bindings[node.id] if b.kind == "value"]
        return len(values) == len(owner.bindings[node.id]) and all(self.shows(owner.source, v) for v in values)

    def _rebound(self, owner: Scope) -> bool:
        """Whether text or a dictionary of names may bind what a scope binds anew."""
        if not isinstance(owner.node, (ast.Module, ast.ClassDef)):
            return False
        return owner.source.rebinds or any(source.rebinds_others for source in self.program.sources())

    def _binding(self, source: ScriptFile, scope: Scope, binding: Binding) -> bool:
        if binding.kind in ("value", "item"):
            return self.shows(source, binding.node)
        if binding.kind == "parameter" and isinstance(binding.node, ast.arg) and isinstance(binding.at, FUNCTIONS):
            return self._parameter(source, binding.at, binding.node.arg)
        if binding.kind == "any":
            return True  # of a lambda: it is called with what stands beside it
        if binding.kind == "import":
            module = self.program.module(binding.module, source) if binding.attribute else None
            if module is None:
                return bool(binding.attribute) and pure_value(f"{binding.module}.{binding.attribute}")
            return binding.attribute in module.module.bindings and self._bound(module.module, binding.attribute)
        if binding.kind == "class" and is_enum(binding.node):
            members = source.scope_of.get(binding.node)
            return isinstance(members, Scope) and all(
                b.kind == "function" or self._binding(source, members, b)
                for some in members.bindings.values()
                for b in some
            )
        if binding.kind == "function" and isinstance(binding.node, FUNCTIONS) and _is_property(binding.node):
            return self._returns(source, binding.node)
        return False

    # -- functions

    def functions(self, source: ScriptFile, func: ast.AST) -> list[tuple[ScriptFile, Function]]:
        """Return the program's functions that an expression may name."""
        if isinstance(func, ast.Name):
            owner = source.owner(func)
            return self._defined(owner, func.id) if owner is not None else []
        if isinstance(func, ast.Attribute):
            module = self._module(source, func.value)
            if module is not None:
                return self._defined(module.module, func.attr)
            if self._of_program(source, func.value):
                found = self.program.stored(func.attr)
                return [(s, b.node) for s, b in found if isinstance(b.node, FUNCTIONS)]
        return []

    def _defined(self, owner: Scope, name: str) -> list[tuple[ScriptFile, Function]]:
        found = []
        for binding in owner.bindings.get(name, ()):
            if isinstance(binding.node, FUNCTIONS):
                found.append((owner.source, binding.node))
            elif binding.kind == "import" and binding.attribute:
                module = self.program.module(binding.module, owner.source)
                if module is not None and module is not owner.source:
                    found += self._defined(module.module, binding.attribute)
        return found

    def _module(self, source: ScriptFile, node: ast.AST) -> ScriptFile | None:
        """Return the module of the program that a dotted name stands for."""
        name = self.dotted(source, node)
        return self.program.module(name, source) if name else None

    def dotted(self, source: ScriptFile, node: ast.AST) -> str:
        """Return the full name that an expression has in a library or module, or ""."""
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

    def _parameter(self, source: ScriptFile, function: Function, name: str) -> bool:
        """Whether each call of a function passes constants; one that is handed on may be called with anything."""
        return all(part is not None and self.shows(*part) for part in self._passed_for(source, function, name))

    def passed(self, source: ScriptFile, function: Function, name: str) -> list[tuple[ScriptFile, ast.AST]]:
        """Return what the calls of a function pass for a parameter, as far as the text shows them."""
        return [part for part in self._passed_for(source, function, name) if part is not None]

    def _passed_for(self, source: ScriptFile, function: Function, name: str) -> list[tuple[ScriptFile, ast.AST] | None]:
        if any(last_name(getattr(d, "func", d)) in _COMMANDS for d in function.decorator_list):
            return []  # of click or typer: it is called with the arguments of the process
        scope = source.scope_of.get(source.up.get(function, function))
        method = isinstance(scope, Scope) and isinstance(scope.node, ast.ClassDef)
        called = function.name
        if method and called == "__init__" and isinstance(scope, Scope):
            called = getattr(scope.node, "name", called)
        named = scope.node if called != function.name and isinstance(scope, Scope) else function
        calls = [(at, c) for at, c in self.program.calls(called) if self._means(at, c.func, named)]
        calls += [(at, c) for at, c in self._applied(called) if self._means(at, c.func, named)]
        if named is not function:  # a class is called by its own name in its methods, too
            calls += [(at, c) for at, c in self.program.calls("cls") if named in at.above(c)]
        found: list[tuple[ScriptFile, ast.AST] | None] = [None] if not calls or self.handed_on(called, named) else []
        for at, call in calls:
            value = argument(function, call, name, method=method)
            if value is None:
                found.append(None)
            else:
                found += [(source if value is default(function, name) else at, part) for part in listed(value)]
        return found

    def _means(self, source: ScriptFile, func: ast.AST, named: ast.AST) -> bool:
        """Whether a name may stand for a function or a class of the program; an attribute of its name may always."""
        scope = source.scope_of.get(func)
        if not isinstance(func, ast.Name) or not isinstance(scope, Scope):
            return True
        owner = scope.owner(func.id)
        bindings = owner.bindings[func.id] if owner is not None else []
        return any(b.node is named or b.kind == "import" for b in bindings)

    def _applied(self, name: str) -> Iterator[tuple[ScriptFile, ast.Call]]:
        """Yield calls that ``transform`` and ``partial`` make of a function that they are given."""
        for method in ("transform", "partial"):
            for source, call in self.program.calls(method):
                if call.args and last_name(call.args[0]) == name:
                    yield source, as_called(call)

    def handed_on(self, name: str, named: ast.AST) -> bool:
        """Whether a function of the program is passed to something that may call it."""
        for source in self.program.sources():
            for (_, used), uses in source.uses.items():
                if used == name and any(not _called(source, u, named) and self._means(source, u, named) for u in uses):
                    return True
        return False

    def _call(self, source: ScriptFile, node: ast.Call) -> bool:
        name = self._foreign(source, node.func)
        if name == "provspark.constant":
            return True
        functions = self.functions(source, node.func)
        if functions:
            return all(self._returns(owner, function) for owner, function in functions)
        if isinstance(node.func, ast.Attribute) and not name:
            if self.is_number(source, node):
                return True
            if reads(node.func.attr):
                return False
            if _setting(node.func):
                return self._all(source, iter(passed_values(node))) and self._outside.settings_kept()
            return self.shows(source, node.func.value) and self._all(source, iter(passed_values(node)))
        values = passed_values(node)
        if self.is_class(source, node.func) or self._is_cls(source, node.func):
            return self._all(source, iter(values))  # what it keeps of them, its attributes say
        if (name and not pure_call(name)) or not self._outside.untouched(name):
            return False
        if not name and (not self.shows(source, node.func) or (last_name(node.func) == "vars" and not values)):
            return False
        return self._all(source, iter(values))

    def is_number(self, source: ScriptFile, call: ast.Call) -> bool:
        """Whether a call is a read of one number that counts as a constant; see `counting`."""
        return bool(self._numbers) and f"{source.file}:{call.func.end_lineno}" in self._numbers

    def is_class(self, source: ScriptFile, func: ast.AST) -> bool:
        """Whether an expression names a class of the program."""
        return self._class(source, func) is not None

    @staticmethod
    def _is_cls(source: ScriptFile, func: ast.AST) -> bool:
        scope = source.scope_of.get(func)
        return isinstance(func, ast.Name) and func.id == "cls" and isinstance(scope, Scope) and bool(scope.owner("cls"))

    def _of_program(self, source: ScriptFile, node: ast.AST) -> bool:
        """Whether an expression is an object or a class whose methods are the program's."""
        return (isinstance(node, ast.Name) and node.id in ("self", "cls")) or self.is_class(source, node)

    def _foreign(self, source: ScriptFile, node: ast.AST) -> str:
        """Return the full name that an expression has in a library, or ""."""
        name = self.dotted(source, node)
        above = name
        while "." in above:
            above = above.rpartition(".")[0]
            if self.program.module(above, source) is not None:
                return ""
        return name

    def _returns(self, source: ScriptFile, function: Function) -> bool:
        key = ("returns", function)
        known = self._assume(key)
        if known is not None:
            return known
        self._assumed.add(key)
        found = [n for n in own_nodes(function) if isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom))]
        shown = all(n.value is None or self.shows(source, n.value) for n in found)
        if shown and (len(found) > 1 or any(not isinstance(n, ast.Return) for n in found)):
            shown = all(self.changes.decided(source, n) for n in found)
        return self._found(key, shown)

    # -- attributes

    def _attribute(self, source: ScriptFile, node: ast.Attribute) -> bool:
        name = self.dotted(source, node)
        if name:
            module = self.program.module(name.rpartition(".")[0], source)
            if module is not None:
                bound = node.attr in module.module.bindings and self._bound(module.module, node.attr)
                return bound and self.kept(node.attr)
            if pure_value(name):
                return self._outside.untouched(name) and self.kept(node.attr)
        if node.attr in DESCRIBING:
            return True
        if _setting(node):
            return self._outside.settings_kept()
        holder = self._class(source, node.value)
        if holder is not None:
            bound = bool(holder.bindings.get(node.attr)) and self._bound(holder, node.attr)
            return bound and self.kept(node.attr)
        if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            return self._member(node.attr)
        if reads(node.attr) or not self.shows(source, node.value):
            return False
        return self._member(node.attr) if self.program.stored(node.attr) else self.kept(node.attr)

    def settings_kept(self) -> bool:
        """Whether values that ``${…}`` takes from settings in SQL text are constants."""
        return self._decide("settings", self._outside.settings_kept)

    def _class(self, source: ScriptFile, node: ast.AST) -> Scope | None:
        """Return the scope of a class of the program that a name stands for."""
        scope = source.scope_of.get(node)
        if not isinstance(node, ast.Name) or not isinstance(scope, Scope):
            return None
        owner = scope.owner(node.id)
        for binding in owner.bindings[node.id] if owner is not None else ():
            if isinstance(binding.node, ast.ClassDef):
                found = source.scope_of.get(binding.node)
                return found if isinstance(found, Scope) else None
            module = self.program.module(binding.module, source) if binding.kind == "import" else None
            for there in module.module.bindings.get(binding.attribute, ()) if module is not None else ():
                if isinstance(there.node, ast.ClassDef) and module is not None:
                    return module.scope_of.get(there.node)
        return None

    def _member(self, attribute: str) -> bool:
        """Whether all that objects of the program keep under this name is shown."""
        key = ("member", attribute)
        known = self._assume(key)
        if known is not None:
            return known
        self._assumed.add(key)
        found = self.program.stored(attribute)
        shown = bool(found) and all(self._binding(source, source.module, b) for source, b in found)
        return self._found(key, shown and self.kept(attribute))

    def kept(self, attribute: str) -> bool:
        """Whether nothing but constants is put into what attributes of this name hold, or in its place."""
        key = ("kept", attribute)
        known = self._assume(key)
        if known is not None:
            return known
        self._assumed.add(key)
        for source in self.program.sources():
            if not all(self._binding(source, source.module, b) for b in source.stored.get(attribute, ())):
                return self._found(key, False)
            if not all(self.changes.unchanged(source, use) for use in source.attributes.get(attribute, ())):
                return self._found(key, False)
        return True


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.comprehension, ast.keyword, ast.Starred, ast.Slice)):
            yield from _parts(child)
        elif isinstance(child, ast.arguments):
            yield from child.defaults
        elif isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), ast.Store):
            yield child


def _setting(node: ast.Attribute) -> bool:
    """Whether an attribute says something of the session, such as ``spark.version``."""
    return node.attr in SETTINGS and last_name(node.value) in SESSIONS


def _is_property(function: Function) -> bool:
    return any(last_name(d) in ("property", "cached_property") for d in function.decorator_list)


def _called(source: ScriptFile, name: ast.Name, named: ast.AST) -> bool:
    """Whether a use of a function or a class calls it, and hands it to nobody."""
    above = source.up.get(name)
    if isinstance(above, ast.Attribute) and isinstance(named, ast.ClassDef):
        return True
    if not isinstance(above, ast.Call):
        return False
    return above.func is name or (above.args[:1] == [name] and last_name(above.func) in ("transform", "partial"))
