"""Questions of lineage from a task: the connection type ``provspark``."""

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
    """Answers questions of lineage from a store or a catalogue: it has all questions of `Provenance` as methods.

    Parameters
    ----------
    prov_conn_id : str
        A connection of type ``provspark``: its fields are ``store`` and ``catalogue``, in the connection's
        extra. Where both are set, questions start at the catalogue.

    Raises
    ------
    SettingsError
        On the first question, where the connection names neither.

    Examples
    --------
    In a task, the source lines of the report's first row::

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
        """Return the open `Provenance`, the same at each call; its `refresh` sees newer steps."""
        if self._opened is None:
            self._opened = provspark.open(self._url())
        return self._opened

    def test_connection(self) -> tuple[bool, str]:
        """Say whether the store or catalogue answers, as Airflow's page of connections asks."""
        try:
            return True, f"{len(self.get_conn().datasets())} data sets"
        except Exception as error:
            return False, str(error)

    def _url(self) -> str:
        extra = self.get_connection(self.prov_conn_id).extra_dejson
        url = extra.get("catalogue") or extra.get("store")
        if not url:
            raise SettingsError(
                f"connection {self.prov_conn_id!r} names neither a store nor a catalogue; "
                f'set them in its fields, or in its extra: {{"store": "file:///data/prov"}}'
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
