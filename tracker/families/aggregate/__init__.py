"""Aggregate: groups of rows become one row each."""
