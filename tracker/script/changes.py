"""Decide whether a script changes its lists, dictionaries and other objects only by adding constants."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from provspark.tracker.script.calls import passed_values, receives
from provspark.tracker.script.decisions import Decisions
from provspark.tracker.script.names import Names
from provspark.tracker.script.pure_functions import BUILTINS, query_names
from provspark.tracker.script.source import FUNCTIONS, Binding, Function, Scope, ScriptFile, last_name

__all__ = ["Changes"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CHANGING = _words(
    "__iadd__ __setattr__ __setitem__ add append appendleft clear discard extend extendleft insert pop popitem put"
    " remove reverse rotate setdefault sort subtract update"
)
"""Methods that change the object that they are called on."""
_KEEPING = _words(
    "__contains__ __getitem__ capitalize casefold combine copy count date difference elements encode endswith exists"
    " find findall finditer format format_map fullmatch get index intersection is_dir is_file isdisjoint isoformat"
    " issubset issuperset items join joinpath keys lower lstrip match mkdir most_common name open partition"
    " relative_to removeprefix removesuffix replace rfind rpartition rsplit rstrip search split splitlines startswith"
    " strftime strip sub swapcase symmetric_difference timetuple title translate union upper values"
    " with_name with_suffix write write_bytes write_text writelines writerow writerows zfill"
)
"""Methods of Python's own types that do not change their object, whatever their arguments."""
_INNER = _words("__getitem__ copy elements get items pop popitem setdefault values")
"""Methods that return items of their object."""
_MAKING = BUILTINS | _words(
    "ChainMap Counter DataFrame OrderedDict Series array deque defaultdict deepcopy split zeros"
)
"""Functions and methods that return a new object."""
_SINGLE = _words(
    "Decimal Path abs bool capitalize chr date datetime float format getenv hash hex int isoformat join len lower"
    " lstrip now ord repr replace round rstrip str strftime strip sum timedelta timestamp title today upper"
    " utcnow uuid4"
)
"""Functions and methods that return an immutable value: a text, a number, a date or a path."""
_ITERATING = _words("dict enumerate frozenset list product reversed set sorted tuple zip")
"""Functions that return the items of their arguments."""
_LOOKING = _words(
    "assertEqual critical debug dump dumps error exception execute executemany fire info log print publish safe_dump"
    " send warn warning write writelines writerow writerows"
)
"""Functions that do not change their arguments."""
_CONTROL = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.comprehension)
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_LEAVES_LOOP = (ast.Break, ast.Continue)
_FAILING = _words("float index int next strptime fromisoformat fromtimestamp remove")
"""Functions and methods that raise an exception for some values."""


