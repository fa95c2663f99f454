"""A home for Airflow, and one world for the scripts of a module."""

from __future__ import annotations

from typing import Any

import _airflow_home  # noqa: F401
import pytest
from _driver_world import World


@pytest.fixture(scope="module")
def world(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return a world in which each script runs once, however many tests look at it."""
    return World(tmp_path_factory.mktemp("driver"))
