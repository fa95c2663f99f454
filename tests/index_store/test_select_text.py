from __future__ import annotations

import pytest

from provspark.errors import ConditionError
from provspark.index_store.select import Condition, parse_condition


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("education=Preschool", ("education", "=", "Preschool")),
        (" hours  >= 40 ", ("hours", ">=", "40")),
        ("a<1", ("a", "<", "1")),
        ("a <= 1", ("a", "<=", "1")),
        ("a>-1", ("a", ">", "-1")),
        ("a!=b c", ("a", "!=", "b c")),
        ("a=' x '", ("a", "=", " x ")),
        ("a='it''s'", ("a", "=", "it's")),
        ('a="say ""hi"""', ("a", "=", 'say "hi"')),
        ("a=''", ("a", "=", "")),
        ("a=b, c", ("a", "=", "b, c")),
        ("a='>='", ("a", "=", ">=")),
        ("capital-gain.1 = 0", ("capital-gain.1", "=", "0")),
        ("`a=b```=1", ("a=b`", "=", "1")),
        ("margin=3", ("margin", "=", "3")),
        ("this = 'in (1)'", ("this", "=", "in (1)")),
        ("a b is null", ("a b", "is null", None)),
        ("a IS NOT NULL", ("a", "is not null", None)),
        ("a in (1, 'b, c' ,d e)", ("a", "in", ("1", "b, c", "d e"))),
        ("a in(1)", ("a", "in", ("1",))),
        ("a=x in (1)", ("a", "=", "x in (1)")),
        ("a=is null", ("a", "=", "is null")),
        ("a like 'x%'", ("a", "like", "x%")),
        ("a.b STARTSWITH it is", ("a.b", "startswith", "it is")),
        ("a = b like c", ("a", "=", "b like c")),
    ],
)
def test_conditions_as_people_type_them(text: str, want: tuple[object, ...]) -> None:
    assert parse_condition(text) == Condition(*want)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a=",
        "=1",
        "a==1",
        "a<>1",
        "a = 'x",
        "a in ()",
        "a in (1",
        "a in (,)",
        "a='x', 'y'",
        "is null",
        "a like",
        "like 'x'",
    ],
)
def test_what_is_no_condition(text: str) -> None:
    with pytest.raises(ConditionError, match="write column=value"):
        parse_condition(text)
