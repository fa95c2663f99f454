"""Run the scripts of a case, with capture and without, and ask what is known of its output."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _driver_scripts import Case, Expected, Script
from _driver_sources import place
from airflow.providers.common.compat.sdk import AirflowFailException
from oracle import outputs

import provspark
from provspark.errors import UnknownDatasetError, UntrackedError
from provspark.index_store.query.answer import ends_of, possible_of, stops_of
from provspark.model.stops import stop_kind
from provspark.operators.query import ProvQueryOperator
from provspark.tracker import runner

KINDS = ("data", "context")


@dataclass(frozen=True, slots=True)
class Run:
    """A case as it ran: where its output lies, the rows of it, what its scripts printed."""

    out: Path
    rows: list[str]
    printed: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What answers say about a case; `Expected` describes the fields.

    Parameters
    ----------
    reached : {"edge", "possible", "stop", "end", ""}
        How ``forward(source, rows)`` comes to the output, or that it ends on the driver.
    refusal : str
        What ``expect="nothing"`` says about ``forward(source, rows, to=out)``; empty where it passes.
    refusal_of_any_kind : str
        The same where the question follows context edges, too.
    refusal_though_trusted : str
        The same where the lines of all reads are trusted.
    plain, captured : Run
    """

    data: frozenset[int]
    context: frozenset[int]
    possible: frozenset[int]
    reads: frozenset[str]
    ends: frozenset[str]
    stops: frozenset[str]
    label: str
    reached: str
    refusal: str
    refusal_of_any_kind: str
    refusal_though_trusted: str
    plain: Run
    captured: Run


def _join(spark: Any, people: str, visits: str, out: str) -> None:
    all_visits = spark.read.csv(visits, header=True, schema="id INT, day STRING, cost INT")
    spark.read.parquet(people).join(all_visits, "id").write.parquet(out)


EARLIER = Case("earlier", Expected(), scripts=[Script("earlier", _join)])
"""Another step, which every store has: answers know both sources by it, whatever the case's own steps read."""


class World:
    """The sources, and what became of each case.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._people, self._visits = place(folder / "sources")
        self._known: dict[str, Outcome] = {}

    def outcome(self, case: Case) -> Outcome:
        """Run a case, once."""
        if case.name not in self._known:
            self._known[case.name] = self._ask(case, self._run(case, "index"), self._run(case, "off"))
        return self._known[case.name]

    def _run(self, case: Case, mode: str) -> Run:
        if mode == "index" and case is not EARLIER:
            self.outcome(EARLIER)
            shutil.copytree(self._folder / EARLIER.name / "store", self._folder / case.name / "store")
        folder = self._folder / case.name / mode
        work, out = folder / "work", folder / "out"
        work.mkdir(parents=True)
        printed = io.StringIO()
        for number, script in enumerate(case.scripts):
            path = script.place(self._folder / case.name)
            places = [str(p) for p in (self._people, self._visits, out, work)]
            key = ["--dag-id", "suite", "--run-id", "one", "--task-id", script.name]
            options = ["--store", self._store(case), "--mode", mode, *key]
            with contextlib.redirect_stdout(printed), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                code = runner.main([*options, "--", str(path), *places, *case.args])
            assert code == 0, f"step {number + 1} of {case.name} failed ({mode})"
        text = re.sub(r"#\d+L?", "#", printed.getvalue().replace(str(folder), ""))
        return Run(out, sorted(map(repr, outputs.read(out).rows)), text)

    def _store(self, case: Case) -> str:
        return (self._folder / case.name / "store").as_uri()

    def _ask(self, case: Case, captured: Run, plain: Run) -> Outcome:
        prov = provspark.open(self._store(case))
        source = str(self._people if case.source == "people" else self._visits)
        more: dict[str, Any] = {"strict": True} if case.strict else {}
        out = str(captured.out)
        back = _Answer.of(prov, "backward", out, None, source, more)
        ahead = _Answer.of(prov, "forward", source, case.rows, out, more)
        whole = _Answer.of(prov, "forward", source, case.rows, None, more)
        marks = case.marks()
        ends = {mark for mark, dataset in marks.items() if dataset in whole.ends}
        other = {end for end in whole.ends if end not in marks.values()}
        reads = {
            mark for mark, dataset in marks.items() if _Answer.of(prov, "backward", out, None, dataset, more).possible
        }
        writes = [w for m in prov.graph.manifests for w in m.writes if w.output.dataset.uri == Path(out).as_uri()]
        return Outcome(
            frozenset(back.data),
            frozenset(back.context),
            frozenset(back.possible),
            frozenset(reads),
            frozenset(ends | other),
            frozenset(ahead.stops),
            writes[-1].coverage if writes else "",
            ahead.reached() or ("end" if whole.ends else ""),
            self._refusal(case, source, out, more),
            self._refusal(case, source, out, {"kinds": KINDS, **more}),
            self._refusal(
                case, source, out, {"trust": [dataset.rpartition("/")[2] for dataset in marks.values()], **more}
            ),
            plain,
            captured,
        )

    def _refusal(self, case: Case, source: str, out: str, more: dict[str, Any]) -> str:
        extra = {"store": self._store(case)}
        os.environ["AIRFLOW_CONN_SUITE"] = json.dumps({"conn_type": "provspark", "extra": extra})
        arguments = {"dataset": source, "rows": case.rows, "to": out, **more}
        task = ProvQueryOperator(
            task_id="check", question="forward", arguments=arguments, expect="nothing", prov_conn_id="suite"
        )
        try:
            task.execute({})
        except (AirflowFailException, UnknownDatasetError) as error:
            return str(error)
        finally:
            del os.environ["AIRFLOW_CONN_SUITE"]
        return ""


@dataclass(frozen=True, slots=True)
class _Answer:
    """Rows of other data sets by kind of edge, ends by data set, and stops that end the answer by kind."""

    data: frozenset[int] = frozenset()
    context: frozenset[int] = frozenset()
    possible: frozenset[int] = frozenset()
    ends: frozenset[str] = frozenset()
    stops: frozenset[str] = frozenset()

    @classmethod
    def of(cls, prov: Any, question: str, dataset: str, rows: Any, to: str | None, more: dict[str, Any]) -> _Answer:
        try:
            table = getattr(prov, question)(dataset, rows, to=to, kinds=KINDS, **more).table()
        except UntrackedError:
            return cls(stops=frozenset({"untracked"}))
        except UnknownDatasetError:
            return cls()
        lines = [line for line in table.to_pylist() if line["occurrence"] >= 0]
        found = {kind: frozenset(x["related_row"] for x in lines if x["kind"] == kind) for kind in KINDS}
        return cls(
            found["data"],
            found["context"],
            frozenset(possible_of(table)["related_row"].to_pylist()),
            frozenset(end.dataset for end in ends_of(table)),
            frozenset(stop.what for stop in stops_of(table) if "nothing" in stop_kind(stop.what).fails),
        )

    def reached(self) -> str:
        if self.data or self.context:
            return "edge"
        return "possible" if self.possible else "stop" if self.stops else ""
