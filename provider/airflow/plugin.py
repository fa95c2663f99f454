"""The plugin: the page in Airflow's navigation and tabs, and the API that it asks."""

from __future__ import annotations

from functools import cache
from typing import Any

from airflow.plugins_manager import AirflowPlugin

__all__ = ["ProvSparkPlugin"]

_ROOT = "/provspark"
_DESTINATIONS = ("nav", "dag_run", "task", "task_instance")


class ProvSparkPlugin(AirflowPlugin):  # type: ignore[misc]
    """The page of provenance, behind Airflow's login and its permissions on DAGs."""

    name = "provspark"

    # A property: the app needs the auth manager, which other commands of Airflow do without.
    @property
    def fastapi_apps(self) -> list[dict[str, Any]]:
        """The API and the page's files, below /provspark."""
        return [{"app": _app(), "url_prefix": _ROOT, "name": "ProvSpark"}]

    react_apps = [  # noqa: RUF012
        {
            "name": "Provenance",
            # Relative to the base of Airflow's pages, which may lie below a path. A query of its own for each
            # place: the host would show a cached import as a missing page.
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
