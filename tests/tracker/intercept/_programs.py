"""Random programs that write in all ways, and their runner. Rows have the numbers of the base rows they come from."""

from __future__ import annotations

import contextlib
import random
import re
import shutil
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROWS = 60
DATABASE = "programs_0027"
FORMATS = ("parquet", "parquet", "json", "orc", "csv")

Step = tuple[Any, ...]
"""A statement of a program: the name of its method in `Run`, and its arguments."""


def draw(seed: int) -> list[Step]:
    """Return a program: frames derived from the base, caches and reads, and writes of every kind."""
    r = random.Random(seed)
    program: list[Step] = []
    frames, tables, names = 1, [], iter(range(1000))
    for _ in range(r.randint(5, 9)):
        for _ in range(r.randint(0, 2)):
            program.append(_between(r, frames))
            frames += program[-1][0] == "derived"
        at, name, few = r.randrange(frames), f"w{next(names)}", r.randint(2, 5)
        kind = r.choice(KINDS)
        if kind in ("insert_sql", "insert_into", "overwrite_table", "many", "immediate", "script"):
            if not tables:
                kind = "ctas"
            else:
                name = r.choice(tables)
        if kind in ("ctas", "save_table", "write_to"):
            tables.append(name)
        if kind in ("ctas", "save_table"):
            program.append((kind, at, name, r.choice(("parquet", "json", "orc")), few))
        elif kind in ("folder", "directory", "java", "fails"):
            program.append((kind, at, name, r.choice(FORMATS), few))
        elif kind in ("many", "threads"):
            program.append((kind, at, name, f"w{next(names)}", few))
        else:
            program.append((kind, at, name, few))
    return program


KINDS = (
    *("folder", "folder", "parts", "append_folder", "ignored", "java", "fails", "noop", "threads", "batch"),
    *("save_table", "ctas", "write_to", "insert_into", "insert_sql", "overwrite_table"),
    *("directory", "many", "immediate", "script", "cached_table"),
)


def _between(r: random.Random, frames: int) -> Step:
    how = r.choice(("filter", "column", "union", "sort", "few", "spread"))
    return r.choice(
        (
            *[("derived", how, r.randrange(frames), r.randrange(frames), r.randint(2, 4))] * 3,
            ("cached", r.randrange(frames)),
            ("uncached", r.randrange(frames)),
            ("read", r.choice(("count", "collect", "toPandas", "first")), r.randrange(frames)),
        )
    )


