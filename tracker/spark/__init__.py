"""Differences between versions of Spark, and access to the JVM."""
