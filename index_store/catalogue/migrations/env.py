"""Entry point of Alembic: migrates with the connection, and in the transaction, that `migration.py` passes."""

from __future__ import annotations

from alembic import context

from provspark.index_store.catalogue.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
context.run_migrations()
