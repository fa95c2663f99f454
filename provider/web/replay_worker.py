"""A process that replays: takes questions and gives answers, a line of JSON each, and ends when there are no more.

Replays run Spark, which no server of pages should hold: here they can be ended at any time. What is masked is left out
before it leaves this process.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from threading import Event, Thread
from typing import Any, TextIO

from provspark.api import Provenance
from provspark.index_store.profiles.comparison import Impact
from provspark.index_store.profiles.profile import Profile
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import Direction
from provspark.index_store.values.json_cells import plain
from provspark.machine_checks import find_java
from provspark.model.errors import CorruptIndexError, ProvSparkError, ReplayError
from provspark.model.json_form import jsonable
from provspark.model.operations import Operation
from provspark.replay.columns import distinct, names_of
from provspark.replay.history import History, Passage
from provspark.replay.records import InputRow, Replayed
from provspark.replay.spread import OperationProfiles
from provspark.web.policy import Policy
from provspark.web.visible import Visible

__all__ = ["main"]

_NICE = 10
_PATIENCE = 120.0
"""Seconds without a question after which the process ends."""
_LINES = 200
_UNTOLD = "the reason may tell values that are not shown here"


def main() -> int:
    """Answer what comes in at the standard input."""
    # Whatever else writes to the standard output, Spark's start among it, must not stand between the answers.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    # Spark's Java inherits it: a replay gets what the server leaves of the processor.
    os.nice(_NICE)
    busy = Event()
    Thread(target=_watch_server, args=(busy,), daemon=True).start()
    known: dict[str, Provenance] = {}
    while select.select([sys.stdin], [], [], _PATIENCE)[0]:
        line = sys.stdin.readline()
        if not line:
            break
        busy.set()
        _say(out, _answer(json.loads(line), known, out))
        busy.clear()
    return 0


def _watch_server(busy: Event) -> None:
    """Where the server dies amid a question, end this process with all that it started."""
    poll = select.poll()
    poll.register(sys.stdin, 0)  # only the end of the pipe
    poll.poll()
    busy.wait()
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)


def _answer(question: dict[str, Any], known: dict[str, Provenance], out: TextIO) -> dict[str, Any]:
    visible = None
    try:
        if not known:
            find_java()
        url = question["url"]
        prov = known.get(url) or known.setdefault(url, Provenance(url))
        prov.refresh()
        visible = Visible(Policy.read(question["policy"]), Linker(prov.graph))
        return {"answer": _replay(question, prov, visible, out)}
    except CorruptIndexError as error:
        return {"error": type(error).__name__, "why": error.what, "path": error.path}
    except ProvSparkError as error:
        return {"error": type(error).__name__, "why": visible.error(error) if visible else str(error)}


def _replay(question: dict[str, Any], prov: Provenance, visible: Visible, out: TextIO) -> Any:
    dags = question["dags"]
    prov.replayer.most = _LINES
    mine = prov if dags is None else prov.restricted(lambda m: m.key.dag_id in dags)

    def progress(done: int, of: int, text: str) -> None:
        _say(out, {"done": done, "of": of})

    if "operation" in question:
        number = question["operation"]
        told = mine.operation_profiles(question["step"], [number], output=question["output"], progress=progress)
        return _spread(told, number, question["child"], visible)
    about: dict[str, Any] = {"version": question["version"], "progress": progress}
    dataset, rows, step = question["dataset"], question["rows"], question["step"]
    if step is None:
        history: History = mine.history(dataset, rows, direction=question["direction"], **about)
        return [_passage(p, visible) for p in history.passages]
    replayed = mine.replay(dataset, rows, step=step, **about)
    way: Direction = "backward" if replayed.dataset == dataset else "forward"
    return [_passage(Passage(way, replayed.step, replayed.write, replayed.dataset, (), replayed), visible)]


def _spread(told: OperationProfiles, number: int, child: int | None, visible: Visible) -> dict[str, Any]:
    """An operation's columns before and after; those that are masked, or made with one that is, by name alone."""
    hidden = _hidden(told, visible)
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
        **_told(told, operation, visible),
        "children": list(operation.children),
        "before_rows": impact.before.rows if operation.children else None,
        "after_rows": impact.after.rows,
        "columns": [
            {"name": visible.name_in(told.step, told.write, name), "masked": True, "before": None, "after": None}
            if name in covered or (before is not None and before.name in covered)
            else {"name": name, "masked": False, "before": jsonable(before), "after": jsonable(after)}
            for name, before, after in impact.pairs()
        ],
        "verified": told.verified,
        "doubt": _UNTOLD if told.why and hidden else told.why,
    }


