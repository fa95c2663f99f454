"""Submits a PySpark script under capture: the runner is what Spark starts, the script its argument."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from airflow.providers.apache.spark.hooks.spark_submit import DEFAULT_SPARK_BINARY, SparkSubmitHook

from provspark.model.steps import StepKey

__all__ = ["CaptureArguments", "ProvSparkSubmitHook", "local_script", "with_defaults"]


@dataclass(frozen=True, slots=True)
class CaptureArguments:
    """What the runner is told: where lineage goes, whose it is, and what trouble means."""

    store: str
    key: StepKey
    on_error: str
    profile: bool = False
    dag: str = ""
    """A file with the shape of the DAG."""

    @property
    def arguments(self) -> list[str]:
        """The runner's options."""
        options = {
            "store": self.store,
            "dag-id": self.key.dag_id,
            "run-id": self.key.run_id,
            "task-id": self.key.task_id,
            "map-index": self.key.map_index,
            "try-number": self.key.try_number,
            "on-error": self.on_error,
            "mode": "index",
            **({"dag": self.dag} if self.dag else {}),
        }
        # With the equals sign a value may begin with a dash, as a DAG's id may.
        return [*(f"--{name}={value}" for name, value in options.items()), *(["--profile"] if self.profile else [])]


class ProvSparkSubmitHook(SparkSubmitHook):  # type: ignore[misc]
    """A `SparkSubmitHook` whose `submit` starts the script through the runner."""

    capture: CaptureArguments
    _application_args: list[Any] | None

    @classmethod
    def around(cls, hook: SparkSubmitHook, capture: CaptureArguments) -> ProvSparkSubmitHook:
        """Take over a hook that is already set up, with its connection and options."""
        made = cls.__new__(cls)
        made.__dict__.update(hook.__dict__)
        made.capture = capture
        return made

    def submit(self, application: str = "", **kwargs: Any) -> str | None:
        """Run the script under capture; its own arguments follow it."""
        script = local_script(application)
        self._application_args = [*self.capture.arguments, "--", script, *(self._application_args or [])]
        driver_id: str | None = super().submit(_runner(), **kwargs)
        return driver_id


def with_defaults(hook: SparkSubmitHook, *, binary_given: bool) -> SparkSubmitHook:
    """Fill in what a pip-installed Spark needs and the user left open.

    ``spark-submit`` comes from the pyspark that the driver's Python has, unless ``PATH`` has one outside of Airflow's
    environment. In local mode the job's Python is Airflow's, as the ``python3`` that Spark would take may lack pyspark.
    """
    if not binary_given and hook._connection["spark_binary"] == DEFAULT_SPARK_BINARY:
        hook._connection["spark_binary"] = _spark_submit(hook)
    if hook._connection["master"].startswith("local") and not driver_python(hook):
        hook._conf = {**hook._conf, "spark.pyspark.python": sys.executable}
    return hook


def _spark_submit(hook: SparkSubmitHook) -> str:
    env, python, default = environment(hook), driver_python(hook), str(DEFAULT_SPARK_BINARY)
    command = shutil.which(default)
    if command and Path(command).parent != Path(sys.executable).parent:
        return default
    theirs = ""
    if python and not own_python(hook) and not env.get("SPARK_HOME"):
        theirs = _submit_of(python, env)
    return theirs or (default if command else _own_submit() or default)


def _own_submit() -> str:
    spec = find_spec("pyspark")
    return _submit_in((spec.submodule_search_locations or ()) if spec else ())


def _submit_of(python: str, env: Mapping[str, str]) -> str:
    """The spark-submit of a Python's pyspark, whose Java must be of the same version; empty where it has none."""
    code = "from importlib.util import find_spec; print(*(find_spec('pyspark').submodule_search_locations), sep='\\n')"
    try:
        answer = subprocess.run([python, "-c", code], env=env, capture_output=True, text=True, timeout=120, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return _submit_in(answer.stdout.splitlines())


def _submit_in(folders: Iterable[str]) -> str:
    """The spark-submit of a pyspark package, which is in one of these folders; empty where it has none."""
    paths = (Path(folder) / "bin" / "spark-submit" for folder in folders)
    return next((str(path) for path in paths if path.exists()), "")


def environment(hook: SparkSubmitHook) -> dict[str, str]:
    """The environment that the submitted process will see."""
    return {**os.environ, **{name: str(value) for name, value in (hook._env_vars or {}).items()}}


def driver_python(hook: SparkSubmitHook) -> str:
    """The Python chosen for the driver, in spark-submit's own order; empty where none is chosen."""
    settings: Mapping[str, Any] = hook._conf
    env = environment(hook)
    for value in (
        settings.get("spark.pyspark.driver.python"),
        settings.get("spark.pyspark.python"),
        env.get("PYSPARK_DRIVER_PYTHON"),
        env.get("PYSPARK_PYTHON"),
    ):
        if value:
            return str(value)
    return ""


def own_python(hook: SparkSubmitHook) -> bool:
    """Whether the driver runs on the Python that Airflow runs on."""
    driver, own = Path(driver_python(hook)), Path(sys.executable)
    # Every virtual environment's Python resolves to the same file: the folder tells them apart.
    return driver.parent == own.parent and driver.resolve() == own.resolve()


def local_script(application: str) -> str:
    """The path of a script on this machine; empty where it is a script elsewhere.

    >>> local_script("file:///jobs/clean%20up.py"), local_script("jobs/clean.py"), local_script("s3a://jobs/clean.py")
    ('/jobs/clean up.py', 'jobs/clean.py', '')
    """
    parts = urlsplit(application)
    if not parts.scheme:
        return application
    return unquote(parts.path) if parts.scheme in ("file", "local") else ""


def _runner() -> str:
    spec = find_spec("provspark.tracker.runner")
    assert spec is not None and spec.origin is not None
    return spec.origin
