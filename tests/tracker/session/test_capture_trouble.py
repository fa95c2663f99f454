"""Trouble in tracking: the user's rows are written all the same, and the step says what was lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import provspark
from provspark.errors import CaptureError, ConcurrentWriteError, StoreUnreachableError, UntrackedError
from provspark.model.datasets import Dataset
from provspark.tracker import attach
from provspark.tracker.sinks.claims import claim

pytestmark = pytest.mark.spark


@pytest.fixture
def source(spark: Any, tmp_path: Path) -> Any:
    spark.range(30).selectExpr("id AS a", "id % 3 AS b").write.parquet(str(tmp_path / "in"))
    return spark.read.parquet(str(tmp_path / "in"))


def values(folder: Path) -> list[int]:
    return sorted(pq.read_table(folder).column("a").to_pylist())


def test_a_data_set_that_another_task_is_writing(source: Any, tmp_path: Path) -> None:
    store, out = str(tmp_path / "prov"), tmp_path / "out"
    with attach(store=store, step="first"):
        pass
    with claim(store, Dataset("file", str(out)), "other-task"):
        with attach(store=store, step="second") as capture:
            source.write.parquet(str(out))
        with pytest.raises(ConcurrentWriteError, match="other-task"), attach(store, "third", on_error="fail"):
            source.write.mode("overwrite").parquet(str(out))
    assert values(out) == list(range(30))
    (reason,) = capture.untracked
    assert "other-task" in reason.why and reason.site.startswith(__file__)
    with pytest.raises(UntrackedError, match="other-task"):
        provspark.open(store).backward(str(out), rows=[3]).table()


def test_a_claim_is_given_back_after_each_write(source: Any, tmp_path: Path) -> None:
    with attach(store=str(tmp_path / "prov"), step="twice") as capture:
        for _ in range(2):
            source.write.mode("append").parquet(str(tmp_path / "out"))
    assert capture.untracked == ()
    assert values(tmp_path / "out") == sorted([*range(30), *range(30)])


def test_a_store_that_can_not_be_reached(source: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    store = str(tmp_path / "file" / "prov")
    with attach(store=store, step="lost") as capture:
        source.write.parquet(str(tmp_path / "out"))
    assert values(tmp_path / "out") == list(range(30))
    assert [u.node for u in capture.untracked] == ["store"] and capture.manifest is None
    with pytest.raises(StoreUnreachableError), attach(store=store, step="lost", on_error="fail"):
        pass


def test_sidecars_that_are_gone_before_sealing(source: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from provspark.tracker.seal import in_driver, notes
    from provspark.tracker.taps import sidecar

    def gone(*_: Any) -> bytes:
        raise CaptureError("the sidecar is gone")

    monkeypatch.setattr(sidecar, "_opened", gone)
    assert in_driver.blocks is notes.blocks is sidecar.blocks
    out = tmp_path / "out"
    with attach(store=str(tmp_path / "prov"), step="clean") as capture:
        source.write.parquet(str(out))
    assert values(out) == list(range(30))
    (reason,) = capture.untracked
    assert reason.node == "seal" and "the sidecar is gone" in reason.why
    assert capture.manifest is not None
    (write,) = capture.manifest.writes
    assert (write.coverage, write.output.rows) == ("untracked", 30)


def test_one_capture_at_a_time(tmp_path: Path) -> None:
    inner = attach(store=str(tmp_path / "prov"), step="inner")
    with attach(store=str(tmp_path / "prov"), step="outer"), pytest.raises(CaptureError, match="active"):
        inner.__enter__()


def test_what_capture_cost(source: Any, tmp_path: Path) -> None:
    with attach(store=str(tmp_path / "prov"), step="clean") as capture:
        source.write.parquet(str(tmp_path / "out"))
    (cost,) = capture.costs
    assert cost.output == (tmp_path / "out").as_uri() and cost.rewrite > 0 and cost.seal > 0
    assert capture.manifest is not None
    assert dict(capture.manifest.engine)["capture"] == f"{cost.rewrite + cost.seal:.3f} s"
