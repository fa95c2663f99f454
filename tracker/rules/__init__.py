"""Rewrite rules, one Spark operator family a file."""
