"""Text that a frame prints is a read on the driver where the script takes it from there."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Frames, configured
from oracle.tables import DEPT

from provspark.tracker import attach

pytestmark = pytest.mark.spark
EAGER = {"spark.sql.repl.eagerEval.enabled": "true", "spark.sql.repl.eagerEval.maxNumRows": "3"}

TAKEN = {
    "redirected": (
        "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as text:\n    frame.show(5)",
        ("DataFrame.show", 3, 5, False),
    ),
    "another stdout": (
        "import io, sys\nplain = sys.stdout\nsys.stdout, text = io.StringIO(), 1\nframe.show()\nsys.stdout = plain",
        ("DataFrame.show", 4, 20, False),
    ),
    "by a module": ("import redirecting_here\nredirecting_here.text(frame)", ("DataFrame.show", 3, 7, False)),
    "a method of its own": ("frame._show_string(n=4)", ("DataFrame._show_string", 1, 4, False)),
    "one number": ("frame.agg({'w': 'max'})._show_string()", ("DataFrame._show_string", 1, 1, True)),
    "eagerly": ("text = repr(frame)", ("DataFrame.__repr__", 1, 3, False)),
    "eagerly by str": ("text = str(frame)", ("DataFrame.__repr__", 1, 3, False)),
    "as HTML": ("text = frame._repr_html_()", ("DataFrame._repr_html_", 1, 3, False)),
}
NOT_TAKEN = {
    "on the screen": "frame.show()\nprint(frame)",
    "no rows": "# _show_string\nframe.show(0)",
    "rows of the script": "# _show_string\nframe.sparkSession.range(3).show()",
}


def run(text: str, frame: Any, folder: Path) -> list[Any]:
    (folder / "script.py").write_text(text + "\n", encoding="utf-8")
    (folder / "redirecting_here.py").write_text(
        "import contextlib, io\ndef text(frame):\n    frame.show(7)\n    return contextlib.redirect_stdout\n",
        encoding="utf-8",
    )
    with attach(store=(folder / "store").as_uri(), step="s") as capture:
        runpy.run_path(str(folder / "script.py"), {"frame": frame})
    assert capture.untracked == () and capture.manifest is not None
    return [
        (read.action, int(read.site.rpartition(":")[2]), read.output.rows, read.single)
        for read in capture.manifest.reads
    ]


@pytest.fixture
def frame(spark: Any, sources: Path) -> Any:
    return Frames(spark, [DEPT], sources).dept


@pytest.mark.parametrize("how", TAKEN)
def test_text_that_is_taken(how: str, frame: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "redirecting_here", raising=False)
    text, expected = TAKEN[how]
    with configured(frame.sparkSession, EAGER):
        assert run(text, frame, tmp_path) == [expected]


@pytest.mark.parametrize("how", NOT_TAKEN)
def test_text_that_is_not_taken(how: str, frame: Any, tmp_path: Path) -> None:
    with configured(frame.sparkSession, EAGER):
        assert run(NOT_TAKEN[how], frame, tmp_path) == []


def test_a_frame_that_shows_no_rows(frame: Any, tmp_path: Path) -> None:
    assert run("text = repr(frame), str(frame), frame._repr_html_()", frame, tmp_path) == []
