"""What is left to do when a job is over: read its manifest, tell the catalogue, summarise."""

from __future__ import annotations

import contextlib
import shlex
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from provspark.hooks.spark import CaptureArguments
from provspark.index_store.store.store import Store
from provspark.index_store.store.tasks import load_dag
from provspark.model.errors import CaptureError, UnknownStepError
from provspark.model.steps import Manifest
from provspark.model.wording import counted
from provspark.model.writes import Untracked
from provspark.model.written_rows import written_rows

__all__ = [
    "ingest",
    "losses",
    "now",
    "prepare",
    "publish_earlier_tries",
    "publish_untracked",
    "read",
    "success",
    "summary",
]


def now() -> str:
    """The time as manifests write it: UTC, ISO 8601 with microseconds."""
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")


def prepare() -> None:
    """Import, while the job runs, what `ingest` takes: a third of a second that nobody waits for."""
    threading.Thread(target=_imports, name="provspark-imports", daemon=True).start()


def _imports() -> None:
    with contextlib.suppress(Exception):  # `ingest` will say it
        import provspark.airflow.events
        import provspark.index_store.catalogue  # noqa: F401


def read(capture: CaptureArguments, *, failed: bool) -> Manifest:
    """Return the manifest that the job published, or what a failed one had sealed before it was killed.

    Raises
    ------
    CaptureError
        There is none.
    """
    store, step = Store.open(capture.store), capture.key.id
    try:
        return store.manifest(step)
    except UnknownStepError as error:
        if failed and _publish_sealed(store, [step]):
            return store.manifest(step)
        raise CaptureError(
            f"the job ended without publishing step {step} in {capture.store}. If the job was killed, run "
            "`provspark repair` to publish the lineage that it had completed."
        ) from error


def publish_earlier_tries(capture: CaptureArguments) -> list[str]:
    """Publish what earlier tries of the task had sealed before they were killed; return their steps."""
    earlier = [replace(capture.key, try_number=n).id for n in range(1, capture.key.try_number)]
    return _publish_sealed(Store.open(capture.store), earlier) if earlier else []


def _publish_sealed(store: Store, steps: Sequence[str]) -> list[str]:
    """Publish those of these steps that were begun, never published, and whose process is not known to be alive."""
    from provspark.index_store.store.leftovers import begun, notes_of
    from provspark.index_store.store.repair import repair

    killed = []
    for step in begun(store, steps):
        notes = notes_of(store, step)
        if notes and not any(note.process and note.process.alive for note in notes):
            killed.append(step)
    return sorted({one.step for one in repair(store, killed)}) if killed else []


def publish_untracked(capture: CaptureArguments, reason: Untracked, started: str, error: BaseException | None) -> None:
    """Publish a step that ran without capture, so that questions which cross it are told so."""
    tasks, run = load_dag(Path(capture.dag).read_bytes(), capture.dag) if capture.dag else ((), "")
    writer = Store.open(capture.store, create=True).writer(capture.key, dag=tasks, run_started=run)
    writer.publish(
        status="succeeded" if error is None else "failed",
        started=started,
        ended=now(),
        untracked=[reason],
        error="" if error is None else f"{type(error).__name__}: {error}",
    )


def ingest(catalogue: str, store: str, manifest: Manifest) -> None:
    """Tell the catalogue of a step, by the events that OpenLineage's consumers get."""
    from provspark.airflow.events import events_from_manifest
    from provspark.index_store.catalogue import Catalogue

    with Catalogue.open(catalogue) as opened:
        for event in events_from_manifest(store, manifest):
            opened.ingest(event)


def summary(store: str, manifest: Manifest) -> dict[str, Any]:
    """The XCom: the step, the store, and each output with its version, its rows and those that the step wrote."""
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
    """Rows that each write made; the job is done, so they are unknown where the store does not answer now."""
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
        return f"ProvSpark captured no rows of this job. See the step: {show}"
    written = [output["written"] for output in outputs]
    datasets = counted(len({output["dataset"] for output in outputs}), "dataset")
    rows = datasets if None in written else f"{counted(sum(written), 'row')} into {datasets}"
    coverage = " and ".join(sorted({output["coverage"] for output in outputs}, reverse=True))
    return f"ProvSpark captured {rows} ({coverage}){_cost(manifest)}. See them: {show}"


def _cost(manifest: Manifest) -> str:
    """Return the driver's time that capture took, and its share of the job; "" if the step does not have it."""
    capture = dict(manifest.engine).get("capture", "")
    if not capture:
        return ""
    seconds = float(capture.removesuffix(" s"))
    job = (datetime.fromisoformat(manifest.ended) - datetime.fromisoformat(manifest.started)).total_seconds()
    share = f" ({seconds / job:.0%} of the job)" if job > 0 else ""
    return f" in {seconds:.1f} s of driver time{share}"


def losses(manifest: Manifest) -> Iterator[str]:
    """What was not captured, a line each."""
    for reason in manifest.untracked:
        yield f"not captured: {reason}"
    for write in manifest.writes:
        if write.coverage == "untracked":
            yield f"{write.output.dataset} was written without lineage. {write.reason}"
