"""What Airflow and OpenLineage see of ProvSpark: provider info, plugin, facets, events."""