class Changes:
    """Analysis of how a program changes the objects that its names and attributes refer to.

    Parameters
    ----------
    names : Names
    decisions : Decisions
    shows : callable
        Returns whether an expression's value is made only of constants.
    """

    def __init__(self, names: Names, decisions: Decisions, shows: Callable[[ScriptFile, ast.AST], bool]) -> None:
        self._names, self._program = names, names.program
        self._decisions = decisions
        self._shows = shows

    def unchanged(self, source: ScriptFile, use: ast.AST) -> bool:
        """Whether a use of an object adds only constants to it."""
        node: ast.AST = use
        for above in source.above(use):
            if isinstance(above, ast.Attribute) and above.value is node:
                call = source.up.get(above)
                if isinstance(call, ast.Call) and call.func is above:
                    if above.attr not in _INNER or not self._called(source, call, above.attr):
                        return self._called(source, call, above.attr)
                elif isinstance(above.ctx, (ast.Store, ast.Del)):
                    return self._assigned(source, above)
                elif above.attr in CHANGING:
                    return False  # a bound method passed on: its calls and their arguments are unknown
            elif isinstance(above, ast.Subscript) and above.value is node:
                if isinstance(above.ctx, (ast.Store, ast.Del)):
                    return self._assigned(source, above)
                if self._flat(source, node):
                    return True  # the item is immutable, or a new list
            elif isinstance(above, ast.Call) and above.func is node:
                pass  # the result may be an item of the object
            elif isinstance(above, (ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.Await)):
                if isinstance(above, ast.IfExp) and above.test is node:
                    return True
                if isinstance(above, ast.NamedExpr) and not self._alias(source, above.target):
                    return False
            else:
                return self._held(source, above, node)
            node = above
        return True

    def _held(self, source: ScriptFile, above: ast.AST, node: ast.AST) -> bool:
        """Whether the node around a use of an object adds only constants to it."""
        if isinstance(above, (ast.Call, ast.keyword)):
            call = above if isinstance(above, ast.Call) else source.up.get(above)
            return not isinstance(call, ast.Call) or self._passed(source, call, node)
        if isinstance(above, ast.Assign) and above.value is node:
            return all(self._target(source, target) for target in above.targets)
        if isinstance(above, ast.AnnAssign) and above.value is node:
            return self._target(source, above.target)
        if isinstance(above, ast.AugAssign) and above.target is node:
            return self._put(source, above, [above.value])
        if isinstance(above, (ast.For, ast.AsyncFor, ast.comprehension)) and above.iter is node:
            if self._flat(source, node):
                return True
            return all(self._alias(source, n) for n in ast.walk(above.target) if isinstance(n, ast.Name))
        if isinstance(above, (*_DISPLAYS, ast.Return, ast.Yield, ast.Lambda, *FUNCTIONS)):
            return self._settled()
        return True

    def _target(self, source: ScriptFile, target: ast.AST) -> bool:
        if isinstance(target, ast.Name):
            return self._alias(source, target)
        return isinstance(target, (ast.Tuple, ast.List)) or self._settled()

    def _called(self, source: ScriptFile, call: ast.Call, method: str) -> bool:
        values = passed_values(call)
        if method in CHANGING:
            return self._put(source, call, values)
        if method in _KEEPING or method in pyspark_names():
            return True
        if any(isinstance(b.node, FUNCTIONS) for _, b in self._program.stored(method)):
            return True  # a method of the program's class, whose changes of attributes are checked there
        return self._all(source, iter(values))

    def _assigned(self, source: ScriptFile, target: ast.AST) -> bool:
        statement = next((n for n in source.above(target) if isinstance(n, ast.stmt)), None)
        value = getattr(statement, "value", None)
        parts = [value] if isinstance(value, ast.AST) else []
        parts += [target.slice] if isinstance(target, ast.Subscript) else []
        return isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)) and self._put(
            source, target, parts
        )

    def _put(self, source: ScriptFile, at: ast.AST, values: list[ast.AST]) -> bool:
        return self._all(source, iter(values)) and self._often(source, at)

    def _all(self, source: ScriptFile, nodes: Iterator[ast.AST]) -> bool:
        return all(self._shows(source, node) for node in nodes)

    def _alias(self, source: ScriptFile, target: ast.Name) -> bool:
        owner = source.owner(target)
        if owner is None:
            return False
        uses = source.uses.get((owner, target.id), ())
        return self._decisions.once(("alias", owner, target.id), lambda: all(self.unchanged(source, u) for u in uses))

    def _passed(self, source: ScriptFile, call: ast.Call, passed: ast.AST) -> bool:
        """Whether a call adds only constants to an object passed to it."""
        functions = self._names.functions(source, call.func)
        if functions:
            return all(self._received(owner, function, call, passed) for owner, function in functions)
        name = last_name(call.func)
        if isinstance(call.func, ast.Name) and (name in BUILTINS or name in ("print", "getattr", "isinstance", "len")):
            return True
        if name in _LOOKING or name in _KEEPING or name in pyspark_names():
            return True
        if self._names.is_class(source, call.func):
            return self._settled()
        others = [v for v in passed_values(call) if v is not passed]
        if isinstance(call.func, ast.Attribute) and not self._names.dotted(source, call.func):
            others.append(call.func.value)
        return self._all(source, iter(others))  # the call can only add its other arguments

    def _received(self, owner: ScriptFile, function: Function, call: ast.Call, passed: ast.AST) -> bool:
        name = receives(function, call, passed)
        scope = owner.scope_of.get(function)
        if name is None or not isinstance(scope, Scope):
            return True
        uses = owner.uses.get((scope, name), ())
        return self._decisions.once(("passed", function, name), lambda: all(self.unchanged(owner, u) for u in uses))

    # -- objects with several references

    def _settled(self) -> bool:
        """Whether the program adds only constants to objects that may be referenced elsewhere.

        If it adds data to one, that may be any object that was stored in another object, returned or passed on.
        """
        return self._decisions.once("settled", lambda: not any(map(self._stray, self._program.sources())))

    def _stray(self, source: ScriptFile) -> bool:
        for method in CHANGING:
            for attribute in source.attributes.get(method, ()):
                call = source.up.get(attribute)
                called = isinstance(call, ast.Call) and call.func is attribute
                if self._own(source, attribute.value):
                    continue
                if not called or not self._put(source, call, passed_values(call)):  # type: ignore[arg-type]
                    return True
        stored = [n for n in source.stored_items if not self._own(source, n.value)]
        changed = [
            n for some in source.attributes.values() for n in some if isinstance(source.up.get(n), ast.AugAssign)
        ]
        return not all(self._assigned(source, target) for target in (*stored, *changed))

    def _own(self, source: ScriptFile, node: ast.AST) -> bool:
        """Whether an expression is a name bound only to new objects, or imported."""
        bindings = source.bindings(node)
        return bool(bindings) and all(b.kind in ("value", "import") and _fresh(b.node) for b in bindings)

    def _flat(self, source: ScriptFile, node: ast.AST) -> bool:
        """Whether all items of a list, dictionary or similar are immutable: texts, numbers and tuples of them."""
        if isinstance(node, ast.Call):
            parts: list[ast.AST] = [*node.args]
            if isinstance(node.func, ast.Attribute):
                if node.func.attr in ("keys", "split", "splitlines"):
                    return True
                parts = [node.func.value] if node.func.attr in ("copy", "items", "values") else []
            elif last_name(node.func) == "range":
                return True
            elif last_name(node.func) not in _ITERATING:
                return False
            return bool(parts) and all(self._flat(source, part) for part in parts)
        if isinstance(node, ast.Attribute):
            return node.attr in ("argv", "environ")
        if not isinstance(node, ast.Name):
            return _of_constants(node)
        bindings = source.bindings(node)
        return bool(bindings) and all(b.kind == "value" and _of_constants(b.node) for b in bindings)

    def mutable(self, source: ScriptFile, binding: Binding) -> bool:
        """Whether a name may be bound to a mutable object."""
        if binding.kind == "item":
            return not self._flat(source, binding.node)
        return binding.kind in ("value", "parameter") and not self._single(source, binding.node)

    def _single(self, source: ScriptFile, node: ast.AST) -> bool:
        """Whether an expression is an immutable value: a text, a number or a date."""
        if isinstance(node, ast.Subscript):
            return isinstance(node.value, ast.Call) and self._decisions.is_number(source, node.value)
        if isinstance(node, ast.Call):
            return last_name(node.func) in _SINGLE or self._decisions.is_number(source, node)
        return isinstance(node, (ast.Constant, ast.JoinedStr, ast.Compare, ast.UnaryOp))

    # -- how often statements run

    def _often(self, source: ScriptFile, at: ast.AST) -> bool:
        """Whether only constants determine how often a statement runs, in all calls of its function."""
        if not self.decided(source, at):
            return False
        for node in source.above(at):
            if isinstance(node, ast.Lambda):
                return False
            if isinstance(node, FUNCTIONS):
                return self._calls_decided(node)
        return True

    def _calls_decided(self, function: Function) -> bool:
        calls = self._program.calls
        return self._decisions.once(
            ("often", function),
            lambda: (
                not self._names.handed_on(function.name, function)
                and all(self._often(source, call) for source, call in calls(function.name))
            ),
        )

    def decided(self, source: ScriptFile, at: ast.AST) -> bool:
        """Whether only constants determine whether, and how often, a statement runs within its function."""
        for node in [at, *source.above(at)]:
            if isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
                return True
            if isinstance(node, _CONTROL) or type(node).__name__ == "Match":
                for test in (getattr(node, name, None) for name in ("iter", "test", "subject")):
                    if test is not None and not self._shows(source, test):
                        return False
            if isinstance(node, (ast.For, ast.AsyncFor, ast.While)) and not self._runs_through(source, node):
                return False
            if isinstance(node, ast.Try) and not self._passes(source, node):
                return False
        return True

    def is_last(self, source: ScriptFile, at: ast.AST, uses: Iterable[ast.AST]) -> bool:
        """Whether only constants determine a loop's last item, if it is used after the loop."""
        if not isinstance(at, (ast.For, ast.AsyncFor)) or all(at in source.above(use) for use in uses):
            return True
        left = [node for node in _own_to(at) if isinstance(node, ast.Break)]
        return all(self._tests_shown(source, node, at) for node in left)

    def _runs_through(self, source: ScriptFile, loop: ast.For | ast.AsyncFor | ast.While) -> bool:
        """Whether only constants determine when a loop's ``break`` and ``continue`` run."""
        return self._decisions.once(
            ("runs through", loop),
            lambda: all(
                self._tests_shown(source, node, loop) for node in _own_to(loop) if isinstance(node, _LEAVES_LOOP)
            ),
        )

    def _tests_shown(self, source: ScriptFile, at: ast.AST, within: ast.AST) -> bool:
        for node in source.above(at):
            if node is within:
                return True
            if isinstance(node, ast.If) and not self._shows(source, node.test):
                return False
        return True

    def _passes(self, source: ScriptFile, node: ast.Try) -> bool:
        """Whether only constants determine if the body of a ``try`` raises an exception, as far as the text shows."""
        for part in (p for statement in node.body for p in ast.walk(statement)):
            if isinstance(part, ast.Subscript) and not isinstance(part.slice, ast.Slice):
                if not self._shows(source, part.slice):
                    return False
            elif isinstance(part, ast.Call) and last_name(part.func) in _FAILING:
                if not self._all(source, iter(passed_values(part))):
                    return False
            elif isinstance(part, (ast.Raise, ast.Assert)):
                test = [part.test] if isinstance(part, ast.Assert) else []
                if not self._all(source, iter(test)) or not self._tests_shown(source, part, node):
                    return False
        return True


