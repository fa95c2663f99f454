"""Mounts the package by hand, for its checks of the machine: they run before anything is installed."""

import importlib.util
import sys
from pathlib import Path

PROVIDER = Path(__file__).resolve().parents[1] / "provider"


def mount() -> None:
    """Let `provspark.checks` be imported from the checkout."""
    spec = importlib.util.spec_from_file_location(
        "provspark", PROVIDER / "__init__.py", submodule_search_locations=[str(PROVIDER)]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules["provspark"] = package
    spec.loader.exec_module(package)
