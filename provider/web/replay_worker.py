"""A process that replays: takes questions and gives answers, a line of JSON each, and ends when there are no more.

Replays run Spark, which no server of pages should hold: here they can be ended at any time. What is masked is left out
before it leaves this process.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from provspark.api import Provenance
from provspark.checks import find_java
from provspark.errors import CorruptIndexError, ProvSparkError, ReplayError
from provspark.index_store.model import Field, jsonable
from provspark.index_store.operations import Operation
from provspark.index_store.profiles.compare import Impact
from provspark.index_store.profiles.model import Profile
from provspark.index_store.query.graph import Direction
from provspark.index_store.values.plain import plain
from provspark.replay.columns import distinct
from provspark.replay.history import History, Passage
from provspark.replay.profiled import names_of
from provspark.replay.records import Replayed, Source
from provspark.replay.spread import OperationProfiles
from provspark.web.policy import Policy

__all__ = ["main"]

_PATIENCE = 120.0
"""Seconds without a question after which the process ends."""
_LINES = 200
_UNTOLD = "the reason may tell values that are not shown here"


def main() -> int:
    """Answer what comes in at the standard input."""
    # Whatever else writes to the standard output, Spark's start among it, must not stand between the answers.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    known: dict[str, Provenance] = {}
    while select.select([sys.stdin], [], [], _PATIENCE)[0]:
        line = sys.stdin.readline()
        if not line:
            break
        _say(out, _answer(json.loads(line), known, out))
    return 0


def _answer(question: dict[str, Any], known: dict[str, Provenance], out: TextIO) -> dict[str, Any]:
    try:
        if not known:
            find_java()
        return {"answer": _replay(question, known, out)}
    except CorruptIndexError as error:
        return {"error": type(error).__name__, "why": error.what, "path": error.path}
    except ProvSparkError as error:
        return {"error": type(error).__name__, "why": str(error)}


def _replay(question: dict[str, Any], known: dict[str, Provenance], out: TextIO) -> Any:
    url, dags = question["url"], question["dags"]
    prov = known.get(url) or known.setdefault(url, Provenance(url))
    prov.refresh()
    prov.replayer.most = _LINES
    mine = prov if dags is None else prov.restricted(lambda m: m.key.dag_id in dags)

    def progress(done: int, of: int, text: str) -> None:
        _say(out, {"done": done, "of": of})

    policy = Policy(question["show_values"], tuple(question["masks"]))
    if "operation" in question:
        number = question["operation"]
        told = mine.operation_profiles(question["step"], [number], output=question["output"], progress=progress)
        return _spread(told, number, question["child"], policy)
    about: dict[str, Any] = {"version": question["version"], "progress": progress}
    dataset, rows, step = question["dataset"], question["rows"], question["step"]
    if step is None:
        found: History = mine.history(dataset, rows, direction=question["direction"], **about)
        return [_passage(p, policy) for p in found.passages]
    replayed = mine.before_after(dataset, rows, step=step, **about)
    way: Direction = "backward" if replayed.dataset == dataset else "forward"
    return [_passage(Passage(way, replayed.step, replayed.write, replayed.dataset, (), replayed), policy)]


def _spread(told: OperationProfiles, number: int, child: int | None, policy: Policy) -> dict[str, Any]:
    """An operation's columns before and after; those that are masked, or made with one that is, by name alone."""
    hidden = _hidden(told.operations, policy)
    untold = next((s for s in told.stages if s.profile is None), None)
    if untold is not None and hidden:
        raise ReplayError(f"the rows after operation {untold.operation.index} can't be profiled: {_UNTOLD}")
    operation = told.operations[number]
    if operation.children:
        impact = told.impact(number, child)
    else:
        impact = Impact(told.step, Profile("", "", 0, ()), told.after(number))
    covered = {
        names_of(o)[i]
        for o in (operation, *(told.operations[c] for c in operation.children))
        for i in hidden & names_of(o).keys()
    }
    return {
        **_told(operation, policy, hidden),
        "children": list(operation.children),
        "before_rows": impact.before.rows if operation.children else None,
        "after_rows": impact.after.rows,
        "columns": [
            {"name": name, "masked": True, "before": None, "after": None}
            if name in covered
            else {"name": name, "masked": False, "before": jsonable(before), "after": jsonable(after)}
            for name, before, after in impact.pairs()
        ],
        "verified": told.verified,
        "doubt": _UNTOLD if told.why and hidden else told.why,
    }


