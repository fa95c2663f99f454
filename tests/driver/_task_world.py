"""Runs DAGs in this process: captured tasks under capture, all others for real; rows pass through files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from _driver_sources import place
from _task_flows import Case, Flow
from _task_runs import Running
from airflow.sdk import DAG

import provspark
from provspark.errors import UnknownDatasetError, UntrackedError
from provspark.index_store.query.answer import possible_of, stops_of, trusted_of
from provspark.model.stops import Stop

PERSON = 3
"""Row of the source that every question begins with: Dan, whom all outputs keep."""
NAME = "Dan"


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer says of another data set, `goal`.

    Parameters
    ----------
    reached : {"edge", "possible", "unknown", ""}
        How rows of it are reached; ``unknown`` where no captured step knows it.
    other : bool
        Whether there are rows of other data sets.
    stops : tuple of Stop
    trusted : set of str
        The entries that were trusted.
    """

    reached: str
    other: bool = False
    stops: tuple[Stop, ...] = ()
    trusted: frozenset[str] = frozenset()

    @property
    def how(self) -> str:
        """How it is reached, and the kinds of the stops; "" where an answer leads nowhere and does not say why."""
        return " ".join(part for part in (self.reached, *sorted({stop.what for stop in self.stops})) if part)

    @property
    def told(self) -> str:
        """All that the stops say."""
        return "\n".join(f"{stop.dataset} {stop.why}" for stop in self.stops)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case: states of its tasks, rows of its last data set, answers about it.

    Parameters
    ----------
    arrived : bool
        Whether the person is in the last data set's files.
    ahead, to, back : Answer
        ``forward(source, person)``, the same with ``to=last``, and ``backward(last)``.
    """

    states: Mapping[str, str]
    arrived: bool
    ahead: Answer
    to: Answer
    back: Answer


class TaskWorld:
    """The source, and what became of each case."""

    def __init__(self, folder: Path, spark: Any) -> None:
        self._folder, self._spark = folder, spark
        self._people, _ = place(folder / "sources")
        self._known: dict[str, Outcome] = {}

    def outcome(self, case: Case) -> Outcome:
        """Run a case, once."""
        if case.name not in self._known:
            self._known[case.name] = self._run(case)
        return self._known[case.name]

    def _run(self, case: Case) -> Outcome:
        folder = self._folder / case.name
        flow = Flow(folder, str(self._people))
        with DAG("people", start_date=datetime(2024, 1, 1, tzinfo=timezone.utc), schedule=None) as dag:
            case.body(flow)
        flow.dags.insert(0, dag)
        running = Running(flow, self._spark)
        for number in range(case.runs):
            flow.run_id = f"run-{number + 1}"
            running.all_dags()
        if flow.cleared:
            running.cleared()
        last = flow.last or flow.reported
        prov = provspark.open(flow.store)
        return Outcome(
            running.states,
            NAME in _text(Path(last)),
            _ask(prov, "forward", flow.source, [PERSON], last, {"trust": case.trust}),
            _ask(prov, "forward", flow.source, [PERSON], last, {"trust": case.trust, "to": last}),
            _ask(prov, "backward", last, None, flow.source, {"trust": case.trust}),
        )


def _ask(prov: Any, question: str, dataset: str, rows: Iterable[int] | None, goal: str, more: dict[str, Any]) -> Answer:
    goal_uri = Path(goal).as_uri()
    try:
        table = getattr(prov, question)(dataset, rows, **more).table()
    except UnknownDatasetError:
        return Answer("unknown")
    except UntrackedError:
        return Answer("", False, tuple(prov.trace(dataset, rows, question, **more).stops))
    found = {line["dataset"] for line in table.to_pylist() if line["occurrence"] >= 0}
    possible = goal_uri in possible_of(table)["dataset"].to_pylist()
    reached = "edge" if goal_uri in found else "possible" if possible else ""
    trusted = frozenset(one.by for one in trusted_of(table))
    return Answer(reached, bool(found - {goal_uri}), stops_of(table), trusted)


def _text(path: Path) -> str:
    """All that a file, or the files of a folder, hold."""
    return "\n".join(_texts(path))


def _texts(path: Path) -> Iterator[str]:
    for file in sorted(p for p in (path.rglob("*") if path.is_dir() else [path]) if p.is_file()):
        if file.suffix == ".parquet":
            yield repr(pq.read_table(file).to_pylist())
        else:
            yield file.read_text(encoding="utf-8", errors="replace")
