"""Which commands a shell's text, or a list of words, runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

__all__ = ["commands", "runs_capture"]

_SEPARATORS = frozenset((";", "&&", "||", "|", "|&", "&", "(", ")", "\n"))
_COMMENT = re.compile(r"""('[^']*'|"(?:\\.|[^"\\])*"|\\.)|(?<![^\s;&|()])#[^\n]*""", re.DOTALL)
"""A comment, or what is quoted, where a hash begins none."""
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh"))


def commands(command: str | Sequence[str]) -> list[list[str]] | None:
    """Return the words of each command that a shell's text or a list of words runs; None where it can't be read.

    Assignments before a command, as in ``A=1 run``, are left out.

    >>> commands("cd /jobs && A=1 spark-submit clean.py | tee log")
    [['cd', '/jobs'], ['spark-submit', 'clean.py'], ['tee', 'log']]
    >>> commands(["bash", "-c", "spark-submit clean.py"])
    [['spark-submit', 'clean.py']]
    >>> commands("run a.py  # first\\nrun b.py")
    [['run', 'a.py'], ['run', 'b.py']]
    """
    if not isinstance(command, str):
        words = list(command)
        inner = _text_of_shell(words)
        return [words] if inner is None else commands(inner)
    try:
        text = _COMMENT.sub(lambda found: found[1] or "", command)
        lexer = shlex.shlex(text.replace("\\\n", " ").replace("\n", " ; "), posix=True, punctuation_chars=";&|()")
        lexer.commenters = ""
        words = list(lexer)
    except ValueError:
        return None
    calls: list[list[str]] = [[]]
    for word in words:
        if word in _SEPARATORS or set(word) <= set(";&|()"):
            calls.append([])
        else:
            calls[-1].append(word)
    found: list[list[str]] = []
    for call in calls:
        words = [w for i, w in enumerate(call) if not _assigns(call[: i + 1])]
        inner = _text_of_shell(words)
        if words:
            found += [words] if inner is None else commands(inner) or [words]
    return found


def runs_capture(words: Sequence[str]) -> bool:
    """Whether a command is ``provspark run``.

    >>> runs_capture(["/venv/bin/provspark", "run", "clean.py"])
    True
    """
    name = PurePosixPath(words[0]).name if words else ""
    if name.startswith("python") and list(words[1:3]) == ["-m", "provspark.cli.main"]:
        return list(words[3:4]) == ["run"]
    return name == "provspark" and list(words[1:2]) == ["run"]


def _assigns(words: Sequence[str]) -> bool:
    """Whether the last of some words, and all before it, are assignments."""
    return all("=" in word.split("/")[0] for word in words)


def _text_of_shell(words: Sequence[str]) -> str | None:
    """Return the text that a shell is given by ``-c``."""
    if not words or PurePosixPath(words[0]).name not in _SHELLS:
        return None
    for i, word in enumerate(words[1:-1], 1):
        if word.startswith("-") and word.endswith("c") and not word.startswith("--"):
            return words[i + 1]
    return None
