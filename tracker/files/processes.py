"""Which processes that a script starts run Spark, where capture does not see what they read and write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from provspark.shell import commands, runs_capture

__all__ = ["spark_command"]

_PROGRAMS = frozenset(
    ("beeline", "databricks", "pyspark", "spark-class", "spark-shell", "spark-sql", "spark-submit", "sparkR")
)
_SERVICES = frozenset(
    (
        *(("aws", "emr"), ("aws", "emr-containers"), ("aws", "emr-serverless"), ("aws", "glue")),
        *(("az", "synapse"), ("gcloud", "dataproc")),
    )
)
"""Programs that have other machines run Spark, with the first word after them."""
_BEFORE = frozenset(
    (
        *("command", "conda", "env", "exec", "hatch", "nice", "nohup", "pipenv", "pixi", "poetry", "run", "setsid"),
        *("stdbuf", "sudo", "time", "timeout", "uv"),
    )
)
"""Programs that run the command after them."""
_SETTING = re.compile(r"-.*|\d+[smhd]?|\w+=.*")
"""Options and arguments of those."""
_INTERPRETER = re.compile(r"(?:python|pypy)[\d.]*|(?:ba|da|z|k)?sh")
_OF_SPARK = re.compile(r"\bpyspark\b|\bspark-(?:submit|sql|shell|class)\b")
"""What the text of a script contains that runs Spark."""
_FILE = re.compile(r".*\.(?:py|sh|jar|sql|R|scala)")
_MOST = 1 << 20


def spark_command(command: str | Sequence[str], folder: str = "") -> str:
    """Return the program, and the file that it runs, of the first command that runs Spark without capture; "" if none.

    Other arguments may be secret, so they are left out.

    Parameters
    ----------
    command : str or sequence of str
        A shell's text, or the words of one command.
    folder : str
        Where it runs; the working directory by default.

    Examples
    --------
    >>> spark_command("cd /jobs; nohup spark-submit --conf spark.x=1 load.py 2024-01-01")
    'spark-submit load.py'
    >>> spark_command("provspark run load.py")
    ''
    """
    for call in commands(command) or ():
        first = next((i for i, w in enumerate(call) if w not in _BEFORE and not _SETTING.fullmatch(w)), len(call))
        words = call[first:]
        if words and not runs_capture(words) and _runs_spark(words, folder):
            file = next(filter(_FILE.fullmatch, words[1:]), "")
            return " ".join(_name(word) for word in (words[0], file) if word)
    return ""


def _runs_spark(words: Sequence[str], folder: str) -> bool:
    name = _name(words[0])
    if name in _PROGRAMS or (name, *words[1:2]) in _SERVICES or any(w.startswith("org.apache.spark.") for w in words):
        return True
    if not _INTERPRETER.fullmatch(name):
        return bool(_FILE.fullmatch(name)) and _mentions_spark(Path(folder, words[0]))
    for i, word in enumerate(words[1:], 1):
        if word in ("-c", "-m"):
            return bool(_OF_SPARK.search(" ".join(words[i + 1 : i + 2])))
        if not word.startswith("-"):
            return _mentions_spark(Path(folder, word))
    return False


def _mentions_spark(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return bool(_OF_SPARK.search(file.read(_MOST)))
    except OSError:
        return False


def _name(word: str) -> str:
    return word.rsplit("/", 1)[-1]
