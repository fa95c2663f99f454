"""Text of the data for a terminal: what can't be seen, or steers the terminal, is escaped."""

from __future__ import annotations

import re
from typing import Any

import click

from provspark.model.visible_text import SUSPECTS, is_hidden, visible

__all__ = ["escape_json", "say", "visible"]


def escape_json(text: str) -> str:
    """Escape the same in JSON: the values that it holds stay what they are."""

    def mark(match: re.Match[str]) -> str:
        c = match[0]
        if not is_hidden(c) or c == "\n":  # the line breaks are JSON's own
            return c
        units = c.encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))

    return SUSPECTS.sub(mark, text)


def say(text: str, *, err: bool = False, nl: bool = True, **style: Any) -> None:
    """Print a line for people, which may contain text of the data."""
    click.secho(visible(text), err=err, nl=nl, **style)
