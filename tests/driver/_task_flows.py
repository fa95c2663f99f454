"""What the function of a case builds its DAG with, and how cases are collected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import DAG, BaseSensorOperator

from provspark.operators.spark import ProvSparkOperator

Job = Callable[..., Any] | Path
"""The script of a Spark task: called with the session, then with the task's `application_args`; or a file, which runs
in a process of its own."""


class Landed(BaseSensorOperator):  # type: ignore[misc]
    """Waits for a folder."""

    def __init__(self, *, folder: str, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.folder = folder

    def poke(self, context: Any) -> bool:
        """Whether it is there."""
        return Path(self.folder).is_dir()


class Flow:
    """The places of a case, and the scripts of its tasks.

    Rows go from `source` to `cleaned`, `enriched` and `reported`. The usual chain is `clean`, then something that makes
    `enriched` of `cleaned`, then `report`.

    Attributes
    ----------
    jobs : dict
        Scripts of Spark tasks, by task id.
    results : dict
        What tasks returned, by task id.
    unstarted : set of str
        Tasks that no run starts.
    fails : set of str
        Tasks that fail for good.
    broken_starts : dict
        Tasks whose capture does not start, and what is in its way: ``version`` or ``store``.
    cleared : list of str
        Tasks that run once more in the last run, which then has a new start.
    last : str
        The last data set; `reported` by default.
    dags : list of DAG
        The case's own DAG, and those that run after it or that it triggers.
    """

    def __init__(self, folder: Path, source: str) -> None:
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        self.store = (folder / "store").as_uri()
        self.source = source
        self.cleaned, self.enriched, self.reported = (str(folder / n) for n in ("cleaned", "enriched", "reported"))
        self.jobs: dict[str, Job] = {}
        self.results: dict[str, Any] = {}
        self.unstarted: set[str] = set()
        self.fails: set[str] = set()
        self.broken_starts: dict[str, str] = {}
        self.cleared: list[str] = []
        self.last = ""
        self.dags: list[DAG] = []
        self.run_id = ""

    def dag(self, name: str) -> DAG:
        """Another DAG; it runs after the case's own, unless that one triggers it."""
        self.dags.append(DAG(name, start_date=datetime(2024, 1, 1, tzinfo=timezone.utc), schedule=None))
        return self.dags[-1]

    def job(self, name: str, script: Job, kind: type = ProvSparkOperator, **arguments: Any) -> Any:
        """A task that runs Spark; it is captured if it is ours."""
        task = kind(task_id=name, application=f"{name}.py", **arguments)
        self.jobs[task.task_id] = script
        return task

    def several(self, name: str, script: Job, arguments: Sequence[list[str]], **more: Any) -> Any:
        """A mapped task of ours."""
        task = ProvSparkOperator.partial(task_id=name, application=f"{name}.py", **more).expand(
            application_args=arguments
        )
        self.jobs[name] = script
        return task

    def clean(self, **arguments: Any) -> Any:
        """The first task: people who agreed."""

        def clean(spark: Any) -> None:
            spark.read.parquet(self.source).filter("consent").write.parquet(self.cleaned)

        return self.job("clean", clean, **arguments)

    def report(self, source: str = "", **arguments: Any) -> Any:
        """The last task: names and cities of what is enriched."""

        def report(spark: Any) -> None:
            spark.read.parquet(source or self.enriched).select("id", "name").write.parquet(self.reported)

        return self.job("report", report, **arguments)

    def enrich(self, name: str = "enrich", **arguments: Any) -> Any:
        """A task without capture between both."""
        return PythonOperator(task_id=name, python_callable=self.copied, **arguments)

    def copied(self, source: str = "", target: str = "") -> None:
        """Copy rows by pandas; from `cleaned` to `enriched` by default."""
        import pandas as pd

        Path(target or self.enriched).mkdir(exist_ok=True)
        people = pd.read_parquet(source or self.cleaned)
        people.to_parquet(f"{target or self.enriched}/more.parquet")

    def script(self, name: str, text: str) -> Path:
        """A script's file."""
        path = self.work / name
        path.write_text(text, encoding="utf-8")
        return path

    def pandas_script(self, name: str = "load.py") -> Path:
        """A script that makes `enriched` of `cleaned`, without Spark."""
        lines = [
            "import os, pandas as pd",
            f"os.makedirs({self.enriched!r}, exist_ok=True)",
            f"pd.read_parquet({self.cleaned!r}).to_parquet({self.enriched + '/more.parquet'!r})",
        ]
        return self.script(name, "\n".join(lines) + "\n")


@dataclass(frozen=True, slots=True)
class Case:
    """A DAG, and what answers are to say of it; `Cases` describes the parameters."""

    name: str
    body: Callable[[Flow], None]
    ahead: str
    to: str
    back: str
    named: tuple[str, ...]
    hole: str
    runs: int
    trust: tuple[str, ...]
    states: dict[str, str] = field(default_factory=dict)


class Cases(dict[str, Case]):
    """A theme's cases by name: call it to decorate the function of one.

    Parameters
    ----------
    ahead, to, back : str
        What the answers to the three questions say if a case does not say otherwise: `Answer.how`.
    named : sequence of str
        See `__call__`.
    """

    def __init__(self, ahead: str, to: str, back: str, named: Sequence[str] = ("task enrich ",)) -> None:
        super().__init__()
        self._usual, self._named = (ahead, to, back), tuple(named)

    def __call__(
        self,
        *,
        ahead: str | None = None,
        to: str | None = None,
        back: str | None = None,
        named: Sequence[str] | None = None,
        hole: str = "",
        runs: int = 1,
        trust: Sequence[str] = (),
        **states: str,
    ) -> Callable[[Callable[[Flow], None]], Case]:
        """Decorate a case.

        Parameters
        ----------
        ahead, to, back : str
            ``""`` marks a hole: the answer leads nowhere, and does not say why.
        named : sequence of str
            What the stops of the questions forward have to name.
        hole : str
            Why, where there is one.
        runs : int
            How often the DAG runs.
        trust : sequence of str
            What the questions trust.
        **states : str
            Tasks that do not succeed, and how they end.
        """
        usual = [u if x is None else x for x, u in zip((ahead, to, back), self._usual, strict=True)]

        def add(body: Callable[[Flow], None]) -> Case:
            name = body.__name__
            assert name not in self, f"two cases are named {name}"
            names = self._named if named is None else tuple(named)
            assert bool(hole) == ("" in usual), f"{name}: a hole needs a reason"
            self[name] = Case(name, body, *usual, names, hole, runs, tuple(trust), states)
            return self[name]

        return add


def kind_of(task: Any) -> type:
    """The class of a task's operator, of what is mapped for a mapped one."""
    given = getattr(task, "operator_class", None)
    return given if isinstance(given, type) else type(task)
