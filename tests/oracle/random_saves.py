"""How random plans are written: formats, modes, partitions, buckets, SQL; the first is drawn most often."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

_names = count()
OLD = (9, "old", 9)
"""The row that is there before, where something is."""


@dataclass(frozen=True, slots=True)
class Save:
    """One way: how a frame is written to a path, of what format that is, and what is there before."""

    name: str
    write: Callable[[Any, str], Any]
    form: str = "parquet"
    before: str = ""
    """Nothing, ``rows``, or ``partitions``: a row in a folder ``p=9`` and one in ``p=1``."""
    followed: bool = True
    """Whether the rows read back are (p, q, r), so that their edges can be compared with the oracle's."""

    def prepare(self, path: Path) -> None:
        """Put there what is to be there before."""
        if self.before == "rows":
            _file(path / "old.parquet", {"p": OLD[0], "q": OLD[1], "r": OLD[2]})
        elif self.before == "partitions":
            _file(path / "p=9" / "old.parquet", {"q": OLD[1], "r": OLD[2]})
            _file(path / "p=1" / "old.parquet", {"q": OLD[1], "r": OLD[2]})


def _file(path: Path, row: dict[str, Any]) -> None:
    types = {"p": pa.int32(), "q": pa.string(), "r": pa.int64()}
    path.parent.mkdir(parents=True)
    pyarrow.parquet.write_table(pa.table({k: pa.array([v], types[k]) for k, v in row.items()}), path)


def _table() -> str:
    return f"random_table_{next(_names)}"


def _bucketed(df: Any, path: str) -> None:
    df.write.bucketBy(2, "p").sortBy("r").option("path", path).saveAsTable(_table())


def _created(df: Any, path: str) -> None:
    df.sparkSession.sql(f"CREATE TABLE {_table()} USING parquet LOCATION '{path}' AS SELECT * FROM {{d}}", d=df)


def _inserted(df: Any, path: str) -> None:
    name, columns = _table(), "p INT, q STRING, r BIGINT"
    df.sparkSession.sql(f"CREATE TABLE {name} ({columns}) USING parquet LOCATION '{path}'")
    df.sparkSession.sql(f"INSERT INTO {name} SELECT * FROM {{d}}", d=df)


def _dynamic(df: Any, path: str) -> None:
    df.write.mode("overwrite").partitionBy("p").option("partitionOverwriteMode", "dynamic").parquet(path)


def _text(df: Any, path: str) -> None:
    df.selectExpr("to_json(struct(p, q, r)) AS t").write.text(path)


SAVES: tuple[Save, ...] = (
    Save("Parquet", lambda df, path: df.write.parquet(path)),
    Save("ORC", lambda df, path: df.write.orc(path), "orc"),
    Save("JSON", lambda df, path: df.write.json(path), "json", followed=False),
    Save("CSV", lambda df, path: df.write.option("compression", "gzip").csv(path), "csv", followed=False),
    Save("text", _text, "text", followed=False),
    Save("XML", lambda df, path: df.write.option("rowTag", "row").xml(path), "xml", followed=False),
    Save("partitioned", lambda df, path: df.write.partitionBy("p").parquet(path), followed=False),
    Save("bucketed", _bucketed),
    Save("appended", lambda df, path: df.write.mode("append").parquet(path), before="rows", followed=False),
    Save("overwritten", lambda df, path: df.write.mode("overwrite").parquet(path), before="rows"),
    Save("partitions overwritten", _dynamic, before="partitions", followed=False),
    Save("created as select", _created),
    Save("inserted", _inserted),
    Save("two rows a file", lambda df, path: df.write.option("maxRecordsPerFile", 2).parquet(path)),
    Save("there already", lambda df, path: df.write.parquet(path), before="rows"),
    Save("ignored", lambda df, path: df.write.mode("ignore").parquet(path), before="rows", followed=False),
)


def save_of(rng: random.Random) -> Save:
    """Draw a way: Parquet in three of five."""
    return SAVES[0] if rng.random() < 0.6 else rng.choice(SAVES)
