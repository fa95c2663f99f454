"""A home for Airflow."""

import _airflow_home  # noqa: F401
