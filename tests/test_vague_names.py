"""Names in the sources say what they hold: read from the sources, no import is run."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_imports import FOLDERS, ROOT

VAGUE = {"found", "_found"}
SEEN_BY_USERS = {
    # The rows of an answer, as docs/queries.md has it.
    "index_store/query/answer.py": {"Answer.found", "self.found"},
    "index_store/query/asking.py": {"given.found"},
    # A field and a parameter of the HTTP API, by what the last release called them.
    "provider/web/former_routes.py": {"SidewaysRowsQuery.found", "sideways_export.found", "query.found"},
    # Fields of what `co_contributory_lines` and `why_not` return.
    "replay/shared_witnesses.py": {"SharedRows.found", "self.found"},
    "provider/web/replay_forms.py": {"of.found"},
    "replay/why_not.py": {"WhyNot.found", "self.found"},
    "cli/replay.py": {"told.found"},
}
ALIAS = re.compile(r"(Literal|Callable|Mapping|Sequence|tuple|dict|npt\.NDArray)\[")
"""How a name that stands for a type is made."""
INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
PARTICLES = {"near", "one", "same", "kept", "few", "within", "whole", "beside"}


def sources() -> Iterator[tuple[str, Path]]:
    for folder in FOLDERS.values():
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path


def named(node: ast.AST) -> str:
    """The name that a node binds, or by which it reaches an attribute or a parameter; "" for any other node."""
    if isinstance(node, ast.Name):
        return "" if isinstance(node.ctx, ast.Load) else node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, (ast.arg, ast.keyword)):
        return node.arg or ""
    if isinstance(node, ast.alias):
        return node.asname or node.name
    if isinstance(node, (*INNER, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return node.name or ""
    return ""


def vague(node: ast.AST, owner: str = "") -> Iterator[str]:
    """Every use of a vague name, behind the function, class or object that it belongs to."""
    for child in ast.iter_child_nodes(node):
        name = named(child)
        if name in VAGUE:
            yield ast.unparse(child) if isinstance(child, ast.Attribute) else f"{owner}.{name}"
        yield from vague(child, name if isinstance(child, INNER) else owner)


def test_no_name_says_only_that_something_was_found() -> None:
    uses = {file: set(vague(ast.parse(path.read_text(encoding="utf-8")))) for file, path in sources()}
    assert {file: names for file, names in uses.items() if names} == SEEN_BY_USERS


@pytest.mark.parametrize(
    "text",
    [
        "found = 1",
        "for found in (): ...",
        "with open('') as found: ...",
        "def f(found): ...",
        "def f(): return [1 for found in ()]",
        "if found := 1: ...",
        "self._found = 1",
        "f(found=1)",
        "class C:\n    found: int",
        "try: ...\nexcept E as found: ...",
        "lambda found: 1",
    ],
)
def test_a_vague_name_is_seen(text: str) -> None:
    assert list(vague(ast.parse(text)))


def test_no_module_is_named_by_a_particle() -> None:
    parts = {part for file, _ in sources() for part in Path(file).with_suffix("").parts}
    assert len(parts) > 300
    assert parts & PARTICLES == set()


def types() -> Iterator[tuple[str, str]]:
    """Every class of Python and Java, and every name that stands for a type, with its file."""
    for file, path in sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield node.name, file
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Name)
                and ALIAS.match(ast.unparse(node.value))
            ):
                yield node.targets[0].id, file
    for folder in FOLDERS.values():
        for path in sorted((ROOT / folder).rglob("*.java")):
            code = re.sub(
                r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", "", path.read_text(encoding="utf-8"), flags=re.DOTALL
            )
            for name in re.findall(r"\b(?:class|interface|enum) (\w+)", code):
                yield name, path.relative_to(ROOT).as_posix()


def test_a_type_name_stands_for_one_thing() -> None:
    files: dict[str, list[str]] = {}
    for name, file in types():
        files.setdefault(name, []).append(file)
    assert {name: where for name, where in files.items() if len(where) > 1} == {}
