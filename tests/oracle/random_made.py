"""Leaves of random plans whose rows no file has: made by the script, by a range, or by the query itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oracle.cases import Scans
from oracle.random_parts import COLUMNS, SCHEMA
from oracle.relation import Relation

ROWS = [(1, "a", 2), (None, "", None), (2, None, 5), (1, "a", 2)]


@dataclass(frozen=True, slots=True)
class Made:
    """A frame, and what the oracle says of its rows; `read` is False where the query makes rows of no origin."""

    frame: Callable[[Any], Any]
    rows: list[tuple[Any, ...]]
    read: bool = True

    def meaning(self, scans: Scans) -> Relation:
        """Return the rows, as a reading of a data set of their own or with no witnesses."""
        if self.read:
            return scans.made(COLUMNS, self.rows)
        return Relation.of(COLUMNS, [(row, ()) for row in self.rows])


def _pandas(spark: Any) -> Any:
    import pyarrow as pa

    columns = {c: [row[i] for row in ROWS] for i, c in enumerate(COLUMNS)}
    types = pa.schema([("p", pa.int32()), ("q", pa.string()), ("r", pa.int64())])
    return spark.createDataFrame(pa.table(columns, schema=types))


MADE: tuple[Made, ...] = (
    Made(
        lambda spark: spark.range(0, 5).selectExpr("CAST(id % 3 AS INT) AS p", "CAST('a' AS STRING) AS q", "id AS r"),
        [(i % 3, "a", i) for i in range(5)],
    ),
    Made(lambda spark: spark.createDataFrame(ROWS, SCHEMA), ROWS),
    Made(_pandas, ROWS),
    Made(
        lambda spark: spark.sql("SELECT * FROM VALUES (1, 'a', 2L), (3, CAST(NULL AS STRING), 4L) AS v(p, q, r)"),
        [(1, "a", 2), (3, None, 4)],
    ),
    Made(lambda spark: spark.sql("SELECT 1 AS p, 'b' AS q, 5L AS r"), [(1, "b", 5)], read=False),
    Made(
        lambda spark: spark.sql("SELECT v AS p, 'a' AS q, CAST(v AS BIGINT) AS r FROM explode(array(1, 2)) AS t(v)"),
        [(1, "a", 1), (2, "a", 2)],
        read=False,
    ),
)
