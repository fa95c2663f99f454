"""Which commands the interceptor sees, and that they do not wait for one another."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from provspark.tracker.intercept.commands import Command
from provspark.tracker.intercept.interceptor import Interceptor
from provspark.tracker.spark.jvm import Jvm

pytestmark = pytest.mark.spark


def test_commands_of_other_threads_and_of_callbacks(spark: Any, tmp_path: Path) -> None:
    """While one is handled, the commands of its handler are not seen, and another thread's is seen and runs."""
    jvm = Jvm(spark)
    seen: list[tuple[str, str]] = []
    errors: list[BaseException] = []

    def write(name: str) -> None:
        spark.range(3).write.parquet(str(tmp_path / name))

    def handle(event: str, node: Any) -> None:
        name = Command(jvm, node).folder().rpartition("/")[2]
        seen.append((event, name))
        if (event, name) == ("begin", "one"):
            try:
                write("own")
                thread = threading.Thread(target=write, args=("two",))
                thread.start()
                thread.join(60)
                assert not thread.is_alive()
            except BaseException as e:
                errors.append(e)

    interceptor = Interceptor(handle, 100)
    assert interceptor.watch(jvm)
    try:
        write("one")
    finally:
        interceptor.stop()
    write("three")
    assert errors == []
    assert seen == [("begin", "one"), ("begin", "two"), ("done", "two"), ("done", "one")]
    assert {p.name for p in tmp_path.iterdir()} == {"one", "own", "two", "three"}
