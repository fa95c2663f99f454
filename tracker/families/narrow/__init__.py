"""Operators that order, move, keep or drop rows."""
