"""Alembic migrations of the catalogue; `migration.py` runs them."""
