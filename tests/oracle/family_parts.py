"""Finds what the families of operators add to the tests of all of them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

FAMILIES = Path(__file__).parents[1] / "tracker" / "families"


def family_parts(name: str) -> list[ModuleType]:
    """Import the modules of a name that families have beside their tests, in the order of the families' names."""
    return [import_module(f"families.{path.parent.name}.{name}") for path in sorted(FAMILIES.glob(f"*/{name}.py"))]
