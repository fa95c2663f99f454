"""What answers otherwise than in the last release on purpose, and how far it may: all else is as it was.

`KEYS` has what became of a key of an answer's objects, `LINES` what became of the answers to certain lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

OWN = r"_we?\d+"
"""Columns that Spark adds on its own."""
_COLUMN_WORDS = {"transformation", "vertical augmentation", "vertical reduction"}
_HELPS = rf"drop |select |{OWN} = "


@dataclass(frozen=True)
class Change:
    """A change, where it was announced, and whether it explains that an object has another value at a key."""

    fragment: str
    what: str
    explains: Callable[[str, dict[str, Any], dict[str, Any]], bool]


def of_key(key: str, now: dict[str, Any], then: dict[str, Any]) -> Change | None:
    """The change by which an object has another value at a key."""
    return next((change for change in KEYS.get(key, ()) if change.explains(key, now, then)), None)


def _text(key: str, now: dict[str, Any], then: dict[str, Any]) -> bool:
    return is_text_of(now[key], then[key])


def is_text_of(now: str, then: str) -> bool:
    """Whether a text is the former one without Spark's own columns, and without drops of what is made anew."""
    parts = then.split("; ")
    if len(parts) == 1:
        bare = re.sub(rf"(^|, ){OWN} = ", r"\1", then)
        return _like(now, bare if bare == then else f"compute {bare}")
    made = {name for part in parts for name in re.findall(r"(?:^|, )(\w+) = ", part)}
    may = [part for part in parts if re.match(_HELPS, part)]
    must = [part for part in parts if part not in may]
    dropped = {name for part in may if part.startswith("drop ") for name in part.removeprefix("drop ").split(", ")}
    told = now.split("; ")
    still = {name for part in told if part.startswith("drop ") for name in part.removeprefix("drop ").split(", ")}
    rest = [part for part in told if not re.match(_HELPS, part)]
    return (
        len(rest) == len(must)
        and all(map(_like, rest, must))
        and still <= dropped
        and all(name in made or re.fullmatch(OWN, name) for name in dropped - still)
    )


def _like(now: str, then: str) -> bool:
    """Whether a text is the former one, with expressions for Spark's own columns."""
    return re.fullmatch(re.sub(OWN, ".+", re.escape(then)), now) is not None


def _categories(key: str, now: dict[str, Any], then: dict[str, Any]) -> bool:
    """Of a composite's columns only what has become of them in the end; all else as it was."""
    if len(then["operations"]) == 1 or [c for c in now[key] if c not in _COLUMN_WORDS] != [
        c for c in then[key] if c not in _COLUMN_WORDS
    ]:
        return False
    came, gone = ({name for name in now[k] if not re.fullmatch(OWN, name)} for k in ("makes", "drops"))
    anew = came if "imputation" in now["category"] else came & {*now["columns_in"]}
    words = (
        *(["transformation"] if anew else []),
        *(["vertical augmentation"] if came - anew else []),
        *(["vertical reduction"] if gone - {*now["columns_out"]} else []),
    )
    return {*words} == _COLUMN_WORDS & {*now[key]}


def _in_a_loop(key: str, now: dict[str, Any], then: dict[str, Any]) -> bool:
    """A line's columns over all its operations, where those of other lines stand between them."""
    numbers = then["operations"]
    if numbers == list(range(numbers[0], numbers[-1] + 1)):
        return False
    if key == "columns_in":
        return {*now[key]} <= {*then[key]} and {*then[key]} - {*now[key]} <= {*now["makes"]}
    return {*now[key]} > {*then[key]}


def _without_own(key: str, now: dict[str, Any], then: dict[str, Any]) -> bool:
    return bool(now[key] == [name for name in then[key] if not re.fullmatch(OWN, name)])


def _by_expression(key: str, now: dict[str, Any], then: dict[str, Any]) -> bool:
    """Whether columns, or values by column, are the former ones, with expressions for Spark's own columns."""
    came, went = now[key], then[key]
    if isinstance(went, dict):
        users = {name: value for name, value in went.items() if not re.fullmatch(OWN, name)}
        told = {name: value for name, value in came.items() if name not in users}
        return {**came, **users} == came and [*told.values()] == [went[name] for name in went if name not in users]
    pairs = zip(came, went, strict=True) if isinstance(went, list) else [(came, went)]
    return all(a == b or (isinstance(b, str) and re.fullmatch(OWN, b) and not re.match(OWN, str(a))) for a, b in pairs)


def _same_problem(key: str, now: dict[str, Any], then: dict[str, Any]) -> bool:
    return (now["type"], now["status"]) == (then["type"], then["status"])


