from __future__ import annotations

import importlib
import random
import re
import sys
from types import FrameType
from typing import Any

import pytest

from provspark.errors import ConditionError
from provspark.index_store.values import conditions
from provspark.index_store.values.conditions import Condition, parse_condition


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
    with pytest.raises(ConditionError, match="Write column=value"):
        parse_condition(text)


COLUMN = r"\s*(?:`(?P<quoted>(?:[^`]|``)+)`|(?P<plain>[^`=<>!]+?))"
KINDS = (
    (r"\s+is\s+(?P<no>not\s+)?null\s*", "null"),
    (r"\s+in\s*\((?P<rest>.*)\)\s*", "in"),
    (r"\s*(?P<operator><=|>=|!=|=|<|>)(?P<rest>.*)", "compares"),
    (r"\s+(?P<operator>like|startswith)\s+(?P<rest>.*)", "words"),
)
VALUE = re.compile(r"\s*(?:'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"|([^'\"=<>!,\s](?:[^,]*[^,\s])?))\s*(,|$)", re.DOTALL)


def by_patterns(text: str) -> Condition | None:
    """Read a condition by regular expressions: short to write, and slow on long texts."""
    for pattern, kind in KINDS:
        found = re.fullmatch(COLUMN + pattern, text, re.DOTALL | re.IGNORECASE)
        if not found:
            continue
        name = found["quoted"].replace("``", "`") if found["quoted"] is not None else found["plain"].strip()
        if not name:
            return None
        if kind == "null":
            return Condition(name, "is not null" if found["no"] else "is null")
        values, at, more = [], 0, ","
        while more:
            value = VALUE.match(found["rest"], at)
            if not value:
                return None
            single, double, bare, more = value.groups()
            values.append(
                single.replace("''", "'")
                if single is not None
                else double.replace('""', '"')
                if double is not None
                else bare
            )
            at = value.end()
        rest = found["rest"].strip()
        if kind == "in":
            return Condition(name, "in", tuple(values))
        if len(values) > 1 and rest[0] in "'\"":
            return None
        return Condition(name, found["operator"].lower(), values[0] if len(values) == 1 else rest)
    return None


PIECES = (
    *" \t`'\"=<>!,(),ab",
    " in ",
    " in(",
    " is ",
    " is null",
    " not ",
    " null",
    " like ",
    " startswith ",
    "``",
    "''",
)


def drawn(rng: random.Random, pieces: int) -> str:
    """A text of these pieces, of which a few come often: runs of blanks, quotes and brackets."""
    often = [rng.choice(PIECES) for _ in range(3)]
    return "".join(rng.choice(often if rng.random() < 0.6 else PIECES) for _ in range(pieces))


@pytest.mark.parametrize("seed", range(20))
def test_texts_are_read_as_by_patterns(seed: int) -> None:
    rng = random.Random(seed)
    read = 0
    for _ in range(1500):
        text = drawn(rng, rng.randint(1, 9))
        try:
            found: Condition | None = parse_condition(text)
        except ConditionError:
            found = None
        assert found == by_patterns(text), text
        read += found is not None
    assert read > 30


def steps(text: str) -> int:
    """Count the lines of the parser that run for a text."""
    count = 0

    def line(_frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def call(frame: FrameType, _event: str, _arg: Any) -> Any:
        return line if frame.f_code.co_filename == conditions.__file__ else None

    sys.settrace(call)
    try:
        parse_condition(text)
    except ConditionError:
        pass
    finally:
        sys.settrace(None)
    return count


def test_the_parsers_steps_grow_with_the_length_of_the_text() -> None:
    rng = random.Random(7)
    texts = [piece * 2000 for piece in PIECES] + [f"a{piece * 2000}=1" for piece in PIECES]
    texts += ["a" + " " * 2000, "a" + " " * 2000 + "in" + " " * 2000, "`" + "``" * 2000, "a in (" + "'" * 2001]
    texts += [drawn(rng, rng.choice((200, 2000))) for _ in range(300)]
    for text in texts:
        assert steps(text) <= 100 + 12 * len(text), text[:80]


def test_the_old_name_of_the_module_works_and_warns() -> None:
    with pytest.warns(DeprecationWarning, match=r"import from provspark\.index_store\.values\.selection"):
        old = importlib.import_module("provspark.index_store.select")
    assert old.parse_condition("age >= 40") == conditions.parse_condition("age >= 40")
