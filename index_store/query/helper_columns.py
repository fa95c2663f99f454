"""Replaces the names of columns that Spark adds to a plan, such as `_w0`, with their expressions in texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from provspark.model.operation_texts import named
from provspark.model.operations import Column, Operation

__all__ = ["behind", "helpers", "meanings", "readable"]

_NAME = re.compile(r"_we?\d+|_gen_\w+|_common_expr_\w+|_nondeterministic|_groupingexpression|aggOrder|__pivot_.*", re.S)
_QUALIFIER = re.compile(r"`?__auto_generated_subquery_name`?\.")
_MOST = 480
"""Maximum number of characters of a text in which names were replaced."""
_LITERAL = r"'(?:[^'\\]|\\.)*'"


def helpers(operations: Sequence[Operation]) -> dict[int, str]:
    """Return by id the names of columns that Spark added: those with such a name that are computed, but not written."""
    written = {c.id for c in operations[-1].columns} if operations else set()
    return {
        c.id: c.name
        for op in operations
        if op.children
        for c in op.columns
        if _NAME.fullmatch(c.name) and c.id not in written
    }


def meanings(operations: Sequence[Operation]) -> dict[int, str]:
    """Return by id the expression over the user's columns that each column added by Spark represents."""
    own = helpers(operations)
    known: dict[int, str] = {}
    for op in operations:
        made = {c.id: c for c in op.columns if c.id in own and c.id not in known}
        if not made:
            continue
        texts = {e.column: named(e.sql, known) for e in op.expressions if e.column in made and e.sql}
        left = [c for c in made.values() if c.id not in texts]
        texts |= {i: _put(text, _scope(op, operations, known)) for i, text in _parsed(op, left).items()}
        known |= {i: texts.get(i, "a value of Spark's own") for i in made}
    return known


def readable(operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """Return the same operations with texts that name no column added by Spark."""
    known = meanings(operations)
    return tuple(_told(op, operations, known) for op in operations)


def behind(operations: Sequence[Operation], number: int) -> set[int]:
    """Return the operations whose expressions replace columns added by Spark in the text of operation `number`."""
    own = helpers(operations)
    if not own:
        return set()
    makers = {i: op for op in reversed(operations) for c in op.columns if (i := c.id) in own}
    reached: set[int] = set()
    waiting = [operations[number]]
    while waiting:
        op = waiting.pop()
        used = {t.column for e in op.expressions for t in e.terms} | {link.source for link in op.links}
        used |= {c.id for i in op.children for c in operations[i].columns} - {c.id for c in op.columns}
        for maker in (makers[i] for i in used & own.keys()):
            if maker.index not in reached and maker.index != number:
                reached.add(maker.index)
                waiting.append(maker)
    return reached


def _told(op: Operation, operations: Sequence[Operation], known: Mapping[int, str]) -> Operation:
    text = _QUALIFIER.sub("", op.text)
    here = _scope(op, operations, known)
    mine = [c for c in op.columns if c.id in known and c.id not in {x.id for x in _below(op, operations)}]
    if here or mine:
        text = _put(_cut(text, {*here, *(c.name for c in mine)}), here | {c.name: known[c.id] for c in mine})
        made = {e.column for e in op.expressions if e.role == "output"}
        if mine and made == {c.id for c in mine} and "aggregate" not in op.categories:
            text = f"compute {text}"
        text = text if len(text) <= _MOST else text[: _MOST - 1] + "…"
    return op if text == op.text else replace(op, text=text)


def _below(op: Operation, operations: Sequence[Operation]) -> Iterable[Column]:
    return (c for i in op.children for c in operations[i].columns)


def _scope(op: Operation, operations: Sequence[Operation], known: Mapping[int, str]) -> dict[str, str]:
    """Return by name the expressions of the columns added by Spark in the text of an operation."""
    return {c.name: known[c.id] for c in _below(op, operations) if c.id in known}


def _put(text: str, meant: Mapping[str, str]) -> str:
    """Replace names outside of literals; drop ``name = `` before the expression that the name represents."""
    if not meant:
        return text
    forms = {form: told for name, told in meant.items() for form in (_quoted(name), name)}
    names = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    pattern = re.compile(rf"{_LITERAL}|(?P<given>(?:^|(?<=[,;:] ))(?:{names}) = )|(?<![\w`.])({names})(?![\w`])", re.S)

    def told(match: re.Match[str]) -> str:
        return "" if match["given"] else forms.get(match[2], match[0])

    return pattern.sub(told, text)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _cut(text: str, names: Iterable[str]) -> str:
    """Remove what may be the beginning of a name from the end of a truncated text."""
    end = re.search(r"([_\w]+)…$", text)
    if end and any(name.startswith(end[1]) for name in names):
        return text[: end.start()] + "…"
    return text


def _parsed(op: Operation, columns: Sequence[Column]) -> dict[int, str]:
    """Return by id the expressions that an operation's text contains for columns without SQL."""
    names = [f"{c.name} = " for c in op.columns]
    texts = {}
    for column in columns:
        _, there, rest = op.text.partition(f"{column.name} = ")
        if there:
            ends = [at for name in names if (at := rest.find(f", {name}")) >= 0]
            texts[column.id] = rest[: min(ends, default=len(rest))]
    return texts
