"""Brings a catalogue's tables to the newest migration, or says why not."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, column, inspect, select, table

from provspark.errors import CatalogueError
from provspark.index_store.catalogue.database import Database
from provspark.index_store.catalogue.schema import HEAD, VERSION_TABLE


def ensure_head(database: Database, migrate: bool) -> None:
    """Migrate to `HEAD` if `migrate` is set; several processes may do so at once.

    Raises
    ------
    CatalogueError
        The database does not answer, has a newer schema, or an older one and `migrate` is not set.
    """
    with database.read() as connection:
        found = _revision(connection)
    if found == HEAD:
        return
    _check_known(database.where, found)
    if not migrate:
        has = f"schema {found}" if found else "no tables yet"
        raise CatalogueError(
            f"{database.where} has {has}, this version of provspark needs schema {HEAD}; "
            f"open it once with migrate=True as a user who may create tables"
        )
    with database.migrating() as connection:
        found = _revision(connection)
        _check_known(database.where, found)
        if found != HEAD:
            _upgrade(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found: str | None = connection.scalar(select(column("version_num")).select_from(table(VERSION_TABLE)))
    return found


def _scripts() -> Path:
    return Path(__file__).with_name("migrations")


def _check_known(where: str, found: str | None) -> None:
    from alembic.script import ScriptDirectory

    known = {script.revision for script in ScriptDirectory(str(_scripts())).walk_revisions()}
    if found is not None and found not in known:
        raise CatalogueError(
            f"{where} has catalogue schema {found}; this version of provspark knows up to {HEAD}. "
            f"Upgrade airflow-provider-provspark on this machine."
        )


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_scripts()).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
