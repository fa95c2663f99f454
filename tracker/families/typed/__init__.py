"""Typed functions of Scala and Java."""
