"""Imports go one way, read from the sources: no import is run."""

import ast
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS: dict[str, str] = runpy.run_path(str(ROOT / "setup.py"))["MOUNTS"]
LAYERS = (
    ("provspark.model",),
    ("provspark.index_store",),
    ("provspark.tracker", "provspark.replay"),
    ("provspark", "provspark.operators", "provspark.hooks", "provspark.cli"),
)
"""From the bottom up. A package imports those below it, and itself; those of the top layer one another, too."""
BARRED = {
    "provspark.model": ("pyspark", "py4j", "airflow", "sqlalchemy", "alembic", "openlineage", "fastapi", "click"),
    "provspark.index_store": ("pyspark", "py4j", "airflow"),
    "provspark.tracker": ("airflow", "sqlalchemy", "alembic", "provspark.index_store.catalogue"),
    "provspark.replay": ("airflow", "sqlalchemy", "alembic"),
    "provspark.hooks": ("pyspark", "py4j", "provspark.operators", "provspark.cli", "provspark.testing"),
    "provspark.cli": ("airflow", "provspark.operators", "provspark.hooks", "provspark.testing"),
}
EXCEPTIONS = {("provspark.index_store.profiles.spark_queries", "pyspark")}
"""Profiles of a frame that the tracker or a replay hands over."""


def modules(package: str) -> Iterator[tuple[str, Path]]:
    folder = ROOT / FOLDERS[package]
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        yield ".".join([package, *(p for p in parts if p != "__init__")]), path


def statements(module: str, path: Path) -> Iterator[tuple[str, list[str], int]]:
    """Every module that a source file imports, what it takes of it, and the line; in functions and for types, too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, [], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
                above = package[: len(package) - node.level + 1]
                base = ".".join([*above, base]).rstrip(".")
            yield base, [alias.name for alias in node.names], node.lineno


def imported(module: str, path: Path) -> Iterator[tuple[str, int]]:
    """Every module, and every name of one, that a source file imports."""
    for base, names, line in statements(module, path):
        yield base, line
        yield from ((f"{base}.{name}", line) for name in names)


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


REPLAYS = re.compile(r"provspark\.tracker\.families\.\w+\.(replay|transformers)\b")
"""How a family is replayed is a part of replay, which imports it by name."""


def layer(name: str) -> int:
    """The layer of a module of ours."""
    package = max((p for ps in LAYERS for p in ps if within(name, p)), key=len)
    return next(i for i, packages in enumerate(LAYERS) if package in packages)


def graph() -> dict[str, set[str]]:
    """The modules of ours that each module imports; of a package from which it takes a module, only that module."""
    known = {module: path for package in FOLDERS for module, path in modules(package)}
    edges: dict[str, set[str]] = {module: set() for module in known}
    for module, path in known.items():
        for base, names, _ in statements(module, path):
            taken = {f"{base}.{name}" if f"{base}.{name}" in known else base for name in names or [""]}
            edges[module] |= (taken & set(known)) - {module}
    return edges


def components(edges: dict[str, set[str]]) -> list[set[str]]:
    """The cycles of a graph: sets of nodes that reach one another."""
    reached: dict[str, set[str]] = {}
    for start in edges:
        seen, waiting = set[str](), [start]
        while waiting:
            new = edges[waiting.pop()] - seen
            seen |= new
            waiting += new
        reached[start] = seen
    cycles = {frozenset(n for n in reached[m] if m in reached[n]) for m in edges if m in reached[m]}
    return [set(c) for c in cycles]


def test_every_package_has_a_layer() -> None:
    assert sorted(FOLDERS) == sorted(p for packages in LAYERS for p in packages)


@pytest.mark.parametrize("package", FOLDERS)
def test_imports_go_one_way(package: str) -> None:
    beside = [p for p in LAYERS[layer(package)] if p != package and layer(package) < len(LAYERS) - 1]
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for module, path in modules(package)
        for name, line in imported(module, path)
        if within(name, "provspark") and name != "provspark"
        if layer(name) > layer(package) or any(within(name, p) for p in beside)
        if not (REPLAYS.match(module) and within(name, "provspark.replay"))
    ]
    assert wrong == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert [sorted(cycle) for cycle in components(graph())] == []


@pytest.mark.parametrize("package", BARRED)
def test_barred_imports(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for module, path in modules(package)
        for name, line in imported(module, path)
        for barred in BARRED[package]
        if within(name, barred) and (module, barred) not in EXCEPTIONS
    ]
    assert wrong == []


def test_the_reader_of_imports_sees_every_form(tmp_path: Path) -> None:
    path = tmp_path / "rule.py"
    path.write_text(
        "import airflow.sdk\nfrom pyspark import sql\nfrom . import tap\nfrom ..store import Store\n"
        "def late():\n    from sqlalchemy.orm import Session\n"
    )
    names = {name for name, _ in imported("provspark.tracker.families.rule", path)}
    assert names >= {
        "airflow.sdk",
        "pyspark.sql",
        "provspark.tracker.families.tap",
        "provspark.tracker.store.Store",
        "sqlalchemy.orm",
    }


def test_examples_are_plain_pyspark() -> None:
    scripts = sorted((ROOT / "dags_examples").glob("*/*.py"))
    assert len(scripts) >= 4
    for path in scripts:
        names = [name for name, _ in imported(path.stem, path)]
        assert not [n for n in names if within(n, "provspark") or within(n, "airflow")], path


def test_the_root_imports_neither_airflow_nor_pyspark() -> None:
    heavy = ("airflow", "pyspark", "pyarrow", "sqlalchemy")
    code = f"import sys, provspark; print([m for m in {heavy} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_the_tracker_can_be_imported_before_spark_is_found() -> None:
    """The operator asks the driver's Python for the tracker; pyspark and py4j may come from spark-submit, later."""
    code = "import sys, provspark.tracker; print([m for m in ('pyspark', 'py4j') if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
