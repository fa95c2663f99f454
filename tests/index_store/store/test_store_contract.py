"""The shipped contract and state machine, for the back ends that are shipped."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from provspark.index_store.store.fs.local import LocalFolder
from provspark.index_store.store.fs.opening import open_folder
from provspark.testing.contract import FolderOpener, StoreContract
from provspark.testing.machine import machine_for

pytest_plugins = ("_s3",)


@pytest.fixture
def bucket(s3: str) -> Callable[[], FolderOpener]:
    """Return what opens another prefix of a bucket at every call."""

    def place() -> FolderOpener:
        url = f"s3://bucket/contract/{uuid.uuid4()}{s3}"
        return lambda: open_folder(url)

    return place


class TestLocal(StoreContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> FolderOpener:
        return lambda: LocalFolder(tmp_path / "a store")


class TestS3(StoreContract):
    @pytest.fixture
    def place(self, bucket: Callable[[], FolderOpener]) -> FolderOpener:
        return bucket()


@pytest.mark.parametrize("runs", [25, pytest.param(300, marks=pytest.mark.long)])
def test_any_order_of_writes_crashes_repairs_and_collections(tmp_path: Path, runs: int) -> None:
    made = []

    def place() -> FolderOpener:
        for old in made:
            shutil.rmtree(old, ignore_errors=True)
        made.append(tmp_path / str(len(made)))
        return lambda: LocalFolder(made[-1])

    run = settings(max_examples=runs, stateful_step_count=25, deadline=None)
    run_state_machine_as_test(machine_for(place), settings=run)
    assert len(made) >= runs


@pytest.mark.long
def test_the_same_on_s3(bucket: Callable[[], FolderOpener]) -> None:
    run = settings(max_examples=10, stateful_step_count=10, deadline=None)
    run_state_machine_as_test(machine_for(bucket), settings=run)
