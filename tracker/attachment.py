"""The way in: `attach` puts capture between a script and Spark for as long as its block runs."""

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
    """Capture the writes of every Spark session within the block, as one step.

    Parameters
    ----------
    store : str
        The store's folder or URL; made if it is not there.
    step : str
        The task's name; ignored where `key` is given.
    key : StepKey, optional
        Which try of which task this is. A command-line run of its own otherwise.
    on_error : {"warn", "fail"}
        What trouble in tracking does. By default the script goes on untracked, with a warning in the log. If capture
        does not start, nothing of pyspark stays patched.
    profile : bool
        Store how the values of each output and input are distributed, read when the block ends.
    dag : iterable of Task
        The tasks of the DAG, and
    run_started : str
        when its run began, both as in `Manifest`.

    Raises
    ------
    CaptureError
        Another block is active in this process.
    ProvSparkError
        With ``on_error="fail"``: the store can't be written, this version of Spark is not supported, or a plan can't be
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
            raise ValueError("attach needs the step's name or its key")
        self._store = store
        self._key = key or StepKey(task_id=step, run_id=f"run-{uuid.uuid4()}")
        self._on_error = on_error
        self._profile = profile
        self._dag, self._run_started = tuple(dag), run_started
        self._capture: Capture | None = None

    def __enter__(self) -> Capture:
        if not _active.acquire(blocking=False):
            raise CaptureError("capture is active in this process already; leave its block first")
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
                raise e if isinstance(e, ProvSparkError) else CaptureError(f"capture can't start. {why}") from e
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
