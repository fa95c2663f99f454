"""`ProvHook`: lineage queries from a task, through a connection of type ``provspark``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import BaseHook

import provspark
from provspark.api import Provenance
from provspark.index_store.query.question import QUESTIONS, RENAMED
from provspark.model.errors import SettingsError

if TYPE_CHECKING:
    _Questions = Provenance
else:
    _Questions = object

__all__ = ["ProvHook"]


class ProvHook(BaseHook, _Questions):  # type: ignore[misc]
    """Query the lineage of a store or a catalogue. All questions of `Provenance` are methods.

    Parameters
    ----------
    prov_conn_id : str
        A connection of type ``provspark`` with the fields ``store`` and ``catalogue``, which are in its extra. If both
        are set, queries use the catalogue.

    Raises
    ------
    SettingsError
        Raised by the first query if the connection has neither field.

    Examples
    --------
    Find the source rows of the report's first row::

        ProvHook("prov").backward("file:///data/report", [0], to="file:///data/census.csv")
    """

    conn_name_attr = "prov_conn_id"
    default_conn_name = "provspark_default"
    conn_type = "provspark"
    hook_name = "ProvSpark"

    def __init__(self, prov_conn_id: str = default_conn_name, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.prov_conn_id = prov_conn_id
        self._opened: Provenance | None = None

    def get_conn(self) -> Provenance:
        """Return the open `Provenance`, the same object at each call. Call its `refresh` to see newer steps."""
        if self._opened is None:
            self._opened = provspark.open(self._url())
        return self._opened

    def test_connection(self) -> tuple[bool, str]:
        """Return whether the store or catalogue can be read, and a message, for Airflow's connection test."""
        try:
            return True, f"{len(self.get_conn().datasets())} datasets"
        except Exception as error:
            return False, str(error)

    def _url(self) -> str:
        extra = self.get_connection(self.prov_conn_id).extra_dejson
        url = extra.get("catalogue") or extra.get("store")
        if not url:
            raise SettingsError(
                f"connection {self.prov_conn_id!r} names neither a store nor a catalogue; "
                f'set one in its fields, or in its extra: {{"store": "file:///data/prov"}}'
            )
        return str(url)


def _asking(name: str) -> Callable[..., Any]:
    function = getattr(Provenance, name)

    @wraps(function)
    def ask(hook: ProvHook, *args: Any, **kwargs: Any) -> Any:
        return getattr(hook.get_conn(), name)(*args, **kwargs)

    return ask


for _name in {*QUESTIONS, *RENAMED} - vars(ProvHook).keys():
    setattr(ProvHook, _name, _asking(_name))
