"""Alembic migrations of the catalogue; `migrate.py` runs them."""
