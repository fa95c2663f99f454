"""Work of the operator after a job: read the step's manifest, update the catalogue."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from provspark.hooks.spark import CaptureArguments
from provspark.index_store.store.store import Store
from provspark.index_store.store.tasks import load_dag
from provspark.model.errors import CaptureError, UnknownStepError
from provspark.model.steps import Manifest
from provspark.model.writes import Untracked

__all__ = [
    "ingest",
    "losses",
    "now",
    "prepare",
    "publish_earlier_tries",
    "publish_untracked",
    "read",
]


def now() -> str:
    """Return the current time in the form of manifests: UTC, ISO 8601 with microseconds."""
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")


def prepare() -> None:
    """Import the modules that `ingest` needs in a thread while the job runs, which saves a third of a second later."""
    threading.Thread(target=_imports, name="provspark-imports", daemon=True).start()


def _imports() -> None:
    with contextlib.suppress(Exception):  # `ingest` will raise it
        import provspark.airflow.events
        import provspark.index_store.catalogue  # noqa: F401


def read(capture: CaptureArguments, *, failed: bool) -> Manifest:
    """Return the manifest that the job published. For a killed job, first publish the writes that it had sealed.

    Raises
    ------
    CaptureError
        The job published no manifest, and there is nothing to publish.
    """
    store, step = Store.open(capture.store), capture.key.id
    try:
        return store.manifest(step)
    except UnknownStepError as error:
        if failed and _publish_sealed(store, [step]):
            return store.manifest(step)
        raise CaptureError(
            f"the job ended before the lineage of step {step} was saved in {capture.store}. If the job was killed, run "
            "`provspark repair` to save the lineage that was complete by then."
        ) from error


def publish_earlier_tries(capture: CaptureArguments) -> list[str]:
    """Publish the writes that killed earlier tries of the task had sealed. Return the ids of their steps."""
    earlier = [replace(capture.key, try_number=n).id for n in range(1, capture.key.try_number)]
    return _publish_sealed(Store.open(capture.store), earlier) if earlier else []


def _publish_sealed(store: Store, steps: Sequence[str]) -> list[str]:
    """Publish those of the steps that are unfinished and whose process is not known to be running."""
    from provspark.index_store.store.leftovers import begun, notes_of
    from provspark.index_store.store.repair import repair

    killed = []
    for step in begun(store, steps):
        notes = notes_of(store, step)
        if notes and not any(note.process and note.process.alive for note in notes):
            killed.append(step)
    return sorted({one.step for one in repair(store, killed)}) if killed else []


def publish_untracked(capture: CaptureArguments, reason: Untracked, started: str, error: BaseException | None) -> None:
    """Publish a step that ran without capture, so that answers which reach it contain a stop with the reason."""
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
    """Add a step to the catalogue, as the OpenLineage events that other consumers receive."""
    from provspark.airflow.events import events_from_manifest
    from provspark.index_store.catalogue import Catalogue

    with Catalogue.open(catalogue) as opened:
        for event in events_from_manifest(store, manifest):
            opened.ingest(event)


def losses(manifest: Manifest) -> Iterator[str]:
    """Yield a message for each part of the step that was not captured."""
    for reason in manifest.untracked:
        yield f"not captured: {reason}"
    for write in manifest.writes:
        if write.coverage == "untracked":
            yield f"{write.output.dataset} was written without lineage. {write.reason}"
