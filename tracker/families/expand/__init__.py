"""Expand."""
