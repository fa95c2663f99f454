"""Integration with Airflow and OpenLineage: provider info, plugin, facets and events."""
