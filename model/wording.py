"""Counts of things in words."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 row``, ``32,561 rows``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
