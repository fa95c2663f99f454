"""Taps in rewritten plans, and what they record."""
