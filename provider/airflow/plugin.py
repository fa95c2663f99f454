"""Airflow plugin: the page in Airflow's navigation and tabs, and the API that the page uses."""

from __future__ import annotations

from functools import cache
from typing import Any

from airflow.plugins_manager import AirflowPlugin

__all__ = ["ProvSparkPlugin"]

_ROOT = "/provspark"
_DESTINATIONS = ("nav", "dag_run", "task", "task_instance")


class ProvSparkPlugin(AirflowPlugin):  # type: ignore[misc]
    """Adds the provenance page to Airflow's UI, with Airflow's login and DAG permissions."""

    name = "provspark"

    # A property, because the app needs the auth manager, which most Airflow commands do not load.
    @property
    def fastapi_apps(self) -> list[dict[str, Any]]:
        """FastAPI app with the API and the page's files, below /provspark."""
        return [{"app": _app(), "url_prefix": _ROOT, "name": "ProvSpark"}]

    react_apps = [  # noqa: RUF012
        {
            "name": "Provenance",
            # Relative to the base of Airflow's UI, which may be below a path. Each place has its own query string,
            # because Airflow shows a cached import as a missing page.
            "bundle_url": f"provspark/static/page.js?app={destination}",
            "destination": destination,
            "url_route": "provspark" if destination == "nav" else f"provspark-{destination.replace('_', '-')}",
            "nav_top_level": True,
            "icon": "provspark/static/icon.svg",
            "icon_dark_mode": "provspark/static/icon-dark.svg",
        }
        for destination in _DESTINATIONS
    ]


@cache
def _app() -> Any:
    from provspark.web.airflow import airflow_app

    return airflow_app()
