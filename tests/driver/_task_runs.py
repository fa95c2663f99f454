"""Runs the tasks of a DAG one after the other, as Airflow's scheduler would."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyspark
from _task_flows import Flow, kind_of
from airflow.exceptions import AirflowException
from airflow.providers.common.io.operators.file_transfer import FileTransferOperator
from airflow.providers.common.sql.operators.sql import BaseSQLOperator
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.python import BranchPythonOperator, PythonOperator, ShortCircuitOperator
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG
from airflow.sdk.bases.sensor import BaseSensorOperator
from airflow.sdk.definitions.xcom_arg import XComArg

from provspark.index_store.store.tasks import dump_dag
from provspark.model.steps import StepKey
from provspark.operators.query import ProvQueryOperator
from provspark.operators.shape import tasks_around
from provspark.operators.spark import ProvSparkOperator
from provspark.tracker import attach

_GOOD = ("success", "skipped")


class Running:
    """Runs the DAGs of a flow, each once; tasks that Airflow only waits for, notifies by or asks by do nothing."""

    def __init__(self, flow: Flow, spark: Any) -> None:
        self.flow, self.spark = flow, spark
        self.states: dict[str, str] = {}
        self._chosen: dict[str, set[str]] = {}
        self._done: set[str] = set()

    def all_dags(self) -> None:
        """Run the case's own DAG, then the others that nothing triggered."""
        self._done = set()
        for dag in self.flow.dags:
            if dag.dag_id not in self._done:
                self.dag(dag)

    def cleared(self) -> None:
        """Run the tasks again that were cleared."""
        time.sleep(1.1)  # times of files may be rounded down to seconds
        started = _now()
        for name in self.flow.cleared:
            self._run(self.flow.dags[0].task_dict[name], started, 2)

    def dag(self, dag: DAG) -> None:
        """Run a DAG."""
        self._done.add(dag.dag_id)
        started = _now()
        for task in dag.topological_sort():
            state = self._before(task)
            self.states[task.task_id] = state or self._tried(task, started)

    def _before(self, task: Any) -> str:
        """The state of a task that does not start; "" if it does."""
        if task.task_id in self.flow.unstarted:
            return "unstarted"
        above = [self.states[name] for name in task.upstream_task_ids]
        for name in task.upstream_task_ids:
            if name in self._chosen and task.task_id not in self._chosen[name]:
                return "skipped"
        if task.is_teardown or task.trigger_rule == "all_done":
            return ""
        if any(state in ("failed", "upstream_failed", "unstarted") for state in above):
            return "upstream_failed"
        skipped = [state == "skipped" for state in above]
        return "skipped" if (any(skipped) if task.trigger_rule == "all_success" else skipped and all(skipped)) else ""

    def _tried(self, task: Any, started: str) -> str:
        tries = 1 + (task.retries or 0)
        for number in range(1, tries + 1):
            try:
                self._run(task, started, number)
            except Exception:
                if number == tries and task.task_id not in self.flow.fails:
                    raise
            else:
                for callback in getattr(task, "on_success_callback", None) or ():
                    callback({})
                return "success"
        return "failed"

    def _run(self, task: Any, started: str, number: int) -> None:
        kind = kind_of(task)
        if task.task_id in self.flow.jobs:
            for index, arguments in enumerate(_arguments(task)) if task.is_mapped else [(-1, _plain_arguments(task))]:
                key = StepKey(task.task_id, self.flow.run_id, task.dag.dag_id, index, number)
                self._job(task, kind, key, started, arguments)
        elif task.is_mapped:
            self.flow.results[task.task_id] = [call(*args, **given) for call, args, given in _mapped_calls(task)]
        elif issubclass(kind, (ShortCircuitOperator, BranchPythonOperator)):
            self._decide(task, kind)
        elif issubclass(kind, PythonOperator):
            self.flow.results[task.task_id] = self._called(task.python_callable, task.op_args, task.op_kwargs)
        elif issubclass(kind, BashOperator):
            given = task.bash_command
            self._shell(task, given if isinstance(given, str) else task.python_callable())
        elif issubclass(kind, BaseSensorOperator):
            assert task.poke({}), f"{task.task_id} waits"
        elif issubclass(kind, TriggerDagRunOperator):
            self.dag(next(dag for dag in self.flow.dags if dag.dag_id == task.trigger_dag_id))
        elif issubclass(kind, BaseSQLOperator):
            with sqlite3.connect(self.flow.work / "people.db") as database:
                database.executescript(task.sql)
        elif issubclass(kind, (FileTransferOperator, ProvQueryOperator)):
            self.flow.results[task.task_id] = task.execute({})

    def _job(self, task: Any, kind: type, key: StepKey, started: str, arguments: list[Any]) -> None:
        script = self.flow.jobs[task.task_id]
        if isinstance(script, Path):
            self._process(task, script, key, started)
            return
        if not issubclass(kind, ProvSparkOperator) or _of(task, "prov_mode") == "off":
            script(self.spark, *arguments)
            return
        trouble = self.flow.broken_starts.get(task.task_id, "")
        store = "/dev/null/store" if trouble == "store" else self.flow.store
        block = attach(store=store, key=key, dag=tasks_around(task), run_started=started)
        with _version("3.5.0" if trouble == "version" else pyspark.__version__):
            block.__enter__()
        try:
            script(self.spark, *arguments)
        except BaseException as error:
            block.__exit__(type(error), error, error.__traceback__)
            raise
        block.__exit__(None, None, None)

    def _process(self, task: Any, script: Path, key: StepKey, started: str) -> None:
        """Run a script under capture in a process of its own, as the operator has it run."""
        shape = self.flow.work / "dag.json"
        shape.write_bytes(dump_dag(tasks_around(task), started))
        options = {"store": self.flow.store, "task-id": key.task_id, "run-id": key.run_id, "dag-id": key.dag_id}
        given = [f"--{name}={value}" for name, value in (options | {"dag": str(shape)}).items()]
        command = [sys.executable, "-m", "provspark.tracker.runner", *given, "--", str(script)]
        subprocess.run(command, check=True, capture_output=True, timeout=300)

    def _called(self, function: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
        return function(*(self._resolved(a) for a in args or ()), **{k: self._resolved(v) for k, v in kwargs.items()})

    def _resolved(self, value: Any) -> Any:
        return self.flow.results[value.operator.task_id] if isinstance(value, XComArg) else value

    def _decide(self, task: Any, kind: type) -> None:
        found = task.python_callable()
        if issubclass(kind, ShortCircuitOperator):
            self._chosen[task.task_id] = set(task.downstream_task_ids) if found else set()
        else:
            self._chosen[task.task_id] = {found}

    def _shell(self, task: Any, command: str) -> None:
        env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        env["PROVSPARK_STORE"] = self.flow.store
        context = {"DAG_ID": task.dag.dag_id, "TASK_ID": task.task_id, "DAG_RUN_ID": self.flow.run_id}
        env |= {f"AIRFLOW_CTX_{name}": value for name, value in context.items()}
        done = subprocess.run(
            [shutil.which("bash") or "sh", "-c", command], cwd=self.flow.work, env=env, capture_output=True, text=True
        )
        if done.returncode:
            raise AirflowException(done.stderr[-2000:])


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")


@contextmanager
def _version(version: str) -> Iterator[None]:
    """Have pyspark say that it is of a version."""
    before, pyspark.__version__ = pyspark.__version__, version
    try:
        yield
    finally:
        pyspark.__version__ = before


def _of(task: Any, name: str) -> Any:
    if not task.is_mapped:
        return getattr(task, name, None)
    given = task.expand_input.value.get(name)
    return given[0] if given else task.partial_kwargs.get(name)


def _plain_arguments(task: Any) -> list[Any]:
    return list(getattr(task, "application_args", None) or getattr(task, "_application_args", None) or [])


def _arguments(task: Any) -> list[list[Any]]:
    given = dict(task.expand_input.value)
    return [list(a) for a in given.get("application_args", [[] for _ in next(iter(given.values()))])]


def _mapped_calls(task: Any) -> Iterator[tuple[Any, list[Any], dict[str, Any]]]:
    fixed = task.partial_kwargs.get("op_kwargs") or {}
    call = task.partial_kwargs.get("python_callable") or task.python_callable
    if hasattr(task, "op_kwargs_expand_input"):
        ((name, values),) = task.op_kwargs_expand_input.value.items()
        yield from ((call, [], {**fixed, name: value}) for value in values)
    else:
        yield from ((call, list(args), dict(fixed)) for args in task.expand_input.value["op_args"])