def _passage(passage: Passage, visible: Visible) -> dict[str, Any]:
    about = {"direction": passage.direction, "step": passage.step, "write": passage.write, "dataset": passage.dataset}
    told = passage.replayed
    if told is None:
        empty: dict[str, Any] = {"verified": None, "doubt": "", "results": [], "stages": [], "endings": [], "notes": []}
        return {**about, "why": visible.text(passage.why), **empty}
    hidden = _hidden(told, visible)
    open_text = visible.values and not hidden
    return {
        **about,
        "why": "",
        "verified": told.verified,
        "doubt": told.why if open_text or not told.why else _UNTOLD,
        "results": list(told.results[:_LINES]),
        "stages": _stages(told, visible, hidden),
        "endings": [
            {
                **_told(told, e.operation, visible),
                "cause": e.cause,
                "whole": e.whole,
                "before": e.before,
                "lines": list(e.lines),
            }
            for e in told.endings
        ],
        "notes": [
            f"{_told(told, operation, visible)['text'] or operation.node}: {why}"
            for operation, why in (*told.stopped, *told.doubts)
            if open_text
        ],
    }


def _stages(told: Replayed, visible: Visible, hidden: frozenset[int]) -> list[dict[str, Any]]:
    stages = []
    for stage in told.stages:
        columns = distinct(stage.operation.columns)
        open_to = [visible.values and c.id not in hidden for c in columns]
        closed = {c.name for c, o in zip(columns, open_to, strict=True) if not o}
        stages.append(
            {
                **_told(told, stage.operation, visible),
                "columns": [
                    {"name": visible.name_in(told.step, told.write, c.name), "type": c.type, "masked": not o}
                    for c, o in zip(columns, open_to, strict=True)
                ],
                "cut": stage.cut,
                "lines": [
                    {
                        "values": [plain(v) if o else None for v, o in zip(line.values, open_to, strict=True)]
                        if visible.values
                        else None,
                        "changed": [name for name in line.changed if name not in closed],
                        "added": [visible.name_in(told.step, told.write, name) for name in line.added],
                        "parents": [list(p) for p in line.parents],
                        "sources": [_source(s) for s in line.sources[:_LINES]],
                    }
                    for line in stage.lines
                ],
            }
        )
    return stages


def _hidden(told: Replayed | OperationProfiles, visible: Visible) -> frozenset[int]:
    """Columns between operations that are masked."""
    return frozenset[int]().union(*(visible.within(node) for node in visible.nodes(told.step, told.write)))


def _told(told: Replayed | OperationProfiles, operation: Operation, visible: Visible) -> dict[str, Any]:
    """An operation, without its text where that may tell what masked values are compared with."""
    return {
        "operation": operation.index,
        "name": operation.name or operation.node,
        "text": visible.step_operations(told.step, told.write, [operation.index], operation.text),
        "site": visible.path(operation.site),
    }


def _source(source: InputRow) -> dict[str, Any]:
    return {"dataset": source.dataset, "version": source.version, "row": source.row}


def _say(out: TextIO, what: dict[str, Any]) -> None:
    out.write(json.dumps(what) + "\n")


if __name__ == "__main__":
    sys.exit(main())
