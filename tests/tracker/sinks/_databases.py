"""A database of a real PostgreSQL, a store, and Spark's way to both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from _postgres import driver
from sqlalchemy import create_engine, text

import provspark
from provspark.tracker import attach

PEOPLE = {(f"p{i * 7 % 50:02}", 1 + i % 3): (i, None if i % 5 == 0 else f"t{i % 4}") for i in range(50)}
"""By two key columns: a number and a text."""


class World:
    """A database, a store, and Spark's way to both."""

    def __init__(self, spark: Any, url: str, folder: Path, jar: str) -> None:
        spark.sql(f"ADD JAR '{jar}'")
        parts = urlsplit(url)
        self.spark, self.folder, self.engine = (
            spark,
            folder,
            create_engine(url.replace("postgresql:", "postgresql+psycopg2:")),
        )
        self.place = f"postgres://{parts.hostname}:{parts.port}"
        self.name = parts.path.strip("/")
        self.options = {
            "url": f"jdbc:postgresql://{parts.hostname}:{parts.port}{parts.path}",
            "user": parts.username,
            "password": parts.password,
            "driver": "org.postgresql.Driver",
        }

    def execute(self, *statements: str) -> list[tuple[Any, ...]]:
        with self.engine.begin() as connection:
            for statement in statements:
                found = connection.execute(text(statement))
            return [tuple(r) for r in found] if found.returns_rows else []

    def people(self) -> None:
        values = ", ".join(
            f"('{a}', {b}, {i}, {'NULL' if t is None else repr(t)})" for (a, b), (i, t) in PEOPLE.items()
        )
        self.execute(
            "CREATE TABLE people (a text, b int, i bigint, t text, PRIMARY KEY (b, a))",
            f"INSERT INTO people VALUES {values}",
        )

    def read(self, table: str, keys: str = "a, b", **options: Any) -> Any:
        given = {"provsparkKeys": keys} if keys else {}
        return self.spark.read.format("jdbc").options(**self.options, **given, **options, dbtable=table).load()

    def writer(self, frame: Any, keys: str = "id") -> Any:
        return frame.write.format("jdbc").options(**self.options, provsparkKeys=keys)

    def uri(self, table: str) -> str:
        return f"{self.place}/{self.name}.public.{table}"

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def run(self, step: str, call: Callable[[], Any], on_error: Any = "warn") -> Any:
        with attach(store=(self.folder / "store").as_uri(), step=step, on_error=on_error) as capture:
            call()
        return capture

    def edges(self, dataset: str, rows: int, to: str | None = None) -> set[tuple[int, str, int]]:
        """(row, data set, source row) of the whole lineage of a data set."""
        lines = provspark.open((self.folder / "store").as_uri()).backward(dataset, rows=range(rows), to=to).table()
        return {(x["row"], x["dataset"], x["related_row"]) for x in lines.to_pylist() if x["kind"] == "data"}


@pytest.fixture(name="world")
def made_world(spark: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    jar = driver()
    made = World(spark, request.getfixturevalue("postgres").database(), tmp_path, jar)
    yield made
    made.engine.dispose()


def written(path: str) -> list[dict[str, Any]]:
    """Rows of Parquet files in the order of their ids."""
    import pyarrow.parquet as pq

    files = sorted(Path(path).rglob("*.parquet"))
    return [row for f in files for row in pq.read_table(f).to_pylist()]
