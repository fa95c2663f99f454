"""Default store and catalogue, from environment variables or the section ``[provspark]`` of Airflow's configuration."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from provspark.model.errors import SettingsError

__all__ = ["Settings"]

SECTION = "provspark"


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the environment and of Airflow's configuration.

    Parameters
    ----------
    store : str or None
        URL of the store.
    catalogue : str
        SQLAlchemy URL of the catalogue.
    catalogue_given : bool
        False if `catalogue` is the default: SQLite in ``$AIRFLOW_HOME``, or else in ``~/.provspark``.
    trusted : tuple of str
        Entries that the command line and Airflow tasks add to the parameter `trust` of questions.
    """

    store: str | None
    catalogue: str
    catalogue_given: bool
    trusted: tuple[str, ...] = ()

    @classmethod
    def read(cls, environ: Mapping[str, str] | None = None, *, airflow: bool = False) -> Settings:
        """Read ``PROVSPARK_STORE``, ``PROVSPARK_CATALOGUE`` and ``PROVSPARK_TRUSTED`` (separated by commas).

        Parameters
        ----------
        environ : mapping, optional
            Environment variables. Default: those of the process.
        airflow : bool
            If Airflow is installed, also read the options ``store``, ``catalogue`` and ``trusted`` in the section
            ``[provspark]`` of its configuration. Environment variables take precedence.
        """
        env = os.environ if environ is None else environ
        store, catalogue = env.get("PROVSPARK_STORE"), env.get("PROVSPARK_CATALOGUE")
        trusted = env.get("PROVSPARK_TRUSTED")
        if airflow and find_spec("airflow") is not None:
            from airflow.configuration import conf

            store = store or conf.get(SECTION, "store", fallback=None)
            catalogue = catalogue or conf.get(SECTION, "catalogue", fallback=None)
            trusted = trusted or conf.get(SECTION, "trusted", fallback=None)
        listed = tuple(one.strip() for one in (trusted or "").split(",") if one.strip())
        return cls(store or None, catalogue or _default_catalogue(env), bool(catalogue), listed)

    def url(self, given: str | None = None) -> str:
        """Return the URL to read from: `given`, or else the store or the catalogue that is set.

        Raises
        ------
        SettingsError
            None of them is set.
        """
        url = given or self.store or (self.catalogue if self.catalogue_given else None)
        if not url:
            raise SettingsError(f"no store to read: {_HOW}, or set PROVSPARK_CATALOGUE to a catalogue's URL")
        return url

    def store_url(self, given: str | None = None) -> str:
        """Return the store to write to: `given`, or else the store that is set.

        Raises
        ------
        SettingsError
            Neither is set.
        """
        url = given or self.store
        if not url:
            raise SettingsError(f"no store: {_HOW}")
        return url


_HOW = "pass --store URL, or set PROVSPARK_STORE to a folder's path or URL"


def _default_catalogue(env: Mapping[str, str]) -> str:
    home = env.get("AIRFLOW_HOME")
    folder = Path(home).expanduser() if home else Path.home() / ".provspark"
    return f"sqlite:///{(folder / ('provspark.db' if home else 'catalogue.db')).absolute()}"
