"""Scans of files."""
