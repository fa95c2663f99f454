"""The plugin: the HTTP API behind Airflow's login."""

from __future__ import annotations

from functools import cache
from typing import Any

from airflow.plugins_manager import AirflowPlugin

__all__ = ["ProvSparkPlugin"]

_ROOT = "/provspark"


class ProvSparkPlugin(AirflowPlugin):  # type: ignore[misc]
    """The API of provenance, behind Airflow's login and its permissions on DAGs."""

    name = "provspark"

    # A property: the app needs the auth manager, which other commands of Airflow do without.
    @property
    def fastapi_apps(self) -> list[dict[str, Any]]:
        """The API, below /provspark."""
        return [{"app": _app(), "url_prefix": _ROOT, "name": "ProvSpark"}]


@cache
def _app() -> Any:
    from provspark.web.airflow import airflow_app

    return airflow_app()
