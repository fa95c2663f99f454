"""Commands that a shell's text, or a list of words, runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

__all__ = ["commands", "runs_capture"]

_SEPARATING = frozenset(";&|()")
_COMMENT = re.compile(r"""('[^']*'|"(?:\\.|[^"\\])*"|\\.)|(?<![^\s;&|()])#[^\n]*""", re.DOTALL)
"""A comment, or quoted text, in which a hash begins no comment."""
_WITHIN = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
"""A command within a word."""
_OPEN = re.compile(r"""('[^']*'|"(?:\\.|[^"\\])*"|\\.)|`([^`]*)`""", re.DOTALL)
"""A command between backquotes, or quoted text."""
_KEYWORDS = frozenset(("!", "coproc", "do", "elif", "else", "eval", "if", "then", "until", "while", "{"))
"""Words of a shell that a command follows."""
_REDIRECTION = re.compile(r"(?:\d*|&)(?:<<?<?|>>?|<>|>\|)(&?)(.*)")
_SAME = re.compile(r"(?<!\S)\d*[<>]&[\d-]+")
"""A redirection to a file that is already open."""
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh"))
_MOST = 1 << 16
"""Maximum number of characters that are read."""
_DEEPEST = 5


def commands(command: str | Sequence[str], depth: int = 0) -> list[list[str]] | None:
    """Return the words of each command that a shell's text or a list of words runs; None if it can't be parsed.

    Keywords, assignments and redirections before a command, as in ``A=1 >log run``, are left out.

    >>> commands("cd /jobs && A=1 spark-submit clean.py | tee log")
    [['cd', '/jobs'], ['spark-submit', 'clean.py'], ['tee', 'log']]
    >>> commands(["bash", "-c", "spark-submit clean.py"])
    [['spark-submit', 'clean.py']]
    >>> commands("run a.py  # first\\nif run b.py; then echo $(run c.py); fi")
    [['run', 'a.py'], ['run', 'b.py'], ['echo', '$'], ['run', 'c.py'], ['fi']]
    """
    if not isinstance(command, str):
        words = list(command)
        inner = _text_of_shell(words)
        return [words] if inner is None or depth >= _DEEPEST else commands(inner, depth + 1)
    try:
        text = _COMMENT.sub(lambda match: match[1] or "", command[:_MOST])
        text = _OPEN.sub(lambda match: match[1] or f" ; {match[2]} ; ", text)
        text = _SAME.sub(" ", text)
        lexer = shlex.shlex(text.replace("\\\n", " ").replace("\n", " ; "), posix=True, punctuation_chars=";&|()")
        lexer.commenters, lexer.whitespace_split = "", True
        words = list(lexer)
    except ValueError:
        return None
    calls: list[list[str]] = [[]]
    for word in words:
        if set(word) <= _SEPARATING:
            calls.append([])
        else:
            calls[-1].append(word)
    return [parsed for call in calls for parsed in _of_call(call, depth)]


def _of_call(words: Sequence[str], depth: int) -> list[list[str]]:
    """Return a command without its prefixes, and the commands within its words."""
    if depth >= _DEEPEST:
        return [list(words)] if words else []
    first = 0
    while first < len(words) and (skipped := _skipped(words[first])):
        first += skipped
    within = [text for word in words for match in _WITHIN.finditer(word) for text in match.groups() if text]
    call = list(words[first:])
    inner = _text_of_shell(call)
    parsed = [call] if call and inner is None else []
    for text in (*within, *([inner] if inner is not None else ())):
        more = commands(text, depth + 1)
        parsed += [call] if more is None and text is inner else more or []
    return parsed


def _skipped(word: str) -> int:
    """Return how many words are skipped before a command, from this one on; 0 if this is the command."""
    if word in _KEYWORDS or "=" in word.split("/")[0]:
        return 1
    redirection = _REDIRECTION.fullmatch(word)
    if redirection is None:
        return 0
    return 1 if redirection[2] else 2


def runs_capture(words: Sequence[str]) -> bool:
    """Return whether a command is ``provspark run``.

    >>> runs_capture(["/venv/bin/provspark", "run", "clean.py"])
    True
    """
    name = PurePosixPath(words[0]).name if words else ""
    if name.startswith("python") and list(words[1:3]) == ["-m", "provspark.cli.main"]:
        return list(words[3:4]) == ["run"]
    return name == "provspark" and list(words[1:2]) == ["run"]


def _text_of_shell(words: Sequence[str]) -> str | None:
    """Return the text that a shell receives by ``-c``; None if there is none."""
    if len(words) > 1 and PurePosixPath(words[0]).name == "env":
        words = words[1:]
    if not words or PurePosixPath(words[0]).name not in _SHELLS:
        return None
    given, before = False, ""
    for word in words[1:]:
        if word.startswith("-"):
            given |= "c" in word and not word.startswith("--")
        elif before not in ("-o", "-O"):
            return word if given else None
        before = word
    return None
