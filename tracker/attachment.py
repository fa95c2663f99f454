"""`attach`, the context manager that captures what a script writes with Spark."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable
from types import TracebackType

from provspark.index_store.store.store import Store
from provspark.model.errors import CaptureError, ProvSparkError
from provspark.model.steps import OnError, StepKey, Task
from provspark.model.writes import Untracked
from provspark.tracker.capture import Capture
from provspark.tracker.spark.supported import SUPPORTED

__all__ = ["Capture", "attach"]

_active = threading.Lock()


class attach:  # noqa: N801
    """Capture the lineage of everything that Spark writes within the block, in any session, as one step.

    docs/glossary.md explains *capture*, *step* and *store*.

    Parameters
    ----------
    store : str
        Folder or URL of the store for the captured lineage. Created if it does not exist.
    step : str
        Name of the step. Ignored if you pass `key`.
    key : StepKey, optional
        Identifies the task instance and its try. By default, the step is a new run outside any DAG.
    on_error : {"warn", "fail"}
        What to do if lineage can't be captured. "warn" logs a warning, and the script continues without lineage.
        "fail" raises. If capture can't start, all patches of pyspark are removed.
    profile : bool
        Whether to compute and store the value distributions of each output and input when the block ends.
    dag : iterable of Task
        Tasks of the DAG, as in `Manifest`.
    run_started : str
        When the DAG run began, as in `Manifest`.

    Raises
    ------
    CaptureError
        Another `attach` block is active in this process.
    ProvSparkError
        With ``on_error="fail"``: the store is not writable, this version of Spark is not supported, or a plan can't be
        captured exactly.
    """

    def __init__(
        self,
        store: str,
        step: str = "",
        *,
        key: StepKey | None = None,
        on_error: OnError = "warn",
        profile: bool = False,
        dag: Iterable[Task] = (),
        run_started: str = "",
    ) -> None:
        if key is None and not step:
            raise ValueError("attach() got neither `step` nor `key`. Pass one of them to identify the step.")
        self._store = store
        self._key = key or StepKey(task_id=step, run_id=f"run-{uuid.uuid4()}")
        self._on_error = on_error
        self._profile = profile
        self._dag, self._run_started = tuple(dag), run_started
        self._capture: Capture | None = None

    def __enter__(self) -> Capture:
        if not _active.acquire(blocking=False):
            raise CaptureError(
                "Capture is already active in this process. Leave the active `attach` block before you enter another."
            )
        try:
            self._capture = self._begun()
        except BaseException:
            _active.release()
            raise
        return self._capture

    def _begun(self) -> Capture:
        capture: Capture | None = None
        try:
            store = Store.open(self._store, create=True)
            writer = store.writer(self._key, dag=self._dag, run_started=self._run_started)
            capture = Capture(writer, store.url, self._key.id, self._on_error, profile=self._profile)
            capture.begin()
        except Exception as e:
            if capture is not None:
                capture.withdraw()
            why = str(e) if isinstance(e, ProvSparkError) else f"{type(e).__name__}: {e}. {SUPPORTED}"
            if self._on_error == "fail":
                raise e if isinstance(e, ProvSparkError) else CaptureError(f"Capture can't start. {why}") from e
            node = "attach" if capture else "store"
            capture = capture or Capture(None, self._store, self._key.id, self._on_error)
            capture.lost(Untracked(node, f"the job runs without capture. {why}"))
        return capture

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._capture is not None
        try:
            self._capture.end(error)
        finally:
            _active.release()
