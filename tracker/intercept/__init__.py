"""What stands between a script and Spark: patched methods, SQL statements, listeners."""
