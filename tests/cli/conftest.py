"""A small store that a program of three steps left: clean (exact), report (grouped), model (untracked)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from _small_store import boxes, version
from click.testing import CliRunner, Result

from provspark.cli.main import main
from provspark.index_store.store.store import Store
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Axis, Untracked

PEOPLE = "name,city,age\nAda,Rome,36\nBob,Oslo,\nCy,Rome,50\nDee,Oslo,41\nEve,,29\n"
KEPT = (0, 2, 3)
TIMES = {"started": "2024-05-01T10:00:00.000000+00:00", "ended": "2024-05-01T10:00:01.000000+00:00"}


def axes(output: PendingVersion, source: PendingVersion) -> tuple[Axis, ...]:
    identity = [v.files.identity(v.dataset) for v in (output, source)]
    return (
        Axis("output", output.files.total, identity[0], -1, str(output.dataset)),
        Axis("input", source.files.total, identity[1], 0, str(source.dataset)),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the store (``prov``) and of its data."""
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "clean.csv").write_text("Ada,Rome,36\nCy,Rome,50\nDee,Oslo,41\n")
    (tmp_path / "report.csv").write_text("Oslo,1\nRome,2\n")
    (tmp_path / "model.csv").write_text("x\n")
    person = [("name", "string"), ("city", "string"), ("age", "int")]
    people = version(tmp_path / "people.csv", 5, person, True, False)
    clean = version(tmp_path / "clean.csv", 3, person, False, True)
    report = version(tmp_path / "report.csv", 2, [("city", "string"), ("n", "bigint")], False, True)
    model = version(tmp_path / "model.csv", 1, [("x", "string")], False, True)
    store = Store.open(str(tmp_path / "prov"), create=True)
    tensor = PendingTensor(0, 1, boxes(list(enumerate(KEPT))))
    step = store.writer(StepKey("clean", "r1", "people"))
    step.add(PendingWrite(clean, "exact", (people,), axes(clean, people), (tensor,), site="clean.py:9"))
    step.publish(status="succeeded", **TIMES, engine=[("spark", "4.1.3")])
    tensor = PendingTensor(0, 1, boxes([(0, 2), (1, 0), (1, 1)]))
    step = store.writer(StepKey("report", "r1", "people", try_number=2))
    step.add(PendingWrite(report, "exact", (clean,), axes(report, clean), (tensor,)))
    step.publish(status="succeeded", **TIMES)
    reason = Untracked("MapInPandas", "its function is not looked into", "model.py:3")
    step = store.writer(StepKey("model", "r1"))
    step.add(PendingWrite(model, "untracked", (report,), reason=reason))
    step.publish(status="succeeded", **TIMES)
    return tmp_path


@pytest.fixture
def cli(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """The command, with the store in its environment."""
    monkeypatch.setenv("PROVSPARK_STORE", str(folder / "prov"))
    monkeypatch.delenv("PROVSPARK_CATALOGUE", raising=False)
    return lambda *args: CliRunner(env={"COLUMNS": "240"}).invoke(main, [str(a) for a in args])
