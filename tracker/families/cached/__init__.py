"""Cached and checkpointed rows, RDDs, and rows that the script made."""
