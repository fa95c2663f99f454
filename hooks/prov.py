"""Questions of lineage from a task: the connection type ``provspark``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import BaseHook

import provspark
from provspark.model.errors import SettingsError

if TYPE_CHECKING:
    import pyarrow as pa

    from provspark.api import (
        Correspondence,
        Derivations,
        Explanations,
        Impact,
        Located,
        Profile,
        Provenance,
        RowSet,
        Trace,
    )
    from provspark.replay.history import History
    from provspark.replay.records import Replayed
    from provspark.replay.shared_witnesses import SharedRows
    from provspark.replay.spread import OperationProfiles
    from provspark.replay.why_not import WhyNot

__all__ = ["ProvHook"]

Rows = Iterable[int]


class ProvHook(BaseHook):  # type: ignore[misc]
    """Answers questions of lineage from a store or a catalogue.

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
            return True, f"{self.get_conn().datasets().num_rows} data sets"
        except Exception as error:
            return False, str(error)

    def datasets(self) -> pa.Table:
        """What `Provenance.datasets` returns."""
        return self.get_conn().datasets()

    def steps(self) -> pa.Table:
        """What `Provenance.steps` returns."""
        return self.get_conn().steps()

    def backward(self, dataset: str, rows: Rows | None = None, **options: Any) -> pa.Table:
        """Find the rows that rows came from; see `Provenance.backward`."""
        return self.get_conn().backward(dataset, rows, **options)

    def forward(self, dataset: str, rows: Rows | None = None, **options: Any) -> pa.Table:
        """Find the rows that rows went into; see `Provenance.forward`."""
        return self.get_conn().forward(dataset, rows, **options)

    def trace(self, dataset: str, rows: Rows | None = None, **options: Any) -> Trace:
        """Draw the way of a set of rows; see `Provenance.trace`."""
        return self.get_conn().trace(dataset, rows, **options)

    def co_contributory(self, dataset: str, rows: Rows | None = None, **options: Any) -> pa.Table:
        """Find what rows were used with; see `Provenance.co_contributory`."""
        return self.get_conn().co_contributory(dataset, rows, **options)

    def co_dependency(self, dataset: str, rows: Rows | None = None, **options: Any) -> pa.Table:
        """Find the rows that share a witness with rows; see `Provenance.co_dependency`."""
        return self.get_conn().co_dependency(dataset, rows, **options)

    def composition(self, dataset: str, rows: Rows | None = None, **options: Any) -> pa.Table:
        """Tell how witnesses divide over a column of theirs; see `Provenance.composition`."""
        return self.get_conn().composition(dataset, rows, **options)

    def correspondence(self, dataset: str, rows: Rows | None = None, **options: Any) -> Correspondence:
        """Relate all rows of two data sets; see `Provenance.correspondence`."""
        return self.get_conn().correspondence(dataset, rows, **options)

    def derivations(self, dataset: str, rows: Rows | None = None, **options: Any) -> Derivations:
        """List the ways in which rows came about; see `Provenance.derivations`."""
        return self.get_conn().derivations(dataset, rows, **options)

    def columns(self, dataset: str, column: Any = None, **options: Any) -> pa.Table:
        """Find the columns that columns came from or went into; see `Provenance.columns`."""
        return self.get_conn().columns(dataset, column, **options)

    def cells(self, dataset: str, rows: Rows | None = None, columns: Any = None, **options: Any) -> pa.Table:
        """Find the cells that cells came from or went into; see `Provenance.cells`."""
        return self.get_conn().cells(dataset, rows, columns, **options)

    def how(self, dataset: str, rows: Rows | None = None, **options: Any) -> Explanations:
        """Find rows and the operations on the way to each; see `Provenance.how`."""
        return self.get_conn().how(dataset, rows, **options)

    def operations(self, what: str, rows: Rows | None = None, column: Any = None, **options: Any) -> pa.Table:
        """List the operations of a step, or behind a data set; see `Provenance.operations`."""
        return self.get_conn().operations(what, rows, column, **options)

    def dropped(self, dataset: str, column: Any = None, **options: Any) -> pa.Table:
        """Tell which operations dropped columns; see `Provenance.dropped`."""
        return self.get_conn().dropped(dataset, column, **options)

    def before_after(self, dataset: str, rows: Rows | None = None, **options: Any) -> Replayed:
        """Tell the values of rows after each operation of a step; see `Provenance.before_after`."""
        return self.get_conn().before_after(dataset, rows, **options)

    def history(self, dataset: str, rows: Rows | None = None, columns: Any = None, **options: Any) -> History:
        """Tell what rows or cells derive from and what derives from them; see `Provenance.history`."""
        return self.get_conn().history(dataset, rows, columns, **options)

    def co_contributory_lines(
        self, dataset: str, rows: Rows | None, operation: int, to: int, **options: Any
    ) -> SharedRows:
        """Find intermediate rows that were used with others; see `Provenance.co_contributory_lines`."""
        return self.get_conn().co_contributory_lines(dataset, rows, operation, to, **options)

    def co_dependency_lines(
        self, dataset: str, rows: Rows | None, operation: int, to: int, **options: Any
    ) -> SharedRows:
        """Find intermediate rows that share what they came from; see `Provenance.co_dependency_lines`."""
        return self.get_conn().co_dependency_lines(dataset, rows, operation, to, **options)

    def why_not(self, dataset: str, where: Any, **options: Any) -> WhyNot:
        """Tell why no row of a data set satisfies a condition; see `Provenance.why_not`."""
        return self.get_conn().why_not(dataset, where, **options)

    def counts(self, step: str, **options: Any) -> pa.Table:
        """Count the rows of each operation of a step; see `Provenance.counts`."""
        return self.get_conn().counts(step, **options)

    def select(self, dataset: str, rows: Rows | None = None, **options: Any) -> RowSet:
        """Select rows as a set; see `Provenance.select`."""
        return self.get_conn().select(dataset, rows, **options)

    def locate(self, dataset: Any, rows: Any = None, into: str | None = None, **options: Any) -> Located:
        """Find rows in another version of their dataset; see `Provenance.locate`.

        `into` is the version in which to look for the rows, by default the current one. `dataset` is a set of rows, an
        answer, or a name: then `rows` and the options (`version`, `run`, `as_of`, `where`) choose the rows, and the
        version that they are from.
        """
        prov = self.get_conn()
        chosen = prov.select(dataset, rows, **options) if isinstance(dataset, str) else dataset
        return prov.locate(chosen, into)

    def values(self, dataset: str, rows: Rows | None = None, **options: Any) -> pa.Table:
        """Read values of rows; see `Provenance.values`."""
        return self.get_conn().values(dataset, rows, **options)

    def profile(self, dataset: str, rows: Rows | None = None, **options: Any) -> Profile:
        """Tell how values are distributed; see `Provenance.profile`."""
        return self.get_conn().profile(dataset, rows, **options)

    def impact(self, step: str, column: str | None = None, **options: Any) -> Impact:
        """Tell what a step did to the distribution of values; see `Provenance.impact`."""
        return self.get_conn().impact(step, column, **options)

    def operation_profiles(self, step: str, operations: Any = None, **options: Any) -> OperationProfiles:
        """Tell what operations of a step did to it, by running them; see `Provenance.operation_profiles`."""
        return self.get_conn().operation_profiles(step, operations, **options)

    def _url(self) -> str:
        extra = self.get_connection(self.prov_conn_id).extra_dejson
        url = extra.get("catalogue") or extra.get("store")
        if not url:
            raise SettingsError(
                f"connection {self.prov_conn_id!r} names neither a store nor a catalogue; "
                f'set them in its fields, or in its extra: {{"store": "file:///data/prov"}}'
            )
        return str(url)
