"""docs/operators.md names every class of a plan that Spark has, and is written from the families."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from _plan_classes import plan_classes
from pyspark.find_spark_home import _find_spark_home

from provspark.tracker.families.registry import (
    capture_rule,
    family,
    names,
    operation_rule,
    part,
    refusal,
    replay_refusal,
    replay_rules,
)

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
WORDS = {"exact", "coarse", "refused", "sink", "none"}
NODES = [(node, name) for name in names() for node in family(name).nodes]


@pytest.fixture(scope="module")
def rows() -> dict[str, str]:
    """By class, what becomes of it."""
    how: dict[str, str] = {}
    for line in PAGE.splitlines():
        cells = [c.strip() for c in line.strip("|").split(" | ")]
        if line.startswith("| `"):
            for name in re.findall(r"`(\w+)`", cells[0]):
                if cells[1] in WORDS:
                    assert name not in how, f"{name} stands there twice"
                    how[name] = cells[1]
    return how


def test_every_class_has_a_row(rows: dict[str, str]) -> None:
    classes = plan_classes(Path(_find_spark_home()) / "jars")
    assert len(classes) > 250 and {"Project", "SortMerge", "UnionLoop"} & classes == {"Project", "UnionLoop"}
    assert sorted(classes - rows.keys()) == []
    assert set(rows.values()) == WORDS


def test_the_page_is_written_from_the_families(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    sys.modules.pop("operators", None)
    import operators  # type: ignore[import-not-found]

    assert operators.written(PAGE) == PAGE, "run `make operators`"


def test_each_node_is_of_one_family() -> None:
    assert len({node for node, _ in NODES}) == len(NODES)


@pytest.mark.parametrize("name", names())
def test_a_family_has_each_part_or_says_why_not(name: str) -> None:
    told = family(name)
    assert bool(told.rows) != (told.why is not None), "either captured, or refused with a reason"
    if told.why is not None:
        assert told.why.reason and told.why.instead and part(name, "capture") is None
        return
    for row in told.rows:
        nodes = re.findall(r"(\w+)(?: \([^)]*\))?", row.nodes)
        taken = {node for node in nodes if capture_rule(node) is not None}
        assert taken == (set() if row.turned else set(nodes)), "a rule takes what is not turned into another node"
        for node in nodes:
            refused = operation_rule(node).opaque_of(node) or replay_refusal(node)
            assert replay_rules(node).get(node) is not None or refused, node


@pytest.mark.parametrize(("node", "name"), [each for each in NODES if family(each[1]).why is not None])
def test_a_refusal_says_what_to_do_instead(node: str, name: str) -> None:
    why = family(name).why
    assert why is not None and refusal(node) == f"{why.reason}; {why.instead}"
    assert capture_rule(node) is None and not replay_rules(node)


def test_a_node_of_nobody_has_the_defaults() -> None:
    assert capture_rule("Frobnicate") is None and "not one of Spark's own" in refusal("Frobnicate")
    assert operation_rule("Frobnicate").opaque_of("Frobnicate") == "no text stands for Frobnicate"
