"""The published pipelines in plain Python: rows, and which script line computes, or deletes, which column of what.

Nothing of ProvSpark and nothing of Spark is here: rows are those of `oracle.pipelines`, which reads the CSV files, and
the lines of scripts are written by hand. Answers of questions are worked out from these two.
"""

from __future__ import annotations

import csv
import math
import runpy
import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from oracle import pipelines as oracle
from pipelines import DATA, EXAMPLES

BOOK = runpy.run_path(str(EXAMPLES / "credit" / "codes.py"))
CREDIT_ENCODED = [*BOOK["ENCODED"]]


@dataclass(frozen=True)
class Act:
    """One line of a script, of a task that writes `output`."""

    output: str
    line: str
    makes: Callable[[str], set[str] | None] = lambda column: None
    """The columns that it computes a column from; None for one that it hands on."""
    source: str | None = None
    """The data set that it reads, if that is what it does."""


@dataclass(frozen=True)
class Made:
    """A data set of a pipeline, each of its records with the line of the source file that it came from."""

    name: str
    reads: str
    rows: oracle.Lines
    acts: tuple[Act, ...]

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return list(self.rows[0][1])


def computed(**makes: set[str]) -> Callable[[str], set[str] | None]:
    """What computes some columns from others."""
    return makes.get


def same(columns: Iterable[str]) -> Callable[[str], set[str] | None]:
    """What computes columns anew, each from itself."""
    chosen = set(columns)
    return lambda column: {column} if column in chosen else None


def one_hot(columns: Iterable[str], kept: Iterable[str] = ()) -> Callable[[str], set[str] | None]:
    """What makes of each column some whose names begin with its own."""
    return lambda column: next(({c} for c in columns if column.startswith(f"{c}_") and column not in kept), None)


@cache
def made() -> dict[str, Made]:
    """All data sets that the pipelines write, by name."""
    every = [*_census(), *_german(), *_compas()]
    return {one.name: one for one in every}


@cache
def source_rows(name: str) -> oracle.Lines:
    """The records of a source file as the scripts read them: whole numbers where a schema says so."""
    if name == "census.csv":
        texts = oracle.CENSUS_TEXTS
        with (DATA / name).open(newline="") as file:
            raw = [dict(zip(oracle.CENSUS, line, strict=True)) for line in [*csv.reader(file)][1:]]
        return [(i, {k: v if k in texts else int(v) for k, v in row.items()}) for i, row in enumerate(raw)]
    if name == "german.csv":
        kept = (*BOOK["TERMS"], "personal_status")
        whole = oracle.lines(DATA / name)
        return [(i, {k: v if k in kept else int(v) for k, v in row.items()}) for i, row in whole]
    return oracle.lines(DATA / name)


def rows_of(name: str) -> oracle.Lines:
    """The records of a source file, or of a data set that a task wrote."""
    return source_rows(name) if name.endswith(".csv") else made()[name].rows


def _census() -> Iterator[Made]:
    texts = oracle.census_texts(DATA / "census.csv")
    census = oracle.census_encoded(texts)
    imputed = oracle.filled(census, "capital_gain", [i for i, row in census if row["capital_gain"] == 99999])
    # Spark's Imputer puts a mean of whole numbers as a whole number.
    imputed = [(i, row | {"capital_gain": int(row["capital_gain"])}) for i, row in imputed]
    columns = same(oracle.CENSUS_TEXTS)
    yield Made(
        "texts",
        "census.csv",
        texts,
        (
            Act("texts", "people = spark.read.csv(source, header=True, schema=SCHEMA)", source="census.csv"),
            Act("texts", "people = people.withColumns({name: sf.trim(name) for name in TEXTS})", columns),
            Act("texts", 'people = people.replace("?", None, subset=TEXTS)', columns),
        ),
    )
    hot = one_hot(oracle.CENSUS_ENCODED, kept=("education_num",))
    sex = 'people = people.withColumn("sex", sf.when(sf.col("sex") == "Male", 1).otherwise(0))'
    income = 'people = people.withColumn("income", sf.when(sf.col("income") == ">50K", 1).otherwise(0))'
    yield Made(
        "census",
        "texts",
        census,
        (
            Act("census", "people = spark.read.parquet(source)", source="texts"),
            Act("census", 'people = people.select("*", *hot).drop(column)', hot),
            Act("census", sex, same(["sex"])),
            Act("census", income, same(["income"])),
            Act("census", 'people = people.drop("fnlwgt")'),
        ),
    )
    fit = 'imputer.fit(people).transform(people).write.mode("overwrite").parquet(out)'
    read = Act("imputed", "people = spark.read.parquet(source)", source="census")
    yield Made("imputed", "census", imputed, (read, Act("imputed", fit, same(["capital_gain"]))))
    regions = oracle.lines(DATA / "regions.csv")
    joined = sorted(oracle.census_joined(texts, regions), key=lambda x: (x[2]["region"], x[0]))
    line = 'joined = spark.read.parquet(people).withColumnRenamed("native_country", "country").join(lookup, "country")'
    country = computed(country={"native_country"})
    acts = (Act("joined", line, source="texts"), Act("joined", line, country))
    yield Made("joined", "texts", [(person, row) for person, _, row in joined], acts)


def _german() -> Iterator[Made]:
    terms = oracle.credit_terms(DATA / "german.csv", BOOK["TERMS"])
    credit = oracle.credit_encoded(terms, BOOK["TERMS"], BOOK["STATUS"], BOOK["WOMEN"])
    amounts = [float(row["credit_amount"]) for _, row in credit]
    mean, spread = statistics.fmean(amounts), statistics.stdev(amounts)
    floats = [(i, row | {"credit_amount": float(row["credit_amount"])}) for i, row in credit]
    off = [i for i, a in enumerate(amounts) if abs(a - mean) > 3 * spread]
    replace = Act("credit_terms", "credit = credit.replace(terms, subset=[column])", same(BOOK["TERMS"]))
    read = Act("credit_terms", "credit = spark.read.csv(source, header=True, schema=SCHEMA)", source="german.csv")
    yield Made("credit_terms", "german.csv", terms, (read, replace))
    split = (
        'credit = credit.withColumn("gender", sf.when(personal.isin(WOMEN), 0).otherwise(1))'
        '.withColumn("status", personal)'
    )
    hot = 'credit = credit.withColumn(f"{column}_{term}", (sf.col(column) == term).cast("int"))'
    yield Made(
        "credit",
        "credit_terms",
        credit,
        (
            Act("credit", "credit = spark.read.parquet(source)", source="credit_terms"),
            Act("credit", split, computed(gender={"personal_status"}, status={"personal_status"})),
            Act("credit", 'credit = credit.replace(STATUS, subset=["status"])', same(["status"])),
            Act("credit", 'credit = credit.drop("personal_status")'),
            Act("credit", hot, one_hot([*CREDIT_ENCODED, "status"])),
            Act("credit", "credit = credit.drop(column)"),
        ),
    )
    known = 'credit = credit.withColumn("known", sf.when(off <= 3, amount))'
    fill = 'credit = credit.withColumn("credit_amount", sf.coalesce(known, sf.avg(known).over(everyone))).drop("known")'
    yield Made(
        "credit_imputed",
        "credit",
        oracle.filled(floats, "credit_amount", off),
        (
            Act("credit_imputed", "credit = spark.read.parquet(source)", source="credit"),
            Act("credit_imputed", known, computed(known={"credit_amount"})),
            Act("credit_imputed", fill, computed(credit_amount={"known"})),
        ),
    )


def _compas() -> Iterator[Made]:
    complete = oracle.compas_complete(DATA / "compas.csv")
    days = "days_b_screening_arrest"
    scores = [(i, {c: row[c] for c in oracle.COMPAS}) for i, row in oracle.lines(DATA / "compas.csv")]
    scores = [(i, row | {days: None if row[days] is None else float(row[days])}) for i, row in scores]
    read = "scores = spark.read.csv(source, header=True).select(*COLUMNS).na.drop()"
    acts = (Act("compas_complete", read, source="compas.csv"), Act("compas_complete", read))
    yield Made("compas_complete", "compas.csv", complete, acts)
    yield Made(
        "compas",
        "compas_complete",
        oracle.compas_label(complete),
        (
            Act("compas", "spark.read.parquet(source)", source="compas_complete"),
            Act(
                "compas", '.withColumn("race", sf.when(sf.col("race") == "Caucasian", 1).otherwise(0))', same(["race"])
            ),
            Act(
                "compas",
                '.withColumn("c_charge_degree", sf.when(sf.col("c_charge_degree") == "M", 0).otherwise(1))',
                same(["c_charge_degree"]),
            ),
            Act(
                "compas",
                '.withColumn("label", 1 - sf.col("two_year_recid").cast("int"))',
                computed(label={"two_year_recid"}),
            ),
            Act(
                "compas",
                '.withColumn("jailtime", sf.floor(seconds / 86400).cast("int"))',
                computed(jailtime={"c_jail_in", "c_jail_out"}),
            ),
            Act("compas", '.drop("two_year_recid", "c_jail_in", "c_jail_out")'),
        ),
    )
    line = 'spark.read.csv(source, header=True).select(*COLUMNS).createOrReplaceTempView("scores")'
    fill = 'spark.sql(FILLED).write.mode("overwrite").parquet(out)'
    gaps = [i for i, row in scores if row[days] is None]
    acts = (
        Act("compas_imputed", line, source="compas.csv"),
        Act("compas_imputed", line),
        Act("compas_imputed", fill, same([days])),
    )
    yield Made("compas_imputed", "compas.csv", oracle.filled(scores, days, gaps), acts)


# -- what questions answer, worked out


def chain(name: str, source: str | None = None) -> list[Made]:
    """The data sets between a source file, or another data set, and one that a task wrote; nearest to the source first.

    Nothing where that one did not come from it.
    """
    found: list[Made] = []
    while name != source and not name.endswith(".csv"):
        found.insert(0, made()[name])
        name = found[0].reads
    return found if source in (None, name) else []


def first_source(name: str) -> str:
    """The source file of a data set."""
    return name if name.endswith(".csv") else chain(name)[0].reads


def ends(source: str) -> list[str]:
    """The data sets that came of one and that no task read."""
    read = {m.reads for m in made().values()}
    return [name for name in made() if name not in read and chain(name, source)]


def behind(column: str, path: list[Made]) -> tuple[set[str], set[tuple[str, str]]]:
    """The columns at the beginning of a path that a column at its end came from, and the acts on the way of them."""
    columns, acts = {column}, set()
    for one in reversed(path):
        for act in reversed(one.acts):
            sources = {c: act.makes(c) for c in columns}
            if act.source is not None or any(s is not None for s in sources.values()):
                acts.add((act.output, act.line))
            columns = set[str]().union(*({c} if s is None else s for c, s in sources.items()))
    return columns, acts


def every_act(path: list[Made]) -> set[tuple[str, str]]:
    """The acts of all tasks on a path."""
    return {(act.output, act.line) for one in path for act in one.acts}


def lines_of(name: str) -> list[int]:
    """The line of the source file of each record of a data set."""
    return [line for line, _ in rows_of(name)]


def record(name: str, line: int) -> dict[str, Any] | None:
    """The record of a data set that came from a line of the source file, if there is one."""
    return next((row for i, row in rows_of(name) if i == line), None)


def measures(values: list[Any]) -> dict[str, float]:
    """What tells how values are distributed."""
    there = [v for v in values if v is not None]
    told: dict[str, float] = {
        "count": len(there),
        "nulls": len(values) - len(there),
        "distinct": len({*there}),
    }
    if there and not any(isinstance(v, str) for v in there):
        mean = math.fsum(there) / len(there)
        told |= {"mean": mean, "deviation": math.sqrt(math.fsum((v - mean) ** 2 for v in there) / (len(there) - 1))}
    return told