def _fresh(node: ast.AST) -> bool:
    """Whether an expression makes a new object."""
    if isinstance(node, ast.Call):
        return last_name(node.func) in _MAKING
    return isinstance(
        node, (*_DISPLAYS, ast.ListComp, ast.SetComp, ast.DictComp, ast.Constant, ast.BinOp, ast.JoinedStr)
    )


def _of_constants(node: ast.AST) -> bool:
    """Whether an expression is a list, tuple, set or dictionary display with only immutable items."""
    if isinstance(node, ast.Dict):
        return all(isinstance(value, ast.Constant) for value in node.values)
    return isinstance(node, (ast.List, ast.Tuple, ast.Set)) and all(
        isinstance(part, (ast.Constant, ast.JoinedStr, ast.UnaryOp))
        or (isinstance(part, ast.Tuple) and _of_constants(part))
        for part in node.elts
    )


def _own_to(loop: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes in a loop, except for functions, classes, and ``break`` and ``continue`` of inner loops."""
    for child in ast.iter_child_nodes(loop):
        if isinstance(child, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            continue
        yield child
        inner = _own_to(child)
        if isinstance(child, (ast.For, ast.AsyncFor, ast.While)):
            inner = (node for node in inner if not isinstance(node, _LEAVES_LOOP))
        yield from inner


@cache
def pyspark_names() -> frozenset[str]:
    """Return the names of PySpark's functions and methods that do not change their arguments."""
    from pyspark.sql import DataFrameReader, DataFrameWriter

    readers = {name for owner in (DataFrameReader, DataFrameWriter) for name in dir(owner) if not name.startswith("_")}
    calling = CHANGING | {"collect", "foreach", "transform", "map", "reduce"}
    return ((query_names() | readers) - calling) | {"fill", "parallelize"}
