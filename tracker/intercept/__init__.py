"""Interception of a script's calls to Spark: patched methods, SQL statements, listeners."""
