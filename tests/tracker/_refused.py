"""A plan that is refused: the output is plain Spark's, the step says which node, why and at which line."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracle import outputs
from oracle.cases import Case, Frames, compare_outputs

from provspark.tracker import attach

Plan = Callable[[Frames], Any]


def line_of(plan: Plan) -> int:
    """The line that carries the mark."""
    lines, first = inspect.getsourcelines(plan)
    return next(first + i for i, line in enumerate(lines) if line.endswith("# refused\n"))


def refused(plan: Plan, t: Frames, work: Path, caplog: pytest.LogCaptureFixture) -> Any:
    """Write the plan's rows untracked and tracked; return the one reason that is told for the marked line."""
    plan(t).write.parquet(str(work / "plain"))
    with caplog.at_level(logging.WARNING), attach(store=(work / "store").as_uri(), step="s") as capture:
        plan(t).write.parquet(str(work / "out"))
    compare_outputs(Case("", plan, lambda _: _), outputs.read(work / "plain"), outputs.read(work / "out"))
    assert len(capture.untracked) == 1, capture.untracked
    reason = capture.untracked[0]
    assert reason.site == f"{inspect.getsourcefile(plan)}:{line_of(plan)}", reason
    assert reason.why and any(reason.why in r.getMessage() for r in caplog.records)
    assert capture.manifest is not None and capture.manifest.status == "succeeded"
    return reason
