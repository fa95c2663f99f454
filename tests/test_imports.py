"""Imports go one way, read from the sources: no import is run."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {
    "provspark": "provider",
    "provspark.operators": "operators",
    "provspark.hooks": "hooks",
    "provspark.tracker": "tracker",
    "provspark.index_store": "index_store",
    "provspark.cli": "cli",
}
BARRED = {
    "provspark.tracker": (
        "airflow",
        "sqlalchemy",
        "alembic",
        "provspark.index_store.catalogue",
        "provspark.operators",
        "provspark.hooks",
        "provspark.cli",
    ),
    "provspark.index_store": (
        "pyspark",
        "py4j",
        "airflow",
        "provspark.tracker",
        "provspark.operators",
        "provspark.hooks",
        "provspark.cli",
    ),
    "provspark.hooks": (
        "pyspark",
        "py4j",
        "provspark.tracker",
        "provspark.operators",
        "provspark.cli",
        "provspark.testing",
    ),
    "provspark.cli": ("airflow", "provspark.operators", "provspark.hooks", "provspark.testing"),
}
ONLY_ERRORS = ("provspark.tracker", "provspark.index_store")
"""Packages that see nothing of the root package but its errors, its version and the names in force."""


def modules(package: str) -> Iterator[tuple[str, Path]]:
    folder = ROOT / FOLDERS[package]
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        yield ".".join([package, *(p for p in parts if p != "__init__")]), path


def imported(module: str, path: Path) -> Iterator[tuple[str, int]]:
    """Every module that a source file names in an import, in functions and TYPE_CHECKING blocks too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
                above = package[: len(package) - node.level + 1]
                base = ".".join([*above, base]).rstrip(".")
            yield base, node.lineno
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


@pytest.mark.parametrize("package", BARRED)
def test_barred_imports(package: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for module, path in modules(package)
        for name, line in imported(module, path)
        if any(within(name, barred) for barred in BARRED[package])
    ]
    assert found == []


@pytest.mark.parametrize("package", ONLY_ERRORS)
def test_lower_packages_see_only_the_errors_of_the_root(package: str) -> None:
    root = ("errors", "naming", "said", "shell", "__version__")
    allowed = (package, "provspark.index_store", *(f"provspark.{name}" for name in root))
    found = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for module, path in modules(package)
        for name, line in imported(module, path)
        if within(name, "provspark") and name != "provspark" and not any(within(name, a) for a in allowed)
    ]
    assert found == []


def test_the_reader_of_imports_sees_every_form(tmp_path: Path) -> None:
    path = tmp_path / "rule.py"
    path.write_text(
        "import airflow.sdk\nfrom pyspark import sql\nfrom . import tap\nfrom ..store import Store\n"
        "def late():\n    from sqlalchemy.orm import Session\n"
    )
    names = {name for name, _ in imported("provspark.tracker.rules.rule", path)}
    assert names >= {
        "airflow.sdk",
        "pyspark.sql",
        "provspark.tracker.rules.tap",
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
