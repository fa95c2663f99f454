"""Database tables: key columns identify a row, and its row id is its position in the order of the keys.

A version of such a table is its set of keys. The store represents it as one file, named by a hash of the keys. A row's
address is a 63-bit hash of its keys. A table with two equal addresses is refused.
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
    """All keys of a table at one time.

    Parameters
    ----------
    addresses : int64 array
        Address of each row, in the order of the keys.
    digest : str
        Hash of all keys.
    size : int
        Total size of the keys as texts, in bytes.
    """

    addresses: Int64
    digest: str
    size: int

    def segments(self) -> Segments:
        """Return segments in which each row is its own block."""
        order = np.argsort(self.addresses)
        return Segments(self.addresses[order], order.astype(np.int64), np.ones(len(order), dtype=np.int64))


class KeyedTable:
    """A database table that is read or written by JDBC.

    Parameters
    ----------
    jvm : Jvm
    source : LogicalRelation or java.util.Map
        The relation that reads it, or the options of a writer.
    node : str
        Name of the plan node or writer, for messages.

    Raises
    ------
    UnsupportedPlanError
        No key columns are declared, it is a query, or capture does not support the database.
    """

    def __init__(self, jvm: Jvm, source: Any, node: str) -> None:
        self.java = jvm.new("JdbcTable", jvm.session, source)
        self.keys = str(self.java.keys())
        if not self.keys:
            raise UnsupportedPlanError(
                node,
                "no key columns are declared for the database table; name the columns that identify a row in the "
                "option provsparkKeys or in the setting spark.provspark.keys.TABLE",
            )
        try:
            name = str(self.java.dataset())
        except Exception as e:
            raise UnsupportedPlanError(node, f"could not determine the table's full name: {reason(e)}") from e
        if not name:
            raise UnsupportedPlanError(
                node,
                "capture supports JDBC only for tables of PostgreSQL and Derby, and no queries; pass the table's name",
            )
        self.dataset = Dataset(*name.split("\0"))

    def read(self) -> TableKeys:
        """Read the table's current keys.

        Raises
        ------
        CaptureError
            The keys are null, not unique, or can't be read.
        """
        try:
            addresses = np.frombuffer(bytes(self.java.addresses()), dtype="<i8").astype(np.int64)
        except Exception as e:
            raise CaptureError(
                f"the declared key columns ({self.keys}) of {self.dataset} don't identify its rows: {reason(e)}. "
                f"Declare columns that are unique and not null"
            ) from e
        return TableKeys(addresses, str(self.java.digest()), int(self.java.size()))

    def version(self, keys: TableKeys, *, written: bool = False) -> PendingVersion:
        """Return the version of the table with these keys."""
        items = str(self.java.fields()).split("\0")[:-1]
        files = Files.of([(f"keys-{keys.digest}", keys.size, 0, len(keys.addresses), written)])
        fields = tuple(Field(n, t) for n, t in zip(items[::2], items[1::2], strict=True))
        return PendingVersion(self.dataset, files, FORMAT, (("keys", self.keys),), fields)


class KeyedScan:
    """Scan of a database table."""

    listing = None
    """None, because the rows are not in files."""

    def __init__(self, jvm: Jvm, relation: Any) -> None:
        self._table = KeyedTable(jvm, relation, RELATION)
        self.dataset = self._table.dataset
        self._keys = self._table.read()
        try:
            self.plan = self._table.java.addressed(relation)
        except Exception as e:
            raise UnsupportedPlanError(RELATION, reason(e)) from e

    def finish(self) -> tuple[PendingVersion, Segments]:
        """Check that the table's keys have not changed; see `Scan.finish`."""
        now = self._table.read()
        if now.digest != self._keys.digest:
            raise CaptureError(
                f"{self.dataset} was changed while it was read: it had {len(self._keys.addresses)} rows before and "
                f"{len(now.addresses)} after, or its keys changed; run the step again while nothing writes there"
            )
        return self._table.version(now), now.segments()
