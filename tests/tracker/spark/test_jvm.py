"""The driver's side of py4j."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from provspark.tracker.spark.jvm import answer_at_once, thread_socket

pytestmark = pytest.mark.spark


def test_each_thread_is_answered_at_once(spark: Any) -> None:
    gateway = spark.sparkContext._gateway
    found = []

    def look() -> None:
        before = thread_socket(gateway).getTcpNoDelay()
        answer_at_once(spark)
        found.append((before, thread_socket(gateway).getTcpNoDelay()))

    for _ in range(2):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert found == [(False, True)] * 2
