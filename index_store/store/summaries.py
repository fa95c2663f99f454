"""Summaries of what a step captured: for the operator's log and XCom, and for `provspark run`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from provspark.index_store.store.store import Store
from provspark.model.steps import Manifest
from provspark.model.wording import counted
from provspark.model.written_rows import written_rows

__all__ = ["success", "summary"]


def summary(store: str, manifest: Manifest) -> dict[str, Any]:
    """Return what a step wrote: step, store, and each output with its version, all its rows, and those written."""
    return {
        "step": manifest.step,
        "store": store,
        "outputs": [
            {
                "dataset": write.output.dataset.uri,
                "version": write.output.id,
                "rows": write.output.rows,
                "written": written,
                "coverage": write.coverage,
            }
            for write, written in zip(manifest.writes, _written(store, manifest), strict=True)
        ],
    }


def _written(store: str, manifest: Manifest) -> list[int | None]:
    """Return the number of rows of each write. If the store can't be read, they are None: the job itself succeeded."""
    try:
        opened = Store.open(store)
        return [written_rows(opened, manifest.step, write) for write in manifest.writes]
    except Exception:
        return [None] * len(manifest.writes)


def success(manifest: Manifest, summary: Mapping[str, Any]) -> str:
    """Return the log line of a captured job: rows, datasets, coverage, cost, and the command that shows them."""
    show = f"provspark show {manifest.step} --store {shlex.quote(summary['store'])}"
    outputs = [output for output in summary["outputs"] if output["coverage"] != "untracked"]
    if not outputs:
        return f"ProvSpark captured no lineage of this job. To see why, run: {show}"
    written = [output["written"] for output in outputs]
    datasets = counted(len({output["dataset"] for output in outputs}), "dataset")
    rows = datasets if None in written else f"{counted(sum(written), 'row')} of {datasets}"
    coverage = " and ".join(sorted({output["coverage"] for output in outputs}, reverse=True))
    return f"ProvSpark captured the lineage of {rows} ({coverage}){_cost(manifest)}. To see it, run: {show}"


def _cost(manifest: Manifest) -> str:
    """Return the driver's time that capture took, and its share of the job; "" if the step does not have it."""
    capture = dict(manifest.engine).get("capture", "")
    if not capture:
        return ""
    seconds = float(capture.removesuffix(" s"))
    job = (datetime.fromisoformat(manifest.ended) - datetime.fromisoformat(manifest.started)).total_seconds()
    share = f" ({seconds / job:.0%} of the job)" if job > 0 else ""
    return f" in {seconds:.1f} s of driver time{share}"
