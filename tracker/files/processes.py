"""Detect commands that run Spark in another process, whose reads and writes capture does not see."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from provspark.model.shell import commands, runs_capture

__all__ = ["spark_command"]

_PROGRAM = re.compile(
    r"spark\d?-(?:submit|sql|shell|class|pipelines)|pyspark\d?|sparkR|beeline|run-example|start-(?:connect-|thrift)server\.sh"
)
_SERVICES = frozenset(("aws", "az", "databricks", "gcloud"))
"""Command lines of cloud services: they run Spark if one word of each of the next two sets follows."""
_OF_SERVICES = frozenset(
    ("bundle", "dataproc", "emr", "emr-containers", "emr-serverless", "glue", "jobs", "runs", "synapse")
)
"""The services' commands that concern Spark."""
_STARTS = frozenset(("add-steps", "run", "run-job-flow", "run-now", "start-job-run", "submit"))
"""The services' commands that start a job."""
_WRAPPERS = frozenset(
    (
        *(
            "chroot",
            "command",
            "conda",
            "coverage",
            "docker",
            "env",
            "exec",
            "find",
            "flock",
            "hatch",
            "ionice",
            "kubectl",
        ),
        *("nice", "nohup", "parallel", "pipenv", "pixi", "podman", "poetry", "setsid", "ssh", "stdbuf", "strace", "su"),
        *("sudo", "taskset", "time", "timeout", "uv", "uvx", "xargs"),
    )
)
"""Programs that run a command given among their arguments."""
_INTERPRETER = re.compile(r"(?:python|pypy)[\d.]*|(?:ba|da|z|k)?sh")
_WITH_VALUE = frozenset(("-O", "-W", "-X", "-o"))
"""Options of interpreters that take a value."""
_CODE = re.compile(r"-[a-zA-Z]*[cm](.*)", re.DOTALL)
_OF_SPARK = re.compile(r"\bpyspark\b|\bspark\d?-(?:submit|sql|shell|class)\b")
"""Pattern in a script's text that indicates that it runs Spark."""
_FILE = re.compile(r".*\.(?:py|sh|jar|sql|R|scala)")
_ASKS = frozenset(("--help", "--version", "-h"))
_MOST = 1 << 20


def spark_command(command: str | Sequence[str], folder: str = "") -> str:
    """Return the program and script of the first command that runs Spark without capture; "" if there is none.

    Other arguments are omitted, because they may be secret.

    Parameters
    ----------
    command : str or sequence of str
        Text for a shell, or the words of one command.
    folder : str
        The folder in which it runs; the working directory by default.

    Examples
    --------
    >>> spark_command("cd /jobs; nohup $SPARK_HOME/bin/spark-submit --conf spark.x=1 load.py 2024-01-01")
    'spark-submit load.py'
    >>> spark_command("provspark run load.py")
    ''
    """
    at = Path(folder)
    for call in commands(command) or ():
        if not call:
            continue
        if call[0] == "cd" and len(call) == 2:
            at /= call[1]
        for words in _run(call):
            if _runs_spark(words, at):
                file = next(filter(_FILE.fullmatch, words[1:]), "")
                return " ".join(_name(word) for word in (words[0], file) if word)
    return ""


def _run(call: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield a command, and the commands that its arguments may contain if it is a wrapper such as ``sudo``."""
    if runs_capture(call) or list(call[:2]) in (["command", "-v"], ["command", "-V"]):
        return
    yield call
    if _name(call[0]) in _WRAPPERS:
        for i in range(1, len(call)):
            if runs_capture(call[i:]):
                return
            if _PROGRAM.fullmatch(_name(call[i])) or _INTERPRETER.fullmatch(_name(call[i])):
                yield call[i:]


def _runs_spark(words: Sequence[str], folder: Path) -> bool:
    name, rest = _name(words[0]), words[1:]
    if not _ASKS.isdisjoint(rest[:1]):
        return False
    if _PROGRAM.fullmatch(name) or any(word.startswith("org.apache.spark.") for word in words):
        return True
    if name in _SERVICES:
        return not _OF_SERVICES.isdisjoint(rest) and not _STARTS.isdisjoint(rest)
    if name in (".", "source") and rest:
        return _mentions_spark(folder / rest[0])
    if not _INTERPRETER.fullmatch(name):
        return ("/" in words[0] or bool(_FILE.fullmatch(name))) and _mentions_spark(folder / words[0], script=True)
    before = ""
    for i, word in enumerate(rest):
        code = _CODE.fullmatch(word)
        if code is not None and not word.startswith("--"):
            text = code[1] or " ".join(rest[i + 1 : i + 2])
            if word[: len(word) - len(code[1])].endswith("c"):
                return bool(_OF_SPARK.search(text))
            return bool(_OF_SPARK.search(text)) or _mentions_spark(folder / f"{text.replace('.', '/')}.py")
        if not word.startswith("-") and before not in _WITH_VALUE:
            return _mentions_spark(folder / word)
        before = word
    return False


def _mentions_spark(path: Path, *, script: bool = False) -> bool:
    """Whether a file's text indicates that it runs Spark. With `script`, only if it starts with ``#!``.

    Only regular files are opened: reading a pipe or a device would take data from the process that is started.
    """
    try:
        if path.is_dir():
            path /= "__main__.py"
        if not stat.S_ISREG(path.stat().st_mode) or str(path.resolve()).startswith(("/dev/", "/proc/")):
            return False
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_MOST)
    except (OSError, ValueError):
        return False
    return (not script or text.startswith("#!")) and bool(_OF_SPARK.search(text))


def _name(word: str) -> str:
    return word.rsplit("/", 1)[-1]
