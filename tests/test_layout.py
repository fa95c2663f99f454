"""`tests/` has the folders of the packages, and each family of operators that is captured has its tests."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from test_imports import FOLDERS, ROOT

from provspark.tracker.families import registry

TESTS = ROOT / "tests"
ACROSS = {
    "cluster": "Spark's executors and Airflow's scheduler, with processes that die",
    "docs": "code blocks of README and docs, and the site",
    "driver": "scripts and DAGs whose rows pass the driver",
    "former": "what was written for the last release, or made by it",
    "oracle": "plans run by plain Spark, with capture and by the oracle",
    "ui": "the page in a browser; its source is no package",
}
"""Folders of tests that no package has, each with what it tests."""
FAMILIES = [name for name in registry.names() if registry.family(name).rows]


def folders() -> list[str]:
    """The folders that hold tests."""
    return sorted({str(path.parent.relative_to(TESTS)) for path in TESTS.rglob("test_*.py")} - {"."})


@pytest.mark.parametrize("folder", folders())
def test_a_folder_of_tests_is_one_of_a_package(folder: str) -> None:
    top = Path(folder).parts[0]
    assert folder in ACROSS or (top in FOLDERS.values() and list((ROOT / folder).glob("*.py")))


def test_every_package_has_tests() -> None:
    assert set(FOLDERS.values()) <= {Path(folder).parts[0] for folder in folders()}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_that_is_captured_has_its_plans(family: str) -> None:
    tests = TESTS / "tracker" / "families" / family
    assert (tests / "plan.txt").is_file() and (tests / f"test_{family}.py").is_file()


def test_files_of_tests_have_names_of_their_own() -> None:
    """pytest imports them by name, as their folders are no packages."""
    times = Counter(path.name for path in TESTS.rglob("test_*.py"))
    assert [name for name, n in times.items() if n > 1] == []
