"""Mounts the packages by hand, for checks of the machine that run before anything is installed."""

import importlib.util
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOUNTS = runpy.run_path(str(ROOT / "setup.py"))["MOUNTS"]


class _Mounts:
    """Finds each mounted package in its folder of the checkout."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        folder = ROOT / MOUNTS[name] if name in MOUNTS else None
        if folder is None:
            return None
        return importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )


def mount() -> None:
    """Let `provspark.machine_checks` be imported from the checkout."""
    sys.meta_path.insert(0, _Mounts)