def _passage(passage: Passage, policy: Policy) -> dict[str, Any]:
    about = {"direction": passage.direction, "step": passage.step, "write": passage.write, "dataset": passage.dataset}
    told = passage.replayed
    if told is None:
        empty: dict[str, Any] = {"verified": None, "doubt": "", "results": [], "stages": [], "endings": [], "notes": []}
        return {**about, "why": passage.why, **empty}
    hidden = _hidden(told.operations, policy)
    open_text = policy.show_values and not hidden
    return {
        **about,
        "why": "",
        "verified": told.verified,
        "doubt": told.why if open_text or not told.why else _UNTOLD,
        "results": list(told.results[:_LINES]),
        "stages": _stages(told, policy, hidden),
        "endings": [
            {
                **_told(e.operation, policy, hidden),
                "cause": e.cause,
                "whole": e.whole,
                "before": e.before,
                "lines": list(e.lines),
            }
            for e in told.endings
        ],
        "notes": [
            f"{_told(operation, policy, hidden)['text'] or operation.node}: {why}"
            for operation, why in (*told.stopped, *told.doubts)
            if open_text
        ],
    }


def _stages(told: Replayed, policy: Policy, hidden: set[int]) -> list[dict[str, Any]]:
    stages = []
    for stage in told.stages:
        columns = distinct(stage.operation.columns)
        open_to = [policy.show_values and c.id not in hidden for c in columns]
        stages.append(
            {
                **_told(stage.operation, policy, hidden),
                "columns": [
                    {"name": c.name, "type": c.type, "masked": not o} for c, o in zip(columns, open_to, strict=True)
                ],
                "cut": stage.cut,
                "lines": [
                    {
                        "values": [plain(v) if o else None for v, o in zip(line.values, open_to, strict=True)]
                        if policy.show_values
                        else None,
                        "changed": list(line.changed),
                        "added": list(line.added),
                        "parents": [list(p) for p in line.parents],
                        "sources": [_source(s) for s in line.sources[:_LINES]],
                    }
                    for line in stage.lines
                ],
            }
        )
    return stages


def _hidden(operations: Sequence[Operation], policy: Policy) -> set[int]:
    """Columns between operations that are masked, or whose values were made with those of one that is."""
    found: set[int] = set()
    for operation in operations:
        found |= {c.id for c in operation.columns if policy.masked(Field(c.name, c.type))}
        found |= {link.out for link in operation.links if link.out >= 0 and link.source in found}
    return found


def _told(operation: Operation, policy: Policy, hidden: set[int]) -> dict[str, Any]:
    """An operation, without its text where that may tell what masked values are compared with."""
    touched = {t.column for e in operation.expressions for t in e.terms} | {e.column for e in operation.expressions}
    touched |= {x for link in operation.links for x in (link.source, link.out)}
    told = policy.show_values and not touched & hidden
    return {
        "operation": operation.index,
        "name": operation.name or operation.node,
        "text": operation.text if told else None,
        "site": operation.site,
    }


def _source(source: Source) -> dict[str, Any]:
    return {"dataset": source.dataset, "version": source.version, "row": source.row}


def _say(out: TextIO, what: dict[str, Any]) -> None:
    out.write(json.dumps(what) + "\n")


if __name__ == "__main__":
    sys.exit(main())
