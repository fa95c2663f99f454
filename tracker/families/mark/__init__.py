"""Aliases that normalising leaves."""
