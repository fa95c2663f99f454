"""docs/operators.md names every class of a plan that Spark has, and says of each what the rules do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from _plan_classes import plan_classes
from pyspark.find_spark_home import _find_spark_home

from provspark.tracker.families import RULES
from provspark.tracker.families.batch_functions import capture as maps
from provspark.tracker.families.group_functions import capture as groups
from provspark.tracker.families.refused import REFUSED

TABLE = Path(__file__).parents[2] / "docs" / "operators.md"
WORDS = {"exact", "coarse", "refused", "sink", "none"}
Rows = dict[str, tuple[str, str, str]]


@pytest.fixture(scope="module")
def rows() -> Rows:
    """By class: the section it stands in, what becomes of it, and why."""
    found: Rows = {}
    section = ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [c.strip() for c in line.strip("|").split(" | ")]
        if section and line.startswith("| `"):
            for name in re.findall(r"`(\w+)`", cells[0]):
                assert name not in found, f"{name} stands there twice"
                found[name] = (section, cells[1], cells[2].rstrip(" |"))
    return found


def test_every_class_has_a_row(rows: Rows) -> None:
    classes = plan_classes(Path(_find_spark_home()) / "jars")
    assert len(classes) > 250 and {"Project", "SortMerge", "UnionLoop"} & classes == {"Project", "UnionLoop"}
    assert sorted(classes - rows.keys()) == []


def test_words(rows: Rows) -> None:
    assert {how for _, how, _ in rows.values()} == WORDS


def test_rules_are_what_the_table_says(rows: Rows) -> None:
    followed = {name: how for name, (section, how, _) in rows.items() if section == "Followed by a rule"}
    kinds = {kind for rule in RULES for kind in rule.KINDS}
    coarse = maps.KINDS | groups.KINDS
    assert followed == {kind: "coarse" if kind in coarse else "exact" for kind in kinds}


def test_what_is_refused_has_no_rule(rows: Rows) -> None:
    kinds = {kind for rule in RULES for kind in rule.KINDS}
    assert not {name for name, (_, how, _) in rows.items() if how in ("refused", "none", "sink")} & kinds


def test_a_refusal_says_what_the_table_says(rows: Rows) -> None:
    refused = {name: why for name, (section, how, why) in rows.items() if how == "refused" and section == "Refused"}
    assert refused.keys() == REFUSED.keys()
    assert {name: told.partition(";")[0] for name, told in REFUSED.items()} == refused
