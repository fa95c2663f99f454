"""Random histories of three datasets, and what runs them: real Spark, real files, capture where the history says so."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from _history_mirror import Mirror, State, Step, mark

from provspark.model.steps import StepKey
from provspark.tracker import attach

SOURCE, MIDDLE, REPORT = DATASETS = ("source", "middle", "report")
INPUT = {MIDDLE: SOURCE, REPORT: MIDDLE}
DAYS = (1, 2, 3)
OPERATIONS = 8
_SCHEMA = "mark STRING, made_of ARRAY<STRING>, day INT"
_ARROW = pa.schema([("mark", pa.string()), ("made_of", pa.list_(pa.string()))])
_EMPTY = "PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA"


@dataclass(frozen=True, slots=True)
class Act:
    """One operation of a history.

    Parameters
    ----------
    kind : str
        ``fill``, ``rewrite``, ``delete`` or ``outside``.
    dataset : str
    day : int
        Of the run.
    how : str
        Of a fill, the mode of the write; with ``folder``, the folder of the run's day is overwritten, by its path. Of
        others, see `Running`.
    made : str
        Of a fill, what makes the rows.
    days : tuple of int
        The days that are read, or made; all where empty.
    ends : {"well", "raises", "again", "breaks", "broken"}
        ``raises``: the script fails after its write. ``breaks``: Spark fails amid the write. ``again`` and ``broken``:
        the same, and the next try ends well.
    maps : int
        The number of mapped tasks that do it, one after the other; 0 where it is not mapped.
    drawn : int
        What else is left to chance.
    """

    kind: str
    dataset: str
    day: int = 1
    how: str = ""
    made: str = ""
    days: tuple[int, ...] = ()
    ends: str = "well"
    maps: int = 0
    drawn: int = 0

    def __repr__(self) -> str:
        given = [f"{name}={getattr(self, name)!r}" for name in self.__slots__ if getattr(self, name) not in ("", (), 0)]
        return f"Act({', '.join(given)})"


@dataclass(frozen=True, slots=True)
class History:
    """What is done to three datasets, and which of them have a folder for each day.

    Parameters
    ----------
    by_path : bool
        Whether days are also read and written by the paths of their folders: then these are datasets, too.
    """

    by_day: tuple[str, ...]
    acts: tuple[Act, ...]
    by_path: bool = False

    def __str__(self) -> str:
        acts = "".join(f"        {act!r},\n" for act in self.acts)
        more = "    by_path=True,\n" if self.by_path else ""
        return f"History(\n    {self.by_day!r},\n    (\n{acts}    ),\n{more})"


def draw(seed: int) -> History:
    """Draw a history."""
    of = random.Random(seed)
    by_day = tuple(name for name in DATASETS if of.random() < 0.6)
    captured = of.random() < 0.75
    today = 1
    acts = [_filled(of, SOURCE, today, by_day, captured)]
    while len(acts) < OPERATIONS:
        if of.random() < 0.25:
            today = min(today + 1, DAYS[-1])
        late = of.random() < 0.2
        day = of.randint(1, today) if late else today
        acts.append(_drawn(of, day, by_day, captured, len(acts)))
    by_path = bool(by_day) and of.random() < 0.15
    for i, act in enumerate(acts) if by_path else ():
        if act.kind == "fill" and act.made != "plain" and act.dataset in by_day and of.random() < 0.6:
            acts[i] = replace(act, how="folder")
    return History(by_day, tuple(acts), by_path)


def _drawn(of: random.Random, day: int, by_day: tuple[str, ...], captured: bool, number: int) -> Act:
    if number < 3:
        return _filled(of, DATASETS[number] if of.random() < 0.8 else MIDDLE, day, by_day, captured)
    kind = of.choices(["fill", "rewrite", "delete", "outside"], [60, 15, 15, 10])[0]
    name = of.choices(DATASETS, [25, 40, 35])[0]
    drawn = of.randrange(1000)
    if kind == "delete":
        how = of.choices(["some", "all", "folder"], [60, 20, 20])[0]
        return Act("delete", name, how=how, drawn=drawn)
    if kind == "outside":
        how = of.choices(["file", "append", "overwrite", "edit"], [40, 20, 20, 20])[0]
        return Act("outside", name, day, how, drawn=drawn)
    if kind == "rewrite":
        ways = ["checkpoint", "cache", "temporary", "compact", "swap"]
        ways += ["dynamic"] * 4 if name in by_day else []
        days = () if of.random() < 0.3 else tuple(sorted(of.sample(DAYS, of.randint(1, 2))))
        return Act("rewrite", name, day, of.choice(ways), days=days, ends=_ends(of), drawn=drawn)
    return _filled(of, name, day, by_day, captured)


def _filled(of: random.Random, name: str, day: int, by_day: tuple[str, ...], captured: bool) -> Act:
    modes = ["append"] * 4 + ["overwrite"] * 2 + (["dynamic"] * 4 if name in by_day else [])
    made = {
        SOURCE: ["feed", "local"] if captured else ["plain"],
        MIDDLE: ["some", "some", "all", "twice", "group"],
        REPORT: ["some", "all", "group", "group", "join"],
    }
    days = () if of.random() < 0.4 else (day,) if of.random() < 0.7 else tuple(sorted({day, of.choice(DAYS)}))
    ends = "well" if name == SOURCE and not captured else _ends(of)
    maps = 2 if ends == "well" and of.random() < 0.1 else 0
    return Act("fill", name, day, of.choice(modes), of.choice(made[name]), days, ends, maps, of.randrange(1000))


def _ends(of: random.Random) -> str:
    return of.choices(["well", "raises", "again", "breaks", "broken"], [75, 7, 10, 3, 5])[0]


class Running:
    """Runs a history in a folder.

    Parameters
    ----------
    history : History
    spark : SparkSession
    folder : Path
    """

    def __init__(self, history: History, spark: Any, folder: Path) -> None:
        self.history, self.spark, self.folder = history, spark, folder
        self.store = (folder / "prov").as_uri()
        self.mirror = Mirror(folder / name for name in (*DATASETS, "temporary"))
        self._tries: dict[tuple[str, str, int], int] = {}
        self._tag = ""

    def acts(self) -> Iterator[Act]:
        """Do one operation after the other."""
        for number, act in enumerate(self.history.acts):
            self._tag = str(number)
            getattr(self, f"_{act.kind}")(act)
            time.sleep(0.002)
            self.mirror.ended(datetime.now(timezone.utc))
            time.sleep(0.002)
            yield act

    def _fill(self, act: Act) -> None:
        if act.made == "plain":
            self._write(act, self._rows_of(act), act.how, self.folder / act.dataset)
            return
        for index in range(act.maps) if act.maps else [-1]:
            self._tag = f"{self._tag}m" if index > 0 else self._tag
            self._tried(act, index, lambda step, fail: self._filled(act, step, fail))

    def _filled(self, act: Act, step: Step, fail: bool) -> None:
        frame, reads = self._made(act)
        place = self._day(act.dataset, act.day) if act.how == "folder" else self.folder / act.dataset
        frame = frame.where(f"day = {act.day}").drop("day") if act.how == "folder" else frame
        self._write(act, self._failing(frame) if fail else frame, act.how, place)
        self.mirror.wrote(step, place, reads, act.made == "local")

    def _day(self, name: str, day: int) -> Path:
        """The folder of a day, as a dataset of its own."""
        place = self.folder / name / f"day={day}"
        self.mirror.knows(place)
        return place

    def _made(self, act: Act) -> tuple[Any, list[State]]:
        """The rows of a fill, and what was read for them."""
        if act.made == "local":
            return self._rows_of(act), []
        if act.made == "feed":
            place = self._landed()
            return self._retagged(self.spark.read.schema(_SCHEMA).parquet(place)), [self.mirror.disk[place]]
        days = (act.day,) if act.how == "folder" else act.days
        frame, state = self._read(INPUT[act.dataset], days)
        if act.made == "join":
            frame, states = self._joined(frame, act, days)
            return frame, [state, *states]
        if act.made == "group":
            marks = "concat('{}:', min(mark)) AS mark", "sort_array(collect_list(mark)) AS made_of"
            return frame.groupBy("day").agg(*(self._expr(m) for m in marks)).select("mark", "made_of", "day"), [state]
        if act.made == "some":
            frame = frame.where(f"crc32(mark) % 3 <> {act.drawn % 3}")
        if act.made == "twice":
            frame = frame.selectExpr("mark", "made_of", "day", "explode(array(1, 2)) AS n")
            return frame.select(self._expr("concat('{}:', mark, '/', n) AS mark"), *self._rest()), [state]
        return self._retagged(frame), [state]

    def _landed(self) -> str:
        """The file that somebody else puts there for a fill."""
        return str(self.folder / "feed" / f"{self._tag}.parquet")

    def _land(self, act: Act) -> None:
        place = Path(self._landed())
        place.parent.mkdir(exist_ok=True)
        pq.write_table(self._arrow(act), place)
        self.mirror.knows(place)
        self.mirror.look()
        self.mirror.settle()

    def _joined(self, frame: Any, act: Act, days: tuple[int, ...]) -> tuple[Any, list[State]]:
        other, state = self._read(SOURCE, days)
        other = other.selectExpr("mark AS other", "day").where(f"crc32(other) % 2 = {act.drawn % 2}")
        both = frame.where(f"crc32(mark) % 2 = {act.drawn % 2}").join(other, "day")
        return both.select(
            self._expr("concat('{}:', mark, '+', other) AS mark"), self._expr("array(mark, other) AS made_of"), "day"
        ), [state]

    def _read(self, name: str, days: tuple[int, ...] = ()) -> tuple[Any, State]:
        """A dataset, or some days of it, and the files that Spark reads for that."""
        place = str(self.folder / name)
        frame, state = self.spark.read.schema(_SCHEMA).parquet(place), self.mirror.disk[place]
        if not days:
            return frame, state
        if self.history.by_path and len(days) == 1 and name in self.history.by_day:
            folder = self._day(name, *days)
            frame = self.spark.read.schema("mark STRING, made_of ARRAY<STRING>").parquet(str(folder))
            return frame.withColumn("day", self._expr(f"int({days[0]})")), self.mirror.disk[str(folder)]
        state = state.of_days(days) if name in self.history.by_day else state
        return frame.where(f"day IN ({', '.join(map(str, days))})"), state

    def _rewrite(self, act: Act) -> None:
        self._tried(act, -1, lambda step, fail: self._rewritten(act, step, fail))
        place, temporary = self.folder / act.dataset, self.folder / "temporary"
        if act.how == "swap" and temporary.exists():
            shutil.rmtree(place, ignore_errors=True)
            temporary.rename(place)
        elif act.drawn % 2:
            shutil.rmtree(temporary, ignore_errors=True)

    def _rewritten(self, act: Act, step: Step, fail: bool) -> None:
        """Make rows of some days anew, from the dataset itself; most ways take the other days' rows away."""
        name, place = act.dataset, self.folder / act.dataset
        frame, state = self._read(name, act.days)
        frame = self._retagged(frame)
        old = state.files
        if act.how == "temporary":
            temporary = self.folder / "temporary"
            frame.write.mode("overwrite").parquet(str(temporary))
            self.mirror.wrote(step, temporary, [state])
            frame, state = self._read("temporary")
            frame = frame.select(self._expr("concat('{}b:', mark) AS mark"), *self._rest())
        if act.how == "checkpoint":
            frame = frame.localCheckpoint()
        if act.how == "cache":
            frame.cache().count()
        out = self.folder / "temporary" if act.how == "swap" else place
        try:
            modes = {"dynamic": "dynamic", "compact": "append"}
            self._write(act, self._failing(frame) if fail else frame, modes.get(act.how, "overwrite"), out)
        finally:
            frame.unpersist()
        self.mirror.wrote(step, out, [state])
        if act.how == "compact":
            for file in old:
                Path(file.place).unlink()
        self.mirror.look()

    def _delete(self, act: Act) -> None:
        place, of = self.folder / act.dataset, random.Random(act.drawn)
        if act.how == "folder":
            shutil.rmtree(place, ignore_errors=True)
            return
        for file in self.mirror.disk[str(place)].files:
            if act.how == "all" or of.random() < 0.4:
                Path(file.place).unlink()

    def _outside(self, act: Act) -> None:
        """Something that nobody captures writes."""
        place = self.folder / act.dataset
        if act.how == "edit":
            for file in self.mirror.disk[str(place)].files[:1]:
                self._by_hand(act, Path(file.place))
        elif act.how == "file":
            folder = place / f"day={act.day}" if act.dataset in self.history.by_day else place
            folder.mkdir(parents=True, exist_ok=True)
            self._by_hand(act, folder / f"part-{act.drawn:04}-{self._tag}.parquet")
        else:
            self._write(act, self._rows_of(act), act.how, self.folder / act.dataset)

    def _by_hand(self, act: Act, place: Path) -> None:
        """Write a file, without the checksum that Hadoop keeps beside its own."""
        table = self._arrow(act)
        place.with_name(f".{place.name}.crc").unlink(missing_ok=True)
        pq.write_table(table.drop_columns("day") if act.dataset in self.history.by_day else table, place)

    def _tried(self, act: Act, index: int, work: Callable[[Step, bool], None]) -> None:
        tag = self._tag
        tries = {"raises": ["raises"], "again": ["raises", ""], "breaks": ["breaks"], "broken": ["breaks", ""]}
        for number, trouble in enumerate(tries.get(act.ends, [""])):
            self._tag = f"{tag}.{number + 1}" if number else tag
            if act.made == "feed":
                self._land(act)
            self._try(act, index, trouble, work)
        self._tag = tag

    def _try(self, act: Act, index: int, trouble: str, work: Callable[[Step, bool], None]) -> None:
        """Run one try of a task under capture; one that has nothing to read fails."""
        run, task = f"day-{act.day}", f"{act.kind}_{act.dataset}"
        number = self._tries[run, task, index] = self._tries.get((run, task, index), 0) + 1
        step = Step(run, task, index, number)
        error: BaseException | None = None
        block = attach(store=self.store, key=StepKey(task, run, "dag", index, number))
        with _expected(trouble):
            try:
                with block as capture:
                    work(step, trouble == "breaks")
                    if trouble == "raises":
                        raise ScriptError
            except BaseException as e:
                error = e
                raise
            finally:
                assert capture.manifest is not None and capture.untracked == (), capture.untracked
                step.id, step.good = capture.manifest.step, error is None
                self.mirror.tried(step)

    def _write(self, act: Act, frame: Any, how: str, place: Path) -> None:
        writer = frame.write.mode("append" if how == "append" else "overwrite")
        if how == "dynamic":
            writer = writer.option("partitionOverwriteMode", "dynamic")
        if act.drawn % 3 == 0:
            writer = writer.option("maxRecordsPerFile", 2)
        if act.dataset in self.history.by_day and how != "folder":
            writer = writer.partitionBy("day")
        writer.parquet(str(place))

    def _rows_of(self, act: Act) -> Any:
        return self.spark.createDataFrame(self._made_up(act), _SCHEMA).coalesce(1)

    def _made_up(self, act: Act) -> list[tuple[str, list[str], int]]:
        """New rows; what nobody captures says that it made them of rows of the dataset before."""
        of = random.Random(act.drawn)
        days = act.days or (act.day, *of.sample(DAYS, of.randrange(3)))
        before = self.mirror.disk[str(self.folder / INPUT[act.dataset])].rows if act.dataset in INPUT else ()
        return [
            (f"{self._tag}-{i}", [mark(row) for row in before[i : i + 1]], day)
            for i, day in enumerate(day for day in days for _ in range(of.randint(1, 3)))
        ]

    def _arrow(self, act: Act) -> pa.Table:
        rows = self._made_up(act)
        columns = [pa.array(c, t) for c, t in zip(zip(*rows, strict=True), (*_ARROW.types, pa.int32()), strict=True)]
        return pa.table(columns, names=["mark", "made_of", "day"])

    def _retagged(self, frame: Any) -> Any:
        return frame.select(self._expr("concat('{}:', mark) AS mark"), *self._rest())

    def _rest(self) -> tuple[Any, ...]:
        return self._expr("array(mark) AS made_of"), "day"

    def _expr(self, text: str) -> Any:
        from pyspark.sql import functions as sf

        return sf.expr(text.replace("{}", self._tag))

    def _failing(self, frame: Any) -> Any:
        """The same rows, with an error at the last of them."""
        text = "if(mark IS NULL, mark, raise_error('trouble')) AS mark"
        return frame.select(self._expr(text), *frame.columns[1:])


class ScriptError(Exception):
    """What a script raises."""


@contextmanager
def _expected(trouble: str) -> Iterator[None]:
    from pyspark.errors import PySparkException

    try:
        yield
    except ScriptError:
        assert trouble == "raises"
    except PySparkException as e:
        known = trouble == "breaks" or any(e.getCondition() == name for name in _EMPTY)
        if not known:
            raise
