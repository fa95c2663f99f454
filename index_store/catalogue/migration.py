"""Migration of a catalogue's tables to the newest schema."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, column, inspect, select, table

from provspark.index_store.catalogue.database import Database
from provspark.index_store.catalogue.schema import HEAD, VERSION_TABLE
from provspark.model.errors import CatalogueError, NoCatalogueError

_INIT = "Check the URL, or create the catalogue with `provspark catalogue init`."


def ensure_head(database: Database, migrate: bool, beside: bool = False, older: bool = False) -> None:
    """Migrate to `HEAD` if `migrate` is set; several processes may do so at once. Otherwise write nothing.

    Tables are created beside those of another application only if `beside` is set. With `older`, an older schema stays.

    Raises
    ------
    NoCatalogueError
        The database has no tables of a catalogue, and they may not be created.
    CatalogueError
        The database does not answer, has a newer schema, or an older one and neither `migrate` nor `older` is set.
    """
    if not migrate and database.missing():
        raise NoCatalogueError(f"There is no catalogue at {database.where}: the file does not exist. {_INIT}")
    with database.read() as connection:
        revision = _revision(connection)
        names = inspect(connection).get_table_names()
        others = sorted(name for name in names if not name.startswith("provspark_"))
    if revision == HEAD:
        return
    _check_known(database.where, revision)
    if older and revision is not None:
        return
    if not migrate:
        if revision is None:
            raise NoCatalogueError(f"There is no catalogue at {database.where}: it has no tables of ProvSpark. {_INIT}")
        raise CatalogueError(
            f"The catalogue {database.where} has schema {revision}, and this version of provspark needs {HEAD}. "
            f"Run `provspark catalogue upgrade` as a user who can change tables."
        )
    if others and not beside:
        some = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")
        raise NoCatalogueError(
            f"{database.where} contains tables of another application ({some}) but no catalogue. Use a separate "
            "database for the catalogue, or run `provspark catalogue init --beside-others` to create its tables in "
            "this one."
        )
    with database.migrating() as connection:
        revision = _revision(connection)
        _check_known(database.where, revision)
        if revision != HEAD:
            _upgrade(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    revision: str | None = connection.scalar(select(column("version_num")).select_from(table(VERSION_TABLE)))
    return revision


def _scripts() -> Path:
    return Path(__file__).with_name("migrations")


def _check_known(where: str, revision: str | None) -> None:
    from alembic.script import ScriptDirectory

    known = {script.revision for script in ScriptDirectory(str(_scripts())).walk_revisions()}
    if revision is not None and revision not in known:
        raise CatalogueError(
            f"{where} has catalogue schema {revision}; this version of provspark supports up to {HEAD}. "
            f"Upgrade airflow-provider-provspark on this machine."
        )


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_scripts()).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
