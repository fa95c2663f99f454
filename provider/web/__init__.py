"""The HTTP API and the page, for Airflow's plugin and for `provspark serve`."""
