"""Tables of a database: a row is told by its key columns, its row id is its place in the keys' order.

A version of such a table is its set of keys. It stands in the store as one file whose name is a hash of the keys.
An address is half of a 64-bit hash of a row's keys; addresses of one table are all different, or it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.errors import CaptureError, UnsupportedPlanError
from provspark.model.pending import PendingVersion
from provspark.tracker.families.scan import RELATION
from provspark.tracker.sources.contract import Segments
from provspark.tracker.spark.reasons import reason

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm

FORMAT = "jdbc"


@dataclass(frozen=True, slots=True)
class TableKeys:
    """The keys that a table had.

    Parameters
    ----------
    addresses : int64 array
        Of each row, in the order of the keys.
    digest : str
        Hash of the keys.
    size : int
        Bytes of the keys as texts.
    """

    addresses: Int64
    digest: str
    size: int

    def segments(self) -> Segments:
        """Return each row as a block of its own."""
        order = np.argsort(self.addresses)
        return Segments(self.addresses[order], order.astype(np.int64), np.ones(len(order), dtype=np.int64))


class KeyedTable:
    """A table that JDBC reaches.

    Parameters
    ----------
    jvm : Jvm
    source : LogicalRelation or java.util.Map
        What reads it, or the options of a writer.
    node : str
        For messages: who reads or writes it.

    Raises
    ------
    UnsupportedPlanError
        It has no declared key columns, or is a query or of a database that is not known.
    """

    def __init__(self, jvm: Jvm, source: Any, node: str) -> None:
        self.java = jvm.new("JdbcTable", jvm.session, source)
        self.keys = str(self.java.keys())
        if not self.keys:
            raise UnsupportedPlanError(
                node,
                "rows of a database's table have no place: name the columns that tell them apart, by the option "
                "provsparkKeys or the setting spark.provspark.keys.TABLE",
            )
        try:
            name = str(self.java.dataset())
        except Exception as e:
            raise UnsupportedPlanError(node, f"the database does not tell the table's name: {reason(e)}") from e
        if not name:
            raise UnsupportedPlanError(
                node, "this is no table of PostgreSQL or Derby by its name; queries have no keys to go by"
            )
        self.dataset = Dataset(*name.split("\0"))

    def read(self) -> TableKeys:
        """Read the keys that the table has now.

        Raises
        ------
        CaptureError
            They are null, or not unique, or can't be read.
        """
        try:
            addresses = np.frombuffer(bytes(self.java.addresses()), dtype="<i8").astype(np.int64)
        except Exception as e:
            raise CaptureError(f"{self.dataset} can't be followed by its keys ({self.keys}): {reason(e)}") from e
        return TableKeys(addresses, str(self.java.digest()), int(self.java.size()))

    def version(self, keys: TableKeys, *, written: bool = False) -> PendingVersion:
        """Return the version that these keys are."""
        items = str(self.java.fields()).split("\0")[:-1]
        files = Files.of([(f"keys-{keys.digest}", keys.size, 0, len(keys.addresses), written)])
        fields = tuple(Field(n, t) for n, t in zip(items[::2], items[1::2], strict=True))
        return PendingVersion(self.dataset, files, FORMAT, (("keys", self.keys),), fields)


class KeyedScan:
    """One reading of a table."""

    listing = None
    """Its rows are in no file."""

    def __init__(self, jvm: Jvm, relation: Any) -> None:
        self._table = KeyedTable(jvm, relation, RELATION)
        self.dataset = self._table.dataset
        self._keys = self._table.read()
        try:
            self.plan = self._table.java.addressed(relation)
        except Exception as e:
            raise UnsupportedPlanError(RELATION, reason(e)) from e

    def finish(self) -> tuple[PendingVersion, Segments]:
        """See whether the table still has the keys that it had; see `Scan.finish`."""
        now = self._table.read()
        if now.digest != self._keys.digest:
            raise CaptureError(
                f"{self.dataset} had {len(self._keys.addresses)} rows and now has {len(now.addresses)}, or others: "
                f"it was changed while it was read; run the step again when nothing writes there"
            )
        return self._table.version(now), now.segments()
