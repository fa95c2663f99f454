"""Decide whether a SQL text is a constant of the script: a literal, or built from constants."""

from __future__ import annotations

import ast
import re

from provspark.tracker.script.shown_values import Shown
from provspark.tracker.script.source import ScriptFile, last_name
from provspark.tracker.script.values import ScriptValues, UnknownValueError

_FEWEST = 4
"""Minimum number of known characters in a built text for it to be recognised."""
_SETS = re.compile(r"\bset\W+var(?:iable)?\b|\bexecute\W+immediate\b", re.IGNORECASE)
_QUERY = re.compile(rf"(?:{_SETS.pattern}|\bbegin\b).*\bselect\b", re.IGNORECASE | re.DOTALL)
"""Text that may assign a query's value to a variable, as a script does with SET, FOR, FETCH and DECLARE, too."""
_VALUES = re.compile(r"\bvalues\b\s*", re.IGNORECASE)
_STRING = re.compile(r"(?:\b[xr])?'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL | re.IGNORECASE)
_KEYWORDS = "null|true|false|date|timestamp|timestamp_ltz|timestamp_ntz|interval"
_NAME = re.compile(rf"(?<![\w`.])(?!(?:{_KEYWORDS})\b)[a-z_`][\w`.]*(?!\w|\s*\()", re.IGNORECASE)
_STRINGS = (ast.JoinedStr, ast.BinOp, ast.Call)


class Texts:
    """The SQL texts in a program: literals, and patterns of texts built from constants.

    Parameters
    ----------
    shown : Shown
    """

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._values = ScriptValues(shown)
        self._changes = -1
        self._numbers: frozenset[str] = frozenset()
        self._literal: set[str] = set()
        self._patterns: list[re.Pattern[str]] = []
        self._queries: list[re.Pattern[str]] = []
        """The parts of the patterns behind ``AS``."""
        self._known: dict[str, bool] = {}

    def again(self, numbers: frozenset[str]) -> None:
        """Reset if a different set of lines counts as constants than before; see `Shown.counting`."""
        if numbers != self._numbers:
            self._numbers = numbers
            self._changes = -1

    def shows(self, text: str) -> bool:
        """Whether a text is a literal of the program, or may be built from constants by one of its expressions."""
        sources = self._shown.program.sources()
        if self._changes != self._shown.program.changes:
            self._changes = self._shown.program.changes
            self._learn(sources)
        text = _normal(text)
        if text not in self._known:
            known = text in self._literal or any(p.fullmatch(text) for p in self._patterns)
            self._known[text] = known and ("${" not in text or self._shown.settings_kept())
        return self._known[text]

    def shows_view(self, text: str) -> bool:
        """Whether a SQL text of the program ends in this query, as a ``CREATE VIEW`` does."""
        self.shows(text)
        text = _normal(text)
        return any(t.endswith(text) for t in self._literal) or any(p.fullmatch(text) for p in self._queries)

    def variables_are_constant(self) -> bool:
        """Whether session variables are set only by texts of the program, and by none that contains a query."""
        self.shows("")
        return all(not _QUERY.search(t) for t in (*self._literal, *(p.pattern for p in self._patterns))) and not any(
            isinstance(node, ast.JoinedStr) and _has_text(node) and _SETS.search(ast.unparse(node))
            for source in self._shown.program.sources()
            for node in ast.walk(source.tree)
            if not self._shown.shows(source, node)
        )

    @staticmethod
    def values_use_names(text: str) -> bool:
        """Whether the rows of a ``VALUES`` in a SQL text use names, which can only be those of variables."""
        text = _STRING.sub("", text)
        return any(_NAME.search(rows) for match in _VALUES.finditer(text) for rows in _rows(text[match.end() :]))

    def _learn(self, sources: list[ScriptFile]) -> None:
        self._known.clear()
        self._literal = set()
        self._patterns = []
        self._queries = []
        for source in sources:
            for node in ast.walk(source.tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    self._literal.add(_normal(node.value))
                if isinstance(node, ast.Call) and last_name(node.func) == "sql" and node.args and node.keywords:
                    self._formatted(source, node)
                elif isinstance(node, _STRINGS) and self._stringy(node) and self._shown.shows(source, node):
                    self._made(source, node)

    @staticmethod
    def _stringy(node: ast.AST) -> bool:
        """Whether an expression builds a text from texts."""
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "join", "replace", "dedent")
        return isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)) and _has_text(node)
        )

    def _made(self, source: ScriptFile, node: ast.AST) -> None:
        try:
            self._literal.add(_normal(str(self._values.of(source, node))))
            return
        except UnknownValueError:
            pass
        pattern, certain = self._pattern(source, node)
        if certain >= _FEWEST:
            self._add(pattern)

    def _add(self, pattern: str) -> None:
        self._patterns.append(re.compile(pattern.strip(), re.DOTALL))
        _, separator, query = pattern.partition(r"\ AS\ ")
        if separator:
            self._queries.append(re.compile(query.strip(), re.DOTALL))

    def _formatted(self, source: ScriptFile, call: ast.Call) -> None:
        """Add the pattern of a text with ``{name}`` that PySpark fills in, with names of views for DataFrames."""
        try:
            text = re.sub(r"\s+", " ", str(self._values.of(source, call.args[0])))
        except UnknownValueError:
            return
        given = {k.arg: k.value for k in call.keywords}
        pattern = ""
        for i, part in enumerate(re.split(r"\{([^{}]*)\}", text)):
            value = given.get(part) if i % 2 else None
            shown = value is not None and self._shown.shows(source, value)
            pattern += (".*" if shown else r"[A-Za-z_`][\w.`]*") if i % 2 else re.escape(part)
        self._add(pattern)

    def _pattern(self, source: ScriptFile, node: ast.AST) -> tuple[str, int]:
        """Return a regular expression for the texts that a node builds, and the number of characters known in it."""
        try:
            text = re.sub(r"\s+", " ", str(self._values.of(source, node)))
            return re.escape(text), len(text.replace(" ", ""))
        except UnknownValueError:
            pass
        parts: list[ast.AST] = []
        if isinstance(node, ast.JoinedStr):
            parts = list(node.values)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [node.left, node.right]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            return self._holes(source, node.func.value, r"\{[^{}]*\}")
        elif isinstance(node, ast.BinOp):
            return self._holes(source, node.left, r"%(?:\([^)]*\))?[-#0 +.\d]*[a-zA-Z]")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "dedent":
            parts = list(node.args)
        patterns = [self._pattern(source, part) for part in parts]
        return "".join(p for p, _ in patterns) if parts else ".*", sum(n for _, n in patterns)

    def _holes(self, source: ScriptFile, node: ast.AST, hole: str) -> tuple[str, int]:
        try:
            text = re.sub(r"\s+", " ", str(self._values.of(source, node)))
        except UnknownValueError:
            return ".*", 0
        parts = re.split(hole, text)
        return ".*".join(map(re.escape, parts)), sum(len(p.replace(" ", "")) for p in parts)


def _rows(text: str) -> list[str]:
    """Return the rows of a ``VALUES``, whose text begins with them: in parentheses, or single values."""
    if not text.startswith("("):
        return [re.split(r"[;)]|\bas\b", text, maxsplit=1, flags=re.IGNORECASE)[0]]
    rows, depth, start = [], 0, 0
    for i, char in enumerate(text):
        if char == "(":
            start, depth = (i if not depth else start), depth + 1
        elif char == ")":
            depth -= 1
            if depth <= 0:
                rows.append(text[start : i + 1])
        elif not depth and char not in ", \n":
            break
    return rows


def _has_text(node: ast.AST) -> bool:
    return any(
        isinstance(n, ast.JoinedStr) or (isinstance(n, ast.Constant) and isinstance(n.value, str))
        for n in ast.walk(node)
    )


def _normal(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
