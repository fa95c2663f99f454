"""The HTTP API and the page over it, for Airflow's plugin and for `provspark serve`."""
