"""``provspark run``: run an unchanged PySpark script under capture."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from provspark.model.errors import SettingsError
from provspark.model.steps import StepKey
from provspark.settings import Settings

__all__ = ["run"]


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--store", metavar="URL", help="The store to write to, created if it is missing (default: $PROVSPARK_STORE)."
)
@click.option("--step", metavar="NAME", help="Name of the step (default: name of the script).")
@click.option(
    "--on-error",
    type=click.Choice(["warn", "fail"]),
    default="warn",
    show_default=True,
    help="If capture fails: warn logs a warning and continues without lineage; fail ends the run.",
)
@click.option("--profile", is_flag=True, help="Also store the value distributions of each output and input.")
@click.argument("app", metavar="APP")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGS]...")
@click.pass_context
def run(
    ctx: click.Context,
    store: str | None,
    step: str | None,
    on_error: str,
    profile: bool,
    app: str,
    arguments: tuple[str, ...],
) -> None:
    """Run a PySpark script and capture its lineage.

    APP is a Python file. All arguments after APP are passed to the script. Its output, log, traceback and exit code are
    those of `python APP ARGS`. After a script that wrote datasets, one line on standard error says what was captured.

    In an Airflow task, for example in a BashOperator's command, the step belongs to that task and its run.

    \b
    Examples:
      provspark run --store /data/prov clean.py 2024-05-01
      PROVSPARK_STORE=s3://bucket/prov provspark run --step clean jobs/clean.py
    """
    url = Settings.read().store_url(store)
    if not Path(app).is_file():
        raise SettingsError(f"There is no script {app}. Pass the path of a Python file.")
    named = step or Path(app).stem
    key = _of_task(os.environ, named) or StepKey(task_id=named, run_id=f"run-{uuid.uuid4()}")
    options = ["--store", url, "--on-error", on_error, *_options(key)] + (["--profile"] if profile else [])
    code = _child([sys.executable, "-m", "provspark.tracker.runner", *options, "--", app, *arguments])
    if code == 0:
        _report(url, key.id)
    ctx.exit(code)


def _report(store: str, step: str) -> None:
    """Print what the step captured to standard error, unless it wrote nothing."""
    with contextlib.suppress(Exception):  # the script succeeded; capture has logged why there is no step
        from provspark.index_store.store.store import Store  # here, so that a script starts at once
        from provspark.index_store.store.summaries import success, summary

        manifest = Store.open(store).manifest(step)
        if manifest.writes:
            click.echo(success(manifest, summary(store, manifest)), err=True)


def _options(key: StepKey) -> list[str]:
    """Return the options that pass a step's key to the runner."""
    parts = ("task_id", "run_id", "dag_id", "map_index", "try_number", "call")
    return [f"--{part.replace('_', '-')}={getattr(key, part)}" for part in parts]


def _of_task(env: Mapping[str, str], name: str) -> StepKey | None:
    """Return the step's key from the variables that Airflow exports to a task, or None outside a task.

    Its call is unique for each call: one task may call `provspark run` several times, and all instances of a mapped
    task look alike, because Airflow exports no map index unless ``get_airflow_context_vars`` adds it.
    """
    parts = (env.get(f"AIRFLOW_CTX_{part}", "") for part in ("DAG_ID", "TASK_ID", "DAG_RUN_ID"))
    dag, task, run = (part.encode("utf-8", "replace").decode() for part in parts)
    if not (dag and task and run):
        return None
    return StepKey(
        task_id=task,
        run_id=run,
        dag_id=dag,
        map_index=_number(env.get("AIRFLOW_CTX_MAP_INDEX"), -1),
        try_number=_number(env.get("AIRFLOW_CTX_TRY_NUMBER"), 1),
        call=f"{name}-{uuid.uuid4().hex[:8]}",
    )


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else default


def _child(command: Sequence[str]) -> int:
    """Run a command and return its exit code; 128 plus the signal's number if a signal ended it, as a shell does."""
    env = {"PYSPARK_PYTHON": sys.executable, **os.environ}
    with subprocess.Popen(command, env=env) as child, _passing_on(child):
        code = child.wait()
    return code if code >= 0 else 128 - code


@contextmanager
def _passing_on(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ignore Ctrl-C, which the terminal also sends to the child, and pass SIGTERM on to the child."""
    old = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old[0])
        signal.signal(signal.SIGTERM, old[1])
