"""Decide whether the script's text shows a value, which means that the value is made only of constants.

Constants are literals, the process's arguments, the time and random numbers. The analysis follows values through names,
functions of the program and additions to lists. A name that is bound more than once, or a list that is added to, is
shown only if nothing but constants determines how often that happens.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from contextlib import AbstractContextManager

from provspark.tracker.script.calls import is_enum, own_nodes, passed_values
from provspark.tracker.script.changes import Changes
from provspark.tracker.script.decisions import Decisions
from provspark.tracker.script.names import Names
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


class Shown:
    """Analysis of which values a program's text shows.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = Names(program)
        self._decisions = Decisions(program)
        self._changes = Changes(self.names, self._decisions, self.shows)
        self._outside = Outside(program, self._decisions, self.shows, self._changes.unchanged, self._kept)

    def counting(self, numbers: frozenset[str]) -> AbstractContextManager[None]:
        """Count calls at these lines (``file:line``), which read one number each, as constants in this context."""
        return self._decisions.counting(numbers)

    def shows(self, source: ScriptFile, node: ast.AST) -> bool:
        """Whether an expression's value is made only of constants."""
        return self._decisions.decide(node, lambda: self._expression(source, node))

    def binds(self, scope: Scope, name: str) -> bool:
        """Whether all values that a name may have in a scope are made only of constants."""
        return self._decisions.decide((scope, name, "used"), lambda: self._bound(scope, name))

    def decides(self, source: ScriptFile, at: ast.AST) -> bool:
        """Whether only constants determine whether, and how often, a statement runs within its function."""
        return self._decisions.decide(("decides", at), lambda: self._changes.decided(source, at))

    def _all(self, source: ScriptFile, nodes: Iterator[ast.AST] | list[ast.expr]) -> bool:
        return all(self.shows(source, node) for node in nodes)

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
        # Other expressions consist of their parts: displays, operators, subscripts, comprehensions, lambdas.
        return self._all(source, _parts(node))

    # -- names

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
        return self._decisions.once((owner, name), lambda: self._all_bound(owner, name))

    def _all_bound(self, owner: Scope, name: str) -> bool:
        bindings, source = owner.bindings[name], owner.source
        shown = all(self._binding(source, owner, b) for b in bindings)
        uses = source.uses.get((owner, name), ())
        if shown and len(bindings) > 1:
            shown = all(self._changes.decided(source, b.at) for b in bindings)
        if shown and any(self._changes.mutable(source, b) for b in bindings):
            shown = all(self._changes.unchanged(source, use) for use in uses)
        if shown:
            shown = all(self._changes.is_last(source, b.at, uses) for b in bindings if b.kind == "item")
        return shown and not self._rebound(owner)

    def is_changed(self, source: ScriptFile, node: ast.Name) -> bool:
        """Whether a name is bound only to constants, which data changes later."""
        owner = source.owner(node)
        if owner is None or self.binds(owner, node.id):
            return False
        values = [b.node for b in owner.bindings[node.id] if b.kind == "value"]
        return len(values) == len(owner.bindings[node.id]) and all(self.shows(owner.source, v) for v in values)

    def _rebound(self, owner: Scope) -> bool:
        """Whether ``exec`` or a dictionary of names may rebind the names of a module or class."""
        if not isinstance(owner.node, (ast.Module, ast.ClassDef)):
            return False
        return owner.source.rebinds or any(source.rebinds_others for source in self.program.sources())

    def _binding(self, source: ScriptFile, scope: Scope, binding: Binding) -> bool:
        if binding.kind in ("value", "item"):
            return self.shows(source, binding.node)
        if binding.kind == "parameter" and isinstance(binding.node, ast.arg) and isinstance(binding.at, FUNCTIONS):
            return self._parameter(source, binding.at, binding.node.arg)
        if binding.kind == "any":
            return True  # a lambda's parameter: it receives other arguments of the call that the lambda is passed to
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

    def _parameter(self, source: ScriptFile, function: Function, name: str) -> bool:
        """Whether all calls of a function pass constants. If it is passed on, it may be called with anything."""
        return all(part is not None and self.shows(*part) for part in self.names.passed_for(source, function, name))

    def _call(self, source: ScriptFile, node: ast.Call) -> bool:
        name = self.names.foreign(source, node.func)
        if name == "provspark.constant":
            return True
        functions = self.names.functions(source, node.func)
        if functions:
            return all(self._returns(owner, function) for owner, function in functions)
        if isinstance(node.func, ast.Attribute) and not name:
            if self._decisions.is_number(source, node):
                return True
            if reads(node.func.attr):
                return False
            if _setting(node.func):
                return self._all(source, iter(passed_values(node))) and self._outside.settings_kept()
            return self.shows(source, node.func.value) and self._all(source, iter(passed_values(node)))
        values = passed_values(node)
        if self.names.is_class(source, node.func) or self.names.is_cls(source, node.func):
            return self._all(source, iter(values))  # its attributes are checked where they are used
        if (name and not pure_call(name)) or not self._outside.untouched(name):
            return False
        if not name and (not self.shows(source, node.func) or (last_name(node.func) == "vars" and not values)):
            return False
        return self._all(source, iter(values))

    def _returns(self, source: ScriptFile, function: Function) -> bool:
        return self._decisions.once(("returns", function), lambda: self._all_returned(source, function))

    def _all_returned(self, source: ScriptFile, function: Function) -> bool:
        results = [n for n in own_nodes(function) if isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom))]
        shown = all(n.value is None or self.shows(source, n.value) for n in results)
        if shown and (len(results) > 1 or any(not isinstance(n, ast.Return) for n in results)):
            shown = all(self._changes.decided(source, n) for n in results)
        return shown

    # -- attributes

    def _attribute(self, source: ScriptFile, node: ast.Attribute) -> bool:
        name = self.names.dotted(source, node)
        if name:
            module = self.program.module(name.rpartition(".")[0], source)
            if module is not None:
                bound = node.attr in module.module.bindings and self._bound(module.module, node.attr)
                return bound and self._kept(node.attr)
            if pure_value(name):
                return self._outside.untouched(name) and self._kept(node.attr)
        if node.attr in DESCRIBING:
            return True
        if _setting(node):
            return self._outside.settings_kept()
        holder = self.names.class_of(source, node.value)
        if holder is not None:
            bound = bool(holder.bindings.get(node.attr)) and self._bound(holder, node.attr)
            return bound and self._kept(node.attr)
        if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            return self._member(node.attr)
        if reads(node.attr) or not self.shows(source, node.value):
            return False
        return self._member(node.attr) if self.program.stored(node.attr) else self._kept(node.attr)

    def settings_kept(self) -> bool:
        """Whether settings that a SQL text inserts with ``${…}`` are constants."""
        return self._decisions.decide("settings", self._outside.settings_kept)

    def _member(self, attribute: str) -> bool:
        """Whether all values of attributes with this name in the program's objects are made only of constants."""

        def shown() -> bool:
            stored = self.program.stored(attribute)
            bound = bool(stored) and all(self._binding(source, source.module, b) for source, b in stored)
            return bound and self._kept(attribute)

        return self._decisions.once(("member", attribute), shown)

    def _kept(self, attribute: str) -> bool:
        """Whether the program assigns only constants to attributes with this name, and adds only constants to them."""
        return self._decisions.once(
            ("kept", attribute),
            lambda: all(
                all(self._binding(source, source.module, b) for b in source.stored.get(attribute, ()))
                and all(self._changes.unchanged(source, use) for use in source.attributes.get(attribute, ()))
                for source in self.program.sources()
            ),
        )


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.comprehension, ast.keyword, ast.Starred, ast.Slice)):
            yield from _parts(child)
        elif isinstance(child, ast.arguments):
            yield from child.defaults
        elif isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), ast.Store):
            yield child


def _setting(node: ast.Attribute) -> bool:
    """Whether an attribute returns a setting of the session, such as ``spark.version``."""
    return node.attr in SETTINGS and last_name(node.value) in SESSIONS


def _is_property(function: Function) -> bool:
    return any(last_name(d) in ("property", "cached_property") for d in function.decorator_list)
