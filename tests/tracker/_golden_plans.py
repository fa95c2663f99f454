"""What capture makes of a plan, as text: each family of operators has a file ``plan.txt``.

`pytest tests/tracker/families --update-plans` writes them anew, to be read before they are committed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Frames
from oracle.tables import BAG, DEPT, EMP

from provspark.tracker import attach
from provspark.tracker.plan.provenance_columns import ProvenanceColumn
from provspark.tracker.plan.rewrite import Rewriter

SPARK = "4.1"
"""The version whose plans they are, unless it lacks the operator."""
Plan = Callable[[Frames], Any]


def check_plans(
    plans: Mapping[str, Plan],
    test: str,
    spark: Any,
    sources: Path,
    tmp_path: Path,
    update: bool,
    version: str = SPARK,
) -> None:
    """Compare with the file beside a test, of plans of `version`: another than SPARK where that lacks the operator."""
    if not spark.version.startswith(version):
        pytest.skip(f"the plans are those of Spark {version}: other versions print and name some nodes otherwise")
    frames = Frames(spark, [EMP, DEPT, BAG], sources)
    text = "\n".join(f"== {name}\n{told(plan, frames, tmp_path)}" for name, plan in plans.items())
    fixture = Path(test).with_name("plan.txt")
    if update:
        fixture.write_text(text, encoding="utf-8")
    assert text == fixture.read_text(encoding="utf-8"), "see --update-plans"


def told(plan: Plan, frames: Frames, folder: Path) -> str:
    """The plan before, as Spark's rules leave it, and after; what its provenance columns point at and its taps note."""
    with attach(store=(folder / "store").as_uri(), step="golden") as capture:
        jvm = capture._sessions.jvm(frames.spark)
        caches = capture._sessions.caches(jvm)
        analysed = caches.current(jvm, plan(frames)._jdf.queryExecution().analyzed())
        rewriter = Rewriter(jvm, (folder / "taps").as_uri(), caches)
        traced = rewriter.run(analysed)
        plans = {
            "before": analysed,
            "normal": rewriter.java.node(0),
            "after": rewriter.java.plan(traced.number),
        }
        trees = {name: each.treeString() for name, each in plans.items()}
        frames.spark.catalog.clearCache()
    numbers: dict[str, str] = {}
    told_twice = trees["before"] == trees["normal"]
    parts = [
        f"-- {name}\n{neutral(tree, numbers)}" for name, tree in trees.items() if name != "normal" or not told_twice
    ]
    parts.append("-- provenance columns\n" + "".join(f"{described(column)}\n" for column in traced.provenance))
    taps = "".join(f"{tap.number} {tap.label}: {'; '.join(map(described, tap.provenance))}\n" for tap in rewriter.taps)
    return "\n".join(parts + ([f"-- taps\n{taps}"] if taps else []))


def described(column: ProvenanceColumn) -> str:
    origin = f"groups of tap {column.origin}" if column.grouped else f"rows of scan {column.origin}"
    return f"{column.kind}: {origin}{', the others' if column.others else ''}"


def neutral(tree: str, numbers: dict[str, str]) -> str:
    """Ids by their first appearance; no paths, addresses, seeds of uuid, numbers of frames or trailing blanks."""
    tree = re.sub(r"#(\d+)", lambda m: "#" + numbers.setdefault(m[1], str(len(numbers) + 1)), tree)
    tree = re.sub(r"file:/[^\s,\])]+", "PATH", tree)
    tree = re.sub(r"@[0-9a-f]{5,}", "@", tree)
    tree = re.sub(r"uuid\(Some\(-?\d+\)\)", "uuid(SEED)", tree)
    tree = re.sub(r"^(\W*CollectMetrics .*\]), \d+$", r"\1, FRAME", tree, flags=re.MULTILINE)
    return "".join(f"{line.rstrip()}\n" for line in tree.splitlines())