@dataclass
class Run:
    """Run of a program in a session. Everything that it writes is in `root` and in the database."""

    spark: Any
    root: Path
    frames: list[Any] = field(default_factory=list)
    log: list[Any] = field(default_factory=list)
    """What the script sees: results of reads, and what is raised."""
    expected: list[str] = field(default_factory=list)
    """Name of the output of each write, in order; those of one statement are sorted."""

    def all(self, program: list[Step], base: str) -> None:
        """Run the whole program."""
        self.spark.sql(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE")
        self.spark.sql(f"CREATE DATABASE {DATABASE} LOCATION '{self.root / 'tables'}'")
        self.frames = [self.spark.read.parquet(base)]
        for name, *args in program:
            try:
                self.log.append(getattr(self, name)(*args))
            except Exception as e:
                self.log.append((type(e).__name__, re.sub(r"#\d+|/\S+|==+.*", "", str(e).partition("\n")[0])))
        self.spark.catalog.clearCache()

    def view(self, at: int) -> str:
        """Name a frame for SQL."""
        self.frames[at].createOrReplaceTempView("frame_0027")
        return "frame_0027"

    def wrote(self, *names: str) -> None:
        self.expected += sorted(names)

    # -- frames, caches and reads

    def derived(self, how: str, at: int, other: int, n: int) -> None:
        frame = self.frames[at]
        made = {
            "filter": lambda: frame.where(f"b % {n} <> 1"),
            "column": lambda: frame.selectExpr("b", f"v + {n} AS v", "k"),
            "union": lambda: frame.where("b < 20").unionByName(self.frames[other].where(f"b % {n} = 0")),
            "sort": lambda: frame.orderBy("v", "b"),
            "few": lambda: frame.coalesce(1),
            "spread": lambda: frame.repartition(n, "b", "v"),
        }
        self.frames.append(made[how]())

    def cached(self, at: int) -> None:
        self.frames[at].cache()

    def uncached(self, at: int) -> None:
        self.frames[at].unpersist()

    def read(self, how: str, at: int) -> Any:
        found = getattr(self.frames[at].orderBy("b", "v"), how)()
        return found.values.tolist() if how == "toPandas" else found

    # -- writes

    def place(self, name: str) -> str:
        return str(self.root / name)

    def folder_of(self, at: int, name: str, form: str, mode: str = "errorifexists") -> None:
        self.frames[at].write.mode(mode).format(form).save(self.place(name))

    def folder(self, at: int, name: str, form: str, few: int) -> None:
        self.folder_of(at, name, form)
        self.wrote(name)

    def parts(self, at: int, name: str, few: int) -> None:
        self.frames[at].write.partitionBy("k").parquet(self.place(name))
        self.wrote(name)

    def append_folder(self, at: int, name: str, few: int) -> None:
        for _ in range(2):
            self.frames[at].where(f"b < {few}").write.mode("append").parquet(self.place(name))
            self.wrote(name)

    def ignored(self, at: int, name: str, few: int) -> None:
        self.folder_of(at, name, "parquet")
        self.wrote(name)
        self.folder_of(at, name, "parquet", "ignore")
        self.folder_of(at, name, "parquet")

    def java(self, at: int, name: str, form: str, few: int) -> None:
        self.frames[at]._jdf.write().format(form).save(self.place(name))
        self.wrote(name)

    def fails(self, at: int, name: str, form: str, few: int) -> None:
        frame = self.frames[at].selectExpr("IF(b = 3, raise_error('no'), b) AS b", "v", "k")
        frame.write.format(form).save(self.place(name))
        self.wrote(name)  # of a frame without such a row

    def noop(self, at: int, name: str, few: int) -> None:
        self.frames[at].write.format("noop").mode("overwrite").save()

    def threads(self, at: int, name: str, other: str, few: int) -> None:
        """Two threads write at once."""
        threads = [threading.Thread(target=self.folder_of, args=(at, n, "parquet")) for n in (name, other)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.wrote(name, other)

    def batch(self, at: int, name: str, few: int) -> None:
        """A function of a stream writes another frame."""
        frame, to = self.frames[at], self.place(name)
        ticks = self.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
        writer = ticks.writeStream.foreachBatch(lambda *_: frame.write.mode("ignore").parquet(to))
        query = writer.trigger(once=True).start()
        query.awaitTermination()
        self.wrote(name)

    def save_table(self, at: int, name: str, form: str, few: int) -> None:
        self.frames[at].write.format(form).saveAsTable(f"{DATABASE}.{name}")
        self.wrote(name)

    def write_to(self, at: int, name: str, few: int) -> None:
        self.frames[at].writeTo(f"{DATABASE}.{name}").using("parquet").create()
        self.wrote(name)

    def insert_into(self, at: int, name: str, few: int) -> None:
        self.frames[at].where(f"b < {few}").write.insertInto(f"{DATABASE}.{name}")
        self.wrote(name)

    def overwrite_table(self, at: int, name: str, few: int) -> None:
        self.spark.sql(f"INSERT OVERWRITE {DATABASE}.{name} SELECT * FROM {self.view(at)} WHERE b % {few} = 0")
        self.wrote(name)

    def ctas(self, at: int, name: str, form: str, few: int) -> None:
        self.spark.sql(f"CREATE TABLE {DATABASE}.{name} USING {form} AS SELECT * FROM {self.view(at)} WHERE b > {few}")
        self.wrote(name)

    def insert_sql(self, at: int, name: str, few: int) -> None:
        self.spark.sql(f"INSERT INTO {DATABASE}.{name} SELECT b, v, k FROM {self.view(at)} WHERE b % {few} = 1")
        self.wrote(name)

    def directory(self, at: int, name: str, form: str, few: int) -> None:
        text = f"INSERT OVERWRITE DIRECTORY '{self.place(name)}' USING {form} SELECT * FROM {self.view(at)}"
        self.spark.sql(text)
        self.wrote(name)

    def many(self, at: int, name: str, other: str, few: int) -> None:
        """One FROM with two INSERTs into one table, and one into a folder."""
        into = f"INSERT INTO {DATABASE}.{name} SELECT b, v, k WHERE b"
        folder = f"INSERT OVERWRITE DIRECTORY '{self.place(other)}' USING parquet SELECT b, v, k"
        self.spark.sql(f"FROM {self.view(at)} {into} < {few} {into} = 30 {folder}")
        self.wrote(name, name, other)

    def immediate(self, at: int, name: str, few: int) -> None:
        text = f"INSERT INTO {DATABASE}.{name} SELECT * FROM {self.view(at)} WHERE b < ?"
        self.spark.sql(f"EXECUTE IMMEDIATE '{text}' USING {few}")
        self.wrote(name)

    def script(self, at: int, name: str, few: int) -> None:
        into = f"INSERT INTO {DATABASE}.{name} SELECT * FROM {self.view(at)} WHERE b"
        self.spark.conf.set("spark.sql.scripting.enabled", "true")
        self.spark.sql(f"BEGIN DECLARE n INT DEFAULT {few}; {into} = n; IF n > 2 THEN {into} = 7; END IF; END")
        self.wrote(*[name] * (1 + (few > 2)))

    def cached_table(self, at: int, name: str, few: int) -> None:
        self.spark.sql(f"CACHE TABLE {name} AS SELECT * FROM {self.view(at)} WHERE b % {few} <> 0")
        self.spark.table(name).write.parquet(self.place(name))
        self.wrote(name)
        self.spark.sql(f"UNCACHE TABLE {name}")
        self.spark.catalog.dropTempView(name)

    # -- what is there at the end

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return the sorted rows of each folder and table that was written."""
        out = {}
        for name in dict.fromkeys(self.expected):
            path = self.root / name
            frame = self.spark.table(f"{DATABASE}.{name}") if not path.exists() else self._read(path)
            out[name] = sorted(tuple(map(str, row)) for row in frame.select(*sorted(frame.columns)).collect())
        return out

    def _read(self, path: Path) -> Any:
        form = next((f for f in set(FORMATS) if any(path.rglob(f"*.{f}"))), "parquet")
        reader = self.spark.read.format(form)
        return reader.load(str(path)) if form != "csv" else reader.schema("b INT, v INT, k INT").load(str(path))


def fresh(folder: Path) -> Path:
    """Return an empty folder."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder
