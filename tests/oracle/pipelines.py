"""The published pipelines in plain Python: each record with the line that it came from, without Spark."""

from __future__ import annotations

import csv
import re
import statistics
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Lines = list[tuple[int, Record]]
"""Line of the source file, counted from 0 without the header, and the record."""

CENSUS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "income",
]
CENSUS_TEXTS = [
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native_country",
    "income",
]
CENSUS_ENCODED = [
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "native_country",
]
COMPAS = [
    "age",
    "c_charge_degree",
    "race",
    "sex",
    "priors_count",
    "days_b_screening_arrest",
    "two_year_recid",
    "c_jail_in",
    "c_jail_out",
]


def lines(path: Path) -> Lines:
    """The file's records, empty cells as None."""
    with path.open(newline="") as file:
        return [(i, {k: v or None for k, v in record.items()}) for i, record in enumerate(csv.DictReader(file))]


def census_texts(path: Path) -> Lines:
    """C0 and C1."""
    found: Lines = []
    for line, record in lines(path):
        row: Record = {}
        for name, value in zip(CENSUS, record.values(), strict=True):
            text = str(value).strip(" ")
            row[name] = (None if text == "?" else text) if name in CENSUS_TEXTS else int(text)
        found.append((line, row))
    return found


def census_encoded(texts: Lines) -> Lines:
    """C2, C3 and C4; the terms are those that stand in the data."""
    names: dict[str, dict[str, str]] = {}
    for column in CENSUS_ENCODED:
        terms = sorted({row[column] for _, row in texts} - {None})
        names[column] = {t: f"{column}_{re.sub('[^a-z0-9]+', '_', t.lower()).strip('_')}" for t in terms}
    found: Lines = []
    for line, row in texts:
        new = {k: v for k, v in row.items() if k not in (*CENSUS_ENCODED, "sex", "income", "fnlwgt")}
        new["sex"], new["income"] = int(row["sex"] == "Male"), int(row["income"] == ">50K")
        for column, named in names.items():
            for term, name in named.items():
                new[name] = int(row[column] == term)
        found.append((line, new))
    return found


def census_joined(texts: Lines, regions: Lines) -> list[tuple[int, int, Record]]:
    """TensProv's extra join: line of the census, line of the regions, the record."""
    where = {row["country"]: (line, row["region"]) for line, row in regions}
    found = []
    for line, row in texts:
        country = row["native_country"]
        if country in where:
            new = {k: v for k, v in row.items() if k != "native_country"}
            found.append((line, where[country][0], new | {"country": country, "region": where[country][1]}))
    return found


def filled(rows: Lines, column: str, missing: Iterable[int]) -> Lines:
    """The mean of a column for the records of some lines, all others as they are."""
    gaps = set(missing)
    mean = statistics.fmean(row[column] for line, row in rows if line not in gaps)
    return [(line, row | ({column: mean} if line in gaps else {})) for line, row in rows]


def compas_complete(path: Path) -> Lines:
    """B0 and B1."""
    cut = [(line, {c: row[c] for c in COMPAS}) for line, row in lines(path)]
    return [(line, row) for line, row in cut if None not in row.values()]


def compas_label(rows: Lines) -> Lines:
    """B2 to B6."""
    found: Lines = []
    for line, row in rows:
        stay = datetime.fromisoformat(row["c_jail_out"]) - datetime.fromisoformat(row["c_jail_in"])
        new = {k: v for k, v in row.items() if k not in ("two_year_recid", "c_jail_in", "c_jail_out")}
        new["race"] = int(row["race"] == "Caucasian")
        new["c_charge_degree"] = int(row["c_charge_degree"] != "M")
        new["label"] = 1 - int(row["two_year_recid"])
        new["jailtime"] = stay.days
        found.append((line, new))
    return found


def credit_terms(path: Path, terms: dict[str, dict[str, str]]) -> Lines:
    """A0, after a code book; all that it does not speak of but personal_status is whole numbers."""
    found: Lines = []
    for line, row in lines(path):
        named = {k: terms[k].get(v, v) if k in terms else v for k, v in row.items()}
        found.append((line, {k: v if k in (*terms, "personal_status") else int(v) for k, v in named.items()}))
    return found


def credit_encoded(rows: Lines, terms: dict[str, dict[str, str]], status: dict[str, str], women: list[str]) -> Lines:
    """A1, A2 and A3; the terms are those of the code book."""
    kept = ("phone", "foreigner", "label")
    kinds = {c: list(named.values()) for c, named in terms.items() if c not in kept}
    kinds["status"] = sorted(set(status.values()))
    found: Lines = []
    for line, row in rows:
        whole = row | {"gender": int(row["personal_status"] not in women), "status": status[row["personal_status"]]}
        new = {k: v for k, v in whole.items() if k not in kinds and k != "personal_status"}
        new |= {f"{c}_{term}": int(whole[c] == term) for c, named in kinds.items() for term in named}
        found.append((line, new))
    return found
