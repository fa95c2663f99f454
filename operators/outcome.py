"""What is left to do when a job is over: read its manifest, tell the catalogue, summarise."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from provspark.hooks.spark import Capture
from provspark.index_store.model import Manifest, Untracked
from provspark.index_store.store import Store

__all__ = ["ingest", "losses", "now", "prepare", "publish_untracked", "read", "summary"]


def now() -> str:
    """The time as manifests write it: UTC, ISO 8601 with microseconds."""
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")


def prepare() -> None:
    """Import, while the job runs, what `ingest` takes: a third of a second that nobody waits for."""
    threading.Thread(target=_imports, name="provspark-imports", daemon=True).start()


def _imports() -> None:
    with contextlib.suppress(Exception):  # `ingest` will say it
        import provspark.events
        import provspark.index_store.catalogue  # noqa: F401


def read(capture: Capture) -> Manifest:
    """Return the manifest that the job published."""
    return Store.open(capture.store).manifest(capture.key.id)


def publish_untracked(capture: Capture, reason: Untracked, started: str, error: BaseException | None) -> None:
    """Publish a step that ran without capture, so that questions which cross it are told so."""
    writer = Store.open(capture.store, create=True).writer(capture.key)
    writer.publish(
        status="succeeded" if error is None else "failed",
        started=started,
        ended=now(),
        untracked=[reason],
        error="" if error is None else f"{type(error).__name__}: {error}",
    )


def ingest(catalogue: str, store: str, manifest: Manifest) -> None:
    """Tell the catalogue of a step, by the events that OpenLineage's consumers get."""
    from provspark.events import events_from_manifest
    from provspark.index_store.catalogue import Catalogue

    with Catalogue.open(catalogue) as opened:
        for event in events_from_manifest(store, manifest):
            opened.ingest(event)


def summary(store: str, manifest: Manifest) -> dict[str, Any]:
    """The XCom: the step, the store, and each output with its version."""
    return {
        "step": manifest.step,
        "store": store,
        "outputs": [
            {
                "dataset": write.output.dataset.uri,
                "version": write.output.id,
                "rows": write.output.rows,
                "coverage": write.coverage,
            }
            for write in manifest.writes
        ],
    }


def losses(manifest: Manifest) -> Iterator[str]:
    """What was not captured, a line each."""
    for reason in manifest.untracked:
        yield f"not captured: {reason}"
    for write in manifest.writes:
        if write.coverage == "untracked":
            yield f"{write.output.dataset} was written without lineage. {write.reason}"
