"""docs/stops.md and the table in the code say the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from provspark.model.stops import STOPS, Blur, stop_kind

DOCS = Path(__file__).parents[2] / "docs" / "stops.md"


def test_the_page_lists_each_kind_of_stop_as_the_code_has_it() -> None:
    rows = re.findall(
        r"^\| `([\w-]+)` \| (ends|goes on) \| ([\w, ]+) \| (.+?) \| its kind(?:; (.+?))? \|$", DOCS.read_text(), re.M
    )
    told = {
        (name, path == "ends", frozenset(fails.split(", ")), words, trust) for name, path, fails, words, trust in rows
    }
    assert told == {(k.name, k.ends, frozenset(k.fails), k.wording, k.trust) for k in STOPS}
    assert len(rows) == len(STOPS)


def test_each_kind_is_explained() -> None:
    explained = set(re.findall(r"^- \*\*([\w-]+)\*\*:", DOCS.read_text(), re.M))
    assert explained == {kind.name for kind in STOPS} == set(get_args(Blur))
    assert stop_kind("coarse").fails == {"something", "count"}


def test_what_ends_a_path_or_hides_rows_fails_a_check_for_nothing() -> None:
    assert {kind.name for kind in STOPS if "nothing" not in kind.fails} == {"coarse", "columns", "declared"}
    assert all("count" in kind.fails for kind in STOPS)
