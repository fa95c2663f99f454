"""Submit a PySpark script under capture: Spark starts ProvSpark's runner, with the script as its argument."""

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
    """Options of the runner: store, step and error handling."""

    store: str
    key: StepKey
    on_error: str
    profile: bool = False
    dag: str = ""
    """Path of a file with the DAG's structure; empty if it is not known."""

    @property
    def arguments(self) -> list[str]:
        """The options as command-line arguments of the runner."""
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
        # With an equals sign, a value such as a DAG id may begin with a dash.
        return [*(f"--{name}={value}" for name, value in options.items()), *(["--profile"] if self.profile else [])]


class ProvSparkSubmitHook(SparkSubmitHook):  # type: ignore[misc]
    """A `SparkSubmitHook` whose `submit` starts the script through the runner."""

    capture: CaptureArguments
    _application_args: list[Any] | None

    @classmethod
    def around(cls, hook: SparkSubmitHook, capture: CaptureArguments) -> ProvSparkSubmitHook:
        """Return a copy of a configured hook, with its connection and options, that submits under capture."""
        made = cls.__new__(cls)
        made.__dict__.update(hook.__dict__)
        made.capture = capture
        return made

    def submit(self, application: str = "", **kwargs: Any) -> str | None:
        """Run the script under capture, with its own arguments."""
        script = local_script(application)
        self._application_args = [*self.capture.arguments, "--", script, *(self._application_args or [])]
        driver_id: str | None = super().submit(_runner(), **kwargs)
        return driver_id


def with_defaults(hook: SparkSubmitHook, *, binary_given: bool) -> SparkSubmitHook:
    """Set what a pip-installed Spark needs and the user did not set.

    ``spark-submit`` is that of the driver's pyspark, unless there is one on ``PATH`` outside of Airflow's environment.
    In local mode the job's Python is Airflow's, because the ``python3`` that Spark would start may lack pyspark.
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
    """Return the path of spark-submit in a Python's pyspark package; empty if it has none.

    The JVM and Python sides of a job must have the same version.
    """
    code = "from importlib.util import find_spec; print(*(find_spec('pyspark').submodule_search_locations), sep='\\n')"
    try:
        answer = subprocess.run([python, "-c", code], env=env, capture_output=True, text=True, timeout=120, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return _submit_in(answer.stdout.splitlines())


def _submit_in(folders: Iterable[str]) -> str:
    """Return the path of spark-submit in the first folder of a pyspark package that contains it; empty if none does."""
    paths = (Path(folder) / "bin" / "spark-submit" for folder in folders)
    return next((str(path) for path in paths if path.exists()), "")


def environment(hook: SparkSubmitHook) -> dict[str, str]:
    """Return the environment variables of the process that the hook will start."""
    return {**os.environ, **{name: str(value) for name, value in (hook._env_vars or {}).items()}}


def driver_python(hook: SparkSubmitHook) -> str:
    """Return the Python set for the driver, in spark-submit's order of precedence; empty if none is set."""
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
    """Whether the driver uses the same Python environment as Airflow."""
    driver, own = Path(driver_python(hook)), Path(sys.executable)
    # The Python files of virtual environments resolve to one file, so compare their folders, too.
    return driver.parent == own.parent and driver.resolve() == own.resolve()


def local_script(application: str) -> str:
    """Return the path of a script on this machine; empty if its URL is not local.

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
