"""Jobs that can't run under capture, with the reason."""

from __future__ import annotations

import subprocess
from typing import Any

from provspark.hooks.spark import driver_python, environment, local_script, own_python
from provspark.model.writes import Untracked

__all__ = ["refusal"]

_PROBE = "import provspark.tracker, provspark.model.steps, pyarrow"


def refusal(hook: Any, application: str, java_class: str | None) -> Untracked | None:
    """Return why the job must run without capture, or None if its script can run under capture."""
    if java_class or application.endswith(".jar"):
        return Untracked("JVM application", f"{java_class or application} has no Python driver to capture in")
    if not application.endswith(".py"):
        return Untracked("application", f"{application!r} is not a Python script")
    connect = _connect(hook)
    if connect:
        return Untracked("Spark Connect", f"{connect}: the plans are on the server, where capture can't see them")
    if hook._connection["deploy_mode"] == "cluster":
        return Untracked("deploy mode", "cluster: the driver runs on another machine. Set deploy_mode='client'")
    if not local_script(application):
        return Untracked("application", f"{application} is not on this machine's file system")
    return _python(hook)


def _connect(hook: Any) -> str:
    env = environment(hook)
    master = hook._connection["master"]
    for url, where in (
        (master if master.startswith("sc://") else "", "the connection"),
        (hook._conf.get("spark.remote"), "spark.remote"),
        (env.get("SPARK_REMOTE"), "SPARK_REMOTE"),
    ):
        if url:
            # Parameters follow the semicolon; one of them is a token.
            return f"{where} is {str(url).split(';')[0]}"
    mode = hook._conf.get("spark.api.mode") or env.get("SPARK_API_MODE") or ""
    return "spark.api.mode is connect" if str(mode).lower() == "connect" else ""


def _python(hook: Any) -> Untracked | None:
    if own_python(hook):
        return None
    python = driver_python(hook) or "python3"
    command = [python, "-c", _PROBE]
    try:
        answer = subprocess.run(
            command, env=environment(hook), capture_output=True, text=True, timeout=120, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Untracked("driver's Python", f"{python} does not answer: {error}")
    if answer.returncode == 0:
        return None
    last = (answer.stderr.strip().splitlines() or ["no message"])[-1]
    return Untracked(
        "driver's Python",
        f"{python} can't import provspark ({last}); install airflow-provider-provspark there, "
        "or set PYSPARK_DRIVER_PYTHON to a Python that has it",
    )