_LOOP = Change("0025-definitions", "where a script's loop alternates two lines", _in_a_loop)
_NAMES = Change("0025-operations", "`makes` and `columns_out` of a line leave them out, too", _without_own)
_EXPRESSIONS = Change("0025-operations", "the expression in place of a column that Spark adds", _by_expression)
KEYS = {
    "text": (Change("0025-operations", "operation texts no longer show columns that Spark adds", _text),),
    "categories": (Change("0025-operations", "compare the columns before it with those after it", _categories),),
    "columns_in": (_LOOP,),
    "columns_out": (_NAMES,),
    "makes": (_LOOP, _NAMES),
    "drops": (_LOOP,),
    "column": (_EXPRESSIONS,),
    "added": (_EXPRESSIONS,),
    "values": (_EXPRESSIONS,),
    "detail": (Change("0026-http-errors", "`detail` of HTTP errors is a sentence", _same_problem),),
}


def of_line(line: str, now: Any, then: Any) -> Any:
    """What the last release would have answered to a line with the changes that touch it, or all that it did."""
    return LINES[line][2](now, then) if line in LINES else then


def _texts(now: list[str], then: list[str]) -> list[str]:
    pairs = zip(now, then, strict=True)
    return [one if is_text_of(one, other) else other for one, other in pairs]


def _informed(now: list[str], then: list[str]) -> list[str]:
    return sorted([*then, "wasInformedBy"])


def _short(now: list[str], then: list[str]) -> list[str]:
    return [text.replace("_we0) →", "avg(known) … →") for text in then]


def _fewer(now: Any, then: Any) -> Any:
    """Without what neither read nor made the column; of a composite, without its operations that did not."""
    kept = []
    lines = iter(then["and --json"])
    for told in now["and --json"]:
        for line in lines:
            if line["step"] == told["step"] and {*told["operations"]} <= {*line["operations"]}:
                part = told["operations"] != line["operations"]
                kept.append({k: told[k] if part and k in _OF_PARTS else v for k, v in line.items()})
                break
            decides = {*line["categories"]} <= {"horizontal reduction"}  # sorts and filters
            assert "age" not in line["makes"] and (decides or "age" not in line["reads"]), line
    assert all("age" not in line["makes"] for line in lines)
    return {"and --json": kept}


_OF_PARTS = ("operations", "text", "columns_out", "drops", "categories")


def _paired(now: Any, then: Any) -> Any:
    """One line, where a column went and came under another name."""
    key = ("operation", "child", "column", "measure")
    told = {tuple(line[k] for k in key): line for line in now["lines"]}
    went = {}
    for line in then["lines"]:
        if tuple(line[k] for k in key) not in told:
            assert line["after"] is None
            went[line["operation"], line["measure"]] = line["before"]
    lines = [line for line in then["lines"] if tuple(line[k] for k in key) in told]
    for i, line in enumerate(lines):
        one = told[tuple(line[k] for k in key)]
        if one["before"] != line["before"]:
            assert line["before"] is None
            before = went.pop((line["operation"], line["measure"]))
            lines[i] = {**line, "before": before, "change": line["after"] - before}
    assert not went
    return {**then, "lines": lines}


def _shares(now: Any, then: Any) -> Any:
    """Those of a column that is handed on: none changed."""
    assert {(line["column"], line["change"]) for line in now["lines"]} == {("capital_gain#5", 0.0)}
    return {**then, "lines": now["lines"]}


def _profiles(now: Any, then: Any) -> Any:
    status, kind, body = then
    *columns, went = body["columns"]
    assert (went["name"], went["after"]) == ("capital_gain", None)
    pair = [{**c, "before": went["before"]} if c["name"] == "capital_gain#5" else c for c in columns]
    return [status, kind, {**body, "columns": pair, "total": body["total"] - 1}]


_ITEM = "changes(prov.before_after(IMPUTED, [17]), 'credit_amount')"
LINES: dict[str, tuple[str, str, Callable[[Any, Any], Any]]] = {
    "[line.text for line in prov.ask.operations('/data/report')]": (
        *("0025-operations", "operation texts no longer show columns that Spark adds"),
        _texts,
    ),
    _ITEM: (*("0025-operations", "operation texts no longer show columns that Spark adds"), _short),
    "provspark operations /data/people.csv --forward --column age": (
        *("0025-operations", "operations that only changed other columns"),
        _fewer,
    ),
    "sorted(around.prov_json())": (*("0025-operations", "in W3C PROV, operations are activities"), _informed),
    "sorted(cells.prov_json())": (*("0025-operations", "in W3C PROV, operations are activities"), _informed),
    "told.table()": (*("0025-definitions", "compares a renamed column with its predecessor"), _paired),
    "told.impact(3).shares()": (*("0025-definitions", "compares a renamed column with its predecessor"), _shares),
    "GET /steps/shop-imputed-9d4cfb13709589f5/operations/3/profiles": (
        *("0025-definitions", "compares a renamed column with its predecessor"),
        _profiles,
    ),
}
"""By line: the fragment, its words, and what makes the last release's answer one of today."""
