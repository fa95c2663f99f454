"""`SparkSubmitOperator` with record-level lineage."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.common.compat.sdk import mask_secret

from provspark.hooks.spark import (
    CaptureArguments,
    ProvSparkSubmitHook,
    driver_python,
    environment,
    own_python,
    with_defaults,
)
from provspark.index_store.store import summaries
from provspark.machine_checks import check_pyspark, find_java
from provspark.model.errors import CaptureError, ProvSparkError, SettingsError
from provspark.model.steps import Manifest, OnError, StepKey
from provspark.model.writes import Untracked
from provspark.operators import outcome
from provspark.operators.errors import NotCapturableError
from provspark.operators.links import ProvenanceLink
from provspark.operators.refusals import refusal
from provspark.operators.shape import write_shape
from provspark.settings import Settings

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage

__all__ = ["ProvSparkOperator"]

CaptureMode = Literal["index", "off"]


class ProvSparkOperator(SparkSubmitOperator):  # type: ignore[misc]
    """Submit a Spark job as `SparkSubmitOperator` does, and record which input rows each output row came from.

    It accepts every argument of `SparkSubmitOperator`, with the same meaning. The script needs no changes.

    Parameters
    ----------
    prov_store : str, optional
        Folder for the lineage, as a URL or a path. Default: the environment variable ``PROVSPARK_STORE``, or the option
        ``store`` in the section ``[provspark]`` of Airflow's configuration. (templated)
    prov_mode : {"index", "off"}
        ``off`` submits the job without capture.
    on_error : {"warn", "fail"}
        What happens if capture fails: ``warn`` logs a warning and marks the step as untracked, ``fail`` fails the task.
        This includes jobs that can't be captured at all (JVM applications, Spark Connect, cluster deploy mode).
    prov_catalogue : str, optional
        SQLAlchemy URL of the catalogue that the step is added to. Default: the environment variable
        ``PROVSPARK_CATALOGUE``, or the option ``catalogue`` in the section ``[provspark]``, or SQLite in
        ``$AIRFLOW_HOME``. (templated)
    prov_profile : bool
        Also store the distribution of the values of each output and input; see `Provenance.profile`.

    Returns
    -------
    dict
        As XCom: ``step``, ``store`` and ``outputs``, each with ``dataset``, ``version``, ``rows``, ``written`` and
        ``coverage``. ``rows`` counts all rows of the version, ``written`` those that this step wrote. ``written`` is
        None if it is not known, for example for an untracked write.

    Raises
    ------
    SettingsError
        A ``prov_`` argument or ``on_error`` has an invalid value, or no store is set and ``on_error`` is ``fail``.
    CaptureError
        Lineage was not captured and ``on_error`` is ``fail``. If no try could be captured (a JVM application, Spark
        Connect, cluster deploy mode), it is also an ``AirflowFailException``: the task fails without a retry.
    """

    operator_extra_links = (ProvenanceLink(),)
    template_fields: Sequence[str] = (*SparkSubmitOperator.template_fields, "prov_store", "prov_catalogue")

    def __init__(
        self,
        *,
        prov_store: str | None = None,
        prov_mode: CaptureMode = "index",
        on_error: OnError = "warn",
        prov_catalogue: str | None = None,
        prov_profile: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        _one_of("prov_mode", prov_mode, ("index", "off"))
        _one_of("on_error", on_error, ("warn", "fail"))
        self.prov_store = prov_store
        self.prov_mode = prov_mode
        self.on_error = on_error
        self.prov_catalogue = prov_catalogue
        self.prov_profile = prov_profile
        if prov_catalogue and (password := urlsplit(prov_catalogue).password):
            # Airflow's UI shows rendered template fields.
            mask_secret(password)
        self._capture: CaptureArguments | None = None
        self._refused: Untracked | None = None

    def execute(self, context: Any) -> Any:
        """Run the job under capture, add the step to the catalogue, and return a summary of what it wrote."""
        if self.prov_mode == "off":
            return super().execute(context)
        store = self._store()
        if store is None:
            self._trouble(
                SettingsError("No store is set. Pass prov_store, or set `store` in Airflow's section [provspark].")
            )
            return super().execute(context)
        started = outcome.now()
        outcome.prepare()
        with tempfile.TemporaryDirectory(prefix="provspark-") as folder:
            shape = self._shape(context, folder)
            self._capture = CaptureArguments(store, _key(context["ti"]), self.on_error, self.prov_profile, shape)
            self._publish_earlier_tries()
            try:
                super().execute(context)
            except Exception as error:
                self._settle(started, error)
                raise
            return self._settle(started, None)

    def _shape(self, context: Any, folder: str) -> str:
        """Write the DAG's structure to a file and return its path; "" if it is not known."""
        if not self.has_dag():
            return ""
        try:
            return str(write_shape(self, context, Path(folder)))
        except Exception as trouble:
            self.log.warning(
                "ProvSpark: The DAG's structure can't be read, so answers do not list tasks without capture: %s",
                trouble,
            )
            return ""

    def _get_hook(self) -> Any:
        hook = with_defaults(super()._get_hook(), binary_given=self._spark_binary is not None)
        if self._capture is None:
            return hook
        checks: list[Callable[[], object]] = [lambda: find_java(environment(hook))]
        if own_python(hook) or not driver_python(hook):
            checks.insert(0, lambda: check_pyspark())
        for check in checks:
            try:
                check()
            except ProvSparkError as error:
                self._trouble(error)
        self._refused = refusal(hook, self.application, self._java_class)
        if self._refused is None:
            return ProvSparkSubmitHook.around(hook, self._capture)
        self._trouble(NotCapturableError(f"This job runs without capture. {self._refused}"))
        return hook

    def _settle(self, started: str, error: Exception | None) -> dict[str, Any] | None:
        """Publish a refused step, update the catalogue, and return a summary. After a failed job, raise nothing."""
        assert self._capture is not None
        capture = self._capture
        try:
            if self._refused is not None:
                outcome.publish_untracked(capture, self._refused, started, error)
            manifest = outcome.read(capture, failed=error is not None)
            self._tell_catalogue(manifest, error)
            if self._refused is None:
                for line in outcome.losses(manifest):
                    self._trouble(CaptureError(line))
            summary = summaries.summary(capture.store, manifest)
            if error is None and self._refused is None:
                self._log_success(manifest, summary)
            return summary
        except Exception as trouble:
            if error is None and self.on_error == "fail":
                raise
            self.log.warning("ProvSpark: Lineage for this step is unavailable: %s", trouble)
            return None

    def _log_success(self, manifest: Manifest, summary: dict[str, Any]) -> None:
        try:
            self.log.info("%s", summaries.success(manifest, summary))
        except Exception as trouble:  # a log line must not fail the task
            self.log.debug("ProvSpark: The captured rows can't be reported", exc_info=trouble)

    def _publish_earlier_tries(self) -> None:
        assert self._capture is not None
        try:
            steps = outcome.publish_earlier_tries(self._capture)
        except Exception as trouble:  # the job comes first; `provspark repair` can do it later
            self.log.debug("ProvSpark: Earlier tries could not be checked", exc_info=trouble)
            return
        for step in steps:
            self.log.info(
                "ProvSpark: Published the lineage that an earlier try had completed before it was killed: step %s", step
            )

    def _tell_catalogue(self, manifest: Manifest, error: Exception | None) -> None:
        """Add the step to the catalogue. If that fails, the step is still in the store."""
        assert self._capture is not None
        store = self._capture.store
        catalogue = self.prov_catalogue or Settings.read(airflow=True).catalogue
        try:
            outcome.ingest(catalogue, store, manifest)
        except Exception as trouble:
            if error is None and self.on_error == "fail":
                raise
            self.log.warning(
                "ProvSpark: The catalogue was not updated: %s The lineage of this step is complete in the store %s. To "
                "add it to the catalogue, run `provspark catalogue rebuild` with a --store option for each store.",
                str(trouble).rstrip(".") + ".",
                store,
            )

    def get_openlineage_facets_on_start(self) -> OperatorLineage:
        """Return no datasets: they are not known before the job runs."""
        return _lineage()

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> OperatorLineage:
        """Return the step's datasets with ProvSpark's facets, for the task's OpenLineage event."""
        store = self._store() if self.prov_mode != "off" else None
        if store is None:
            return _lineage()
        from provspark.airflow.events import facets_for, start_facets
        from provspark.index_store.store.store import Store

        capture = CaptureArguments(store, _key(task_instance), self.on_error)
        try:
            opened = Store.open(store)
            facets = facets_for(store, opened.manifest(capture.key.id), opened)
        except ProvSparkError as error:
            self.log.warning("ProvSpark: The task's OpenLineage event contains no datasets and versions: %s", error)
            return _lineage(run_facets=start_facets(store, capture.key))
        return _lineage(inputs=facets.inputs, outputs=facets.outputs, run_facets=facets.run_facets)

    def get_openlineage_facets_on_failure(self, task_instance: Any) -> OperatorLineage:
        """Return the same as for completion: a failed step may have written datasets."""
        return self.get_openlineage_facets_on_complete(task_instance)

    def _store(self) -> str | None:
        return self.prov_store or Settings.read(airflow=True).store

    def _trouble(self, error: ProvSparkError) -> None:
        if self.on_error == "fail":
            raise error
        self.log.warning("ProvSpark: %s", error)


def _lineage(**parts: Any) -> OperatorLineage:
    from airflow.providers.openlineage.extractors import OperatorLineage

    return OperatorLineage(**parts)


def _key(ti: Any) -> StepKey:
    return StepKey(ti.task_id, ti.run_id, ti.dag_id, ti.map_index, ti.try_number)


def _one_of(name: str, value: str, valid: tuple[str, ...]) -> None:
    if value not in valid:
        raise SettingsError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, valid))}")
