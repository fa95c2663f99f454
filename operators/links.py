"""Link from a task instance in Airflow's UI to its provenance."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urljoin

from airflow.configuration import conf
from airflow.sdk import BaseOperatorLink

__all__ = ["ProvenanceLink"]


class ProvenanceLink(BaseOperatorLink):  # type: ignore[misc]
    """Button that opens the provenance tab of a task instance."""

    name = "Provenance"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """Return the URL of the task instance's provenance tab. The worker calls this after the task has ended."""
        parts = ["dags", ti_key.dag_id, "runs", ti_key.run_id, "tasks", ti_key.task_id]
        if ti_key.map_index >= 0:
            parts += ["mapped", str(ti_key.map_index)]
        path = "/".join(quote(part, safe="") for part in [*parts, "plugin", "provspark-task-instance"])
        base = conf.get("api", "base_url", fallback="") or "/"
        return urljoin(base.rstrip("/") + "/", path)
