"""The plugin by which Airflow knows the package in its list of plugins."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin

__all__ = ["ProvSparkPlugin"]


class ProvSparkPlugin(AirflowPlugin):  # type: ignore[misc]
    """ProvSpark in ``airflow plugins`` and on Airflow's page of plugins."""

    name = "provspark"
