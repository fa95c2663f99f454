"""Paths of files that are no data of the script's."""

from __future__ import annotations

from provspark.tracker.files.exclusions import LeftOut


def test_of_devices_shared_memory_holds_data() -> None:
    left_out = LeftOut(["/dev/shm/spark"])
    assert not left_out("/dev/shm/rows.parquet")
    assert all(map(left_out, ("/dev/null", "/dev/stdin", "/dev/fd/3", "/dev/shmem", "/dev/shm/spark/blockmgr/00")))
