"""Pieces of Markdown that the generated pages share."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

__all__ = ["cell", "fenced", "prose", "table"]


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table; an empty text if it has no lines."""
    rows = ["| " + " | ".join(map(cell, line)) + " |" for line in lines]
    return "\n".join(["| " + " | ".join(head) + " |", "| --- " * len(head) + "|", *rows]) if rows else ""


def cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return " ".join(text.split()).replace("|", r"\|")


def fenced(text: str, lexer: str = "text") -> str:
    """Return a block of code."""
    return f"```{lexer}\n{text.strip(chr(10))}\n```"


def prose(text: str, links: Iterable[str] = ()) -> str:
    """Return a docstring's text as Markdown.

    Parameters
    ----------
    links : iterable of str
        Names that have a section of the page: in single backticks they link to it.
    """
    sections = frozenset(links)

    def linked(match: re.Match[str]) -> str:
        name = match[1]
        return f"[`{name}`](#{name})" if name in sections else f"`{name}`"

    text = re.sub(
        r"::\n\n((?: {4}.*(?:\n|$)|\n)+)", lambda m: f":\n\n{fenced(textwrap.dedent(m[1]), 'python')}\n", text
    )
    return re.sub(r"(?<!`)`([^`\n]+)`(?!`)", linked, text)
