"""A home for Airflow, and one world for the scripts of a module."""

from __future__ import annotations

from typing import Any

import _airflow_home  # noqa: F401
import pytest
from _driver_world import World
from _task_world import TaskWorld


@pytest.fixture(scope="module")
def world(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return a world in which each script runs once, however many tests look at it."""
    return World(tmp_path_factory.mktemp("driver"))


@pytest.fixture(scope="module")
def tasks(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> TaskWorld:
    """Return a world in which each DAG runs once, however many tests look at it."""
    return TaskWorld(tmp_path_factory.mktemp("tasks"), spark)
