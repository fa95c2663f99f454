from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal

import pytest
from rich.console import Console

from provspark.cli.render import count, echo_json, plain, print_rows


@pytest.mark.parametrize(("number", "want"), [(0, "no row"), (1, "1 row"), (32561, "32,561 rows")])
def test_counts(number: int, want: str) -> None:
    assert count(number) == want


def test_values_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    value = {
        "a": [math.nan, math.inf, -math.inf, 1.5, None, True],
        "b": Decimal("1.50"),
        "c": (dt.date(2024, 1, 2), dt.datetime(2024, 1, 2, 3, tzinfo=dt.timezone.utc)),
        "d": {1: b"\x00\xff"},
        "e": "é",
    }
    echo_json(value)
    assert json.loads(capsys.readouterr().out) == {
        "a": ["NaN", "Infinity", "-Infinity", 1.5, None, True],
        "b": "1.50",
        "c": ["2024-01-02", "2024-01-02T03:00:00+00:00"],
        "d": {"1": "AP8="},
        "e": "é",
    }
    assert plain("x") == "x"


def test_columns_that_do_not_fit_are_named() -> None:
    out = Console(width=30, record=True, file=None, soft_wrap=True)
    with out.capture() as captured:
        print_rows(out, ["row", "name", "more"], [[1, "x" * 20, None], [10, "a\nb\t", "[red]"]])
    text = captured.get()
    assert "x" * 20 in text
    assert "a⏎b⇥" in text
    assert "… 1 more column: more; see --json" in text
    assert all(len(line.rstrip()) <= 40 for line in text.splitlines())


def test_markup_in_values_is_text() -> None:
    out = Console(width=80, soft_wrap=True)
    with out.capture() as captured:
        print_rows(out, ["[b]"], [["[red]x[/red]"], [None]])
    assert "[red]x[/red]" in captured.get()
    assert "null" in captured.get()
